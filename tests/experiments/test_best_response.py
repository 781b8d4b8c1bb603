"""Best responses: near what enumeration finds in Kuhn poker and never above it, by one seat against frozen others."""

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import cardenvs
from cardenvs import agents
from cardenvs.agents.network import header_of
from cardenvs.core.game import POLICIES, Game
from cardenvs.experiments import best_response as script
from cardenvs.experiments.best_response import LOWER_BOUND, Arguments, best_response, make_tables
from cardenvs.experiments.matches import Interval, interval, play_deals
from tests.experiments.rogues import BatchLast
from tests.toy.kuhn.heuristics import BETS, OUT_OF

SMALL: dict[str, Any] = {"tables": 256, "steps": 8, "minibatch": 256, "layers": (32,), "learning_rate": (0.01, 0.0), "imitated": 20_000}
"""Settings for a small game, which is learned in seconds."""

TINY: dict[str, Any] = {"tables": 8, "steps": 8, "minibatch": 64, "epochs": 1, "layers": (8,), "imitated": 128, "deals": 20}
"""Settings that learn next to nothing."""

TARGETS = {
    "random": np.full((4, 3), 0.5),
    "easy": np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]]),
    "strong": BETS / OUT_OF,
}
"""How often each player bets in Kuhn poker: at first, after a pass, after a bet, after pass and bet; with J, Q, K."""

ROWS = {"": 0, "p": 1, "b": 2, "pb": 3}


def expected(moves: str, cards: tuple[int, int], bets: tuple[np.ndarray, np.ndarray]) -> float:
    """Chips that the first seat wins from here on average, if the seats bet so often."""
    if moves in ROWS:
        seat = len(moves) % 2
        bet = bets[seat][ROWS[moves], cards[seat]]
        return bet * expected(moves + "b", cards, bets) + (1 - bet) * expected(moves + "p", cards, bets)
    if moves.endswith("bp"):
        return 1 if moves == "bp" else -1
    return (2 if moves.endswith("bb") else 1) * (1 if cards[0] > cards[1] else -1)


def exact_gain(target: np.ndarray) -> float:
    """What a best response wins from `target` on average over both seats: the best of all deterministic players."""
    deals = list(itertools.permutations(range(3), 2))
    best = [-np.inf, -np.inf]
    for choices in itertools.product((0, 1), repeat=6):
        for seat, rows in enumerate(([0, 3], [1, 2])):
            own = np.zeros((4, 3))
            own[rows] = np.reshape(choices, (2, 3))
            bets = (own, target) if seat == 0 else (target, own)
            value = np.mean([expected("", cards, bets) for cards in deals]) * (1 if seat == 0 else -1)
            best[seat] = max(best[seat], value)
    return sum(best) / 2


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"seconds": 0} for row in rows]


def save_network(folder: Path, game: Game) -> str:
    """A network with random weights as a player."""
    rng = np.random.default_rng(1)
    shapes = {"one": (12, game.observation.size), "two": (10, 12), "out": (game.actions.size, 10)}
    weights = {f"{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    biases = {f"{name}.bias": rng.normal(size=shape[0]).astype(np.float32) for name, shape in shapes.items()}
    header = header_of(game, list(shapes), {"reward": "score"})
    save_file(weights | biases, folder / "policy.safetensors", {"header": json.dumps(header)})
    return f"checkpoint:{folder / 'policy.safetensors'}"


def test_values_of_kuhn_poker():
    """The equilibrium gives nothing away, the others do."""
    gains = {name: exact_gain(target) for name, target in TARGETS.items()}
    assert gains["strong"] == pytest.approx(0)
    assert gains["random"] > gains["easy"] > 0.05


@pytest.mark.parametrize("target", TARGETS)
def test_a_trained_response_comes_near_the_best_and_does_not_exceed_it(target: str):
    rows = best_response(Arguments(game="kuhn-v0", target=target, budgets=(30_000,), **SMALL))
    assert [row["policy"] for row in rows] == ["sampling", "greedy"]
    value = exact_gain(TARGETS[target])
    for row in rows:
        gain = row["return_gain"]
        assert gain == row["score_gain"]  # both are chips
        error = gain.high - gain.low  # about four standard errors
        assert value - error < gain.mean < value + error
        assert gain.low > 0 or target == "strong"


def test_one_seat_learns_and_the_target_holds_all_others():
    target = BatchLast()
    learning = Arguments(game="recurrring-v0", tables=12)
    for player in (agents.make("easy"), target):
        env = make_tables(learning, cardenvs.find("recurrring-v0"), 4, {"num_games": 1}, player, 3)
        env.reset()
        rng, learners = np.random.default_rng(0), set()
        for _ in range(100):
            learners.update(env.learns.argmax(axis=1).tolist())
            assert (env.learns.sum(axis=1) == 1).all()
            assert env.learns[env.tables.lanes, env.now.seat].all()
            assert (env.opponents == (POLICIES.index("easy") if player is not target else len(POLICIES))).all()
            masks = env.action_masks()
            env.step(np.where(masks, rng.random(masks.shape), -1).argmax(axis=1))
        assert env.games > 12
        assert learners == {0, 1, 2, 3}


def test_a_network_stays_as_it_is_and_the_learner_begins_as_it(tmp_path: Path, kuhn: Game, monkeypatch: pytest.MonkeyPatch):
    """Greedy against its greedy self, a player gets nothing in each deal; after training the target still has its weights."""
    spec = save_network(tmp_path, kuhn) + "?greedy"
    made = [agents.make(spec), agents.make(spec)]
    monkeypatch.setattr(script.agents, "make", lambda spec: made[0])
    settings = TINY | {"imitated": 0}
    rows = best_response(Arguments(game="kuhn-v0", target=spec, budgets=(0, 1000), learning_rate=(0.01, 0.0), **settings))
    assert rows[1]["return_gain"] == Interval(0, 0, 0)
    assert rows[3]["return_gain"] != Interval(0, 0, 0)
    for one, other in zip(*[player.layers for player in made], strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_a_network_is_imitated_without_being_forgotten(tmp_path: Path, kuhn: Game):
    """Its values are learned before training begins; while they are, the policy is held to its own choices."""
    spec = save_network(tmp_path, kuhn)
    settings = {"game": "kuhn-v0", "target": spec, "budgets": (0,), **SMALL}
    before, after = (best_response(Arguments(**settings | {"imitated": imitated})) for imitated in (0, 20_000))
    for one, other in zip(before, after, strict=True):
        assert one["return_gain"].mean == pytest.approx(other["return_gain"].mean, abs=0.1)
    assert before[0]["return_gain"] != after[0]["return_gain"]
    assert before[1]["return_gain"].high < -0.1, "the greedy policy is another one"


def test_a_target_that_is_imitated_well_gains_nothing_from_itself():
    settings = SMALL | {"layers": (64,), "imitated": 60_000}
    rows = best_response(Arguments(game="kuhn-v0", target="easy", budgets=(0,), **settings))
    assert rows[1]["return_gain"] == Interval(0, 0, 0), "the greedy policy makes the same choices"
    assert abs(rows[0]["return_gain"].mean) < 0.05


def test_the_learner_can_begin_as_another_player(tmp_path: Path, kuhn: Game):
    start = save_network(tmp_path, kuhn)
    row = best_response(Arguments(game="kuhn-v0", target="random", start=start, budgets=(0,), **SMALL | {"imitated": 0}))[1]
    match = play_deals(kuhn, [agents.make(f"{start}?greedy"), agents.make("random")], 2000, 5, {"reward": "score"})
    gain = interval(match.returns[..., 0])
    assert row["return_gain"].mean == pytest.approx(gain.mean, abs=gain.high - gain.low)
    assert abs(gain.mean) > 0.1


def test_the_win_is_paid_and_scores_are_reported_beside_it():
    """Of two seats, who wins with a chance of p is paid 2 p - 1."""
    row = best_response(Arguments(game="kuhn-v0", target="random", reward="win", budgets=(2000,), **SMALL))[0]
    assert row["return_gain"].mean == pytest.approx(2 * row["win_share"].mean - 1)
    assert row["return_gain"] != row["score_gain"]


def test_the_same_seed_gives_the_same_numbers():
    settings = {"game": "recurrring-v0", "target": "easy", "budgets": (200, 100, 100), "option": ("num_games=1",), **TINY}
    rows = best_response(Arguments(**settings))
    assert [row["budget"] for row in rows] == [100, 100, 200, 200]
    assert [row["decisions"] for row in rows] == [128, 128, 256, 256]
    assert without_times(rows) == without_times(best_response(Arguments(**settings)))
    assert without_times(rows) != without_times(best_response(Arguments(**settings, seed=1)))


def test_the_command_prints_and_writes_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = "--tables 8 --steps 8 --minibatch 64 --layers 8 --imitated 64 --budgets 0 64 --deals 3 --seed 7"
    folder = tmp_path / "new" / "folder"
    script.main(["kuhn-v0", "--target", "easy", *settings.split(), "--out", str(folder)])
    shown = capsys.readouterr().out
    assert "kuhn-v0, reward=score: one seat trained against easy in 1 other; 3 duplicate deals, seed 7" in shown
    assert "lower bound on what one seat can gain, not the exploitability itself" in shown
    assert (folder / "results.md").read_text() == shown
    results = json.loads((folder / "results.json").read_text())
    assert (results["arguments"]["budgets"], results["options"], results["meaning"]) == ([0, 64], {"reward": "score"}, LOWER_BOUND)
    row = results["rows"][-1]
    assert {name: row[name] for name in ("game", "num_players", "target", "budget", "decisions", "policy", "deals", "seed")} == {
        "game": "kuhn-v0", "num_players": 2, "target": "easy", "budget": 64, "decisions": 64, "policy": "greedy", "deals": 3, "seed": 7,
    }  # fmt: skip
    for name in ("return_gain", "score_gain", "win_share"):
        mean, low, high = row[name]
        assert low <= mean <= high
    with open(folder / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["decisions"] for row in rows] == ["0", "0", "64", "64"]
    assert float(rows[-1]["score_gain_low"]) == results["rows"][-1]["score_gain"][1]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("nothing-v0", "UnknownGame: no game is called 'nothing-v0'"),
        ("kuhn-v0 --target expert", "UnknownAgent: no player is called 'expert'"),
        ("kuhn-v0 --target ismcts:20", "InvalidOption: ismcts:20 is not allowed: a player that is trained against or imitated"),
        ("kuhn-v0 --target easy --start flat-mc", "InvalidOption: flat-mc is not allowed"),
        ("kuhn-v0 --target tests.experiments.rogues:First", "InvalidOption: tests.experiments.rogues:First is not allowed"),
        ("kuhn-v0 --target checkpoint:/no/such/file", "UnknownAgent: "),
        ("kuhn-v0 --num-players 3", "InvalidOption: num_players=3 is not allowed"),
        ("kuhn-v0 --option gold=1", "InvalidOption: kuhn-v0 has no option 'gold'"),
        ("kuhn-v0 --budgets", r"InvalidOption: budgets=\(\) is not allowed"),
        ("kuhn-v0 --budgets 100 -1", r"InvalidOption: budgets=\(100, -1\) is not allowed"),
        ("kuhn-v0 --imitated -1", "InvalidOption: imitated=-1 is not allowed"),
        ("kuhn-v0 --deals 1", "InvalidOption: deals=1 is not allowed"),
        ("kuhn-v0 --seed -1", "InvalidSeed: "),
    ],
)
def test_wrong_arguments_are_told_plainly(command: str, told: str):
    with pytest.raises(SystemExit, match=f"^{told}"):
        script.main(command.split())
