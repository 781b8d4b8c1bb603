"""Games as OpenSpiel sees them: its own Kuhn poker is an independent check of ours, and its exact methods one of our players."""

import sys

import numpy as np
import pytest

import cardenvs
from cardenvs.agents.network import NetworkAgent
from cardenvs.core import jit
from cardenvs.errors import IllegalAction, InvalidOption
from tests.toy.test_kuhn import WORDS

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: extra [openspiel]")

from cardenvs.experiments import exploitability, openspiel  # noqa: E402
from cardenvs.experiments.exploitability import Arguments, measure  # noqa: E402

compiled = pytest.mark.skipif(jit.DISABLED, reason="walks thousands of states")


def states_after(state: "pyspiel.State") -> list["pyspiel.State"]:
    """A state and all that follow, depth first."""
    if state.is_terminal():
        return [state]
    return [state, *(after for action in state.legal_actions() for after in states_after(state.child(action)))]


def test_kuhn_is_the_kuhn_poker_of_openspiel():
    """Every line of play has the same player to act, actions and returns, and information states match one to one."""
    ours, theirs = openspiel.load("kuhn"), pyspiel.load_game("kuhn_poker")
    pairs, lines = set(), 0
    for start in range(6):
        root, other = ours.new_initial_state().child(start), theirs.new_initial_state()
        for card in root.table["hand"][0]:
            other.apply_action(int(card))
        assert ours.starts.chances[start] == pytest.approx(1 / 6)
        moves = [state.history()[1:] for state in states_after(root)]
        assert moves == [state.history()[2:] for state in states_after(other)]
        lines += len(moves)
        for mine, own in zip(states_after(root), states_after(other), strict=True):
            assert mine.current_player() == own.current_player()
            assert mine.returns() == own.returns()
            if not mine.is_terminal():
                assert mine.legal_actions() == own.legal_actions()
                pairs.add((mine.information_state_string(), own.information_state_string()))
    assert lines == 6 * 9
    assert len(pairs) == len({mine for mine, _ in pairs}) == len({own for _, own in pairs}) == 12


def test_uniform_play_of_kuhn_is_as_exploitable_as_in_openspiel():
    """11/24, and value 1/8 for the first player."""
    for game in (pyspiel.convert_to_cached_tree(openspiel.load("kuhn")), pyspiel.load_game("kuhn_poker")):
        result = measure(game, pyspiel.UniformRandomPolicy(game))
        assert result.values == pytest.approx([1 / 8, -1 / 8])
        assert result.nash_conv == pytest.approx(pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))) == pytest.approx(11 / 12)


def test_cfr_solves_kuhn():
    """Value -1/18 for the first player, exploitability below 0.005."""
    results = exploitability.exploitability(Arguments("kuhn", (), iterations=(1000, 10)))
    assert list(results) == ["CFR, 10 iterations", "CFR, 1000 iterations"]
    first, last = results.values()
    assert last.values[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert last.nash_conv / 2 < 0.005 < first.nash_conv / 2


def six_words(policy: int, game) -> openspiel.Probabilities:
    """Exact chances of a player of Kuhn poker that draws one of six numbers: its choice for each of them."""

    def chances(decision: openspiel.Decision) -> np.ndarray:
        choices = [game.loops.choose_one(decision.view, decision.mask, policy, words.copy()) for words in WORDS]
        return np.bincount(choices, minlength=len(decision.mask)) / len(WORDS)

    return chances


def test_scripted_players_of_kuhn():
    """`strong` is an equilibrium; `easy` loses a third of a chip to best responses in both seats, `random` what uniform play does."""
    game = openspiel.load("kuhn")
    tree, decisions = pyspiel.convert_to_cached_tree(game), openspiel.all_decisions(game)
    strong = measure(tree, openspiel.tabular_policy(decisions, six_words(2, game)))
    assert strong.values == pytest.approx([-1 / 18, 1 / 18])
    assert strong.gains == pytest.approx([0, 0], abs=1e-12)
    results = exploitability.exploitability(Arguments("kuhn", ("random", "easy", "strong"), iterations=()))
    assert results["random"].nash_conv == pytest.approx(11 / 12)
    assert results["easy"].gains == pytest.approx([1 / 6, 1 / 6])
    assert results["strong"].nash_conv < 0.05  # the noise of samples


@compiled
def test_tree_search_in_kuhn_is_better_than_chance_but_no_equilibrium():
    """It plays its best action as if others did not learn, and so can be exploited."""
    results = exploitability.exploitability(Arguments("kuhn", ("ismcts:100",), samples=50, iterations=()))
    assert 0.05 < results["ismcts:100"].nash_conv < 11 / 12 - 0.2


def view(game: openspiel.SpielGame, state: openspiel.SpielState, seat: int) -> str:
    """The fields of a seat's view."""
    game.loops.view_one(state.table, seat, game.view)
    return repr([game.view[name].tolist() for name in game.view.dtype.names])


def test_information_states_are_what_a_seat_has_seen():
    """The same state stands for the same views and own actions, in their order, and another state for others."""
    game = openspiel.load("recurrring_end")
    remembered: dict[str, tuple] = {}
    rng = np.random.default_rng(0)
    for _ in range(100):
        state = game.new_initial_state().child(int(rng.integers(7)))
        seen: list[list] = [[view(game, state, seat)] for seat in range(3)]
        while not state.is_terminal():
            action, actor = int(rng.choice(state.legal_actions())), state.current_player()
            state.apply_action(action)
            for seat, memory in enumerate(seen):
                memory += [action] if seat == actor else []
                memory += [view(game, state, seat)] if view(game, state, seat) != memory[-1 - (seat == actor)] else []
                digest = state.information_state_string(seat)
                assert remembered.setdefault(digest, tuple(memory)) == tuple(memory)
    assert len(set(remembered.values())) == len(remembered) > 300


@compiled
@pytest.mark.parametrize("game_id", ["ding-v0"])
def test_hidden_decisions_leave_no_trace(game_id: str):
    """In Ding! nobody learns that another was asked and declined: the information state of others stays the same."""
    game = pyspiel.load_game(openspiel.PREFIX + game_id.removesuffix("-v0"), {"num_players": 3, "num_deals": 2})
    rng, unseen = np.random.default_rng(0), 0
    for start in range(2):
        state = game.new_initial_state().child(start)
        for _ in range(200):
            if state.is_terminal():
                break
            actor, action = state.current_player(), int(rng.choice(state.legal_actions()))
            before = [(view(game, state, seat), state.information_state_string(seat)) for seat in range(3)]
            state.apply_action(action)
            for seat, (old_view, memory) in enumerate(before):
                unchanged = seat != actor and view(game, state, seat) == old_view
                assert (state.information_state_string(seat) == memory) == unchanged
                unseen += unchanged and state.action_to_string(actor, action) == "decline"
    assert unseen > 0


def test_whole_games_play_as_in_their_environment():
    """Start k is the deal of seed k; players, actions, observations and returns are those of the AEC environment."""
    parameters = {"num_players": 3, "num_deals": 3, "options": "num_games:1 reward:score"}
    game = pyspiel.load_game("python_cardenvs_recurrring", parameters)
    env = cardenvs.make("recurrring-v0", 3, num_games=1, reward="score")
    rng = np.random.default_rng(0)
    env.reset(seed=2)
    state = game.new_initial_state().child(2)
    returns = np.zeros(3)
    while not state.is_terminal():
        assert f"player_{state.current_player()}" == env.agent_selection
        assert state.legal_actions() == env.legal_actions()
        assert np.array_equal(state.observation_tensor(), env.observe(env.agent_selection)["observation"])
        assert state.observation_string() == env.text()
        assert state.returns() == [0, 0, 0]
        action = int(rng.choice(state.legal_actions()))
        assert state.action_to_string(action) == env.action_text(action)
        state.apply_action(action)
        env.step(action)
        returns += list(env.rewards.values())
    assert all(env.terminations.values())
    assert state.returns() == pytest.approx(returns.tolist())


@compiled
@pytest.mark.parametrize("name", ["kuhn", "recurrring_end"])
def test_small_games_pass_the_tests_of_openspiel(name: str):
    pyspiel.random_sim_test(openspiel.load(name), num_sims=2, serialize=True, verbose=False)


def test_the_end_of_recurrring_has_seven_deals():
    """5, 6, 6 and 7 in two, one and one places: with both 6 in the first hand 1/12 each, else 1/6."""
    starts = openspiel.load("recurrring_end").starts
    found = {}
    for record, chance in zip(starts.states, starts.chances, strict=True):
        hands = record["hand"] - record["known"]
        found["|".join("".join(str(value + 1) * hand[value] for value in range(10)) for hand in hands[:3])] = chance
        assert record["hand_size"].tolist() == [4, 3, 1, 0, 0]
        assert record["owner"] == -1
    twelfths = {"66|5|7": 1, "66|7|5": 1, "56|6|7": 2, "56|7|6": 2, "67|5|6": 2, "67|6|5": 2, "57|6|6": 2}
    assert found == pytest.approx({hands: chance / 12 for hands, chance in twelfths.items()})


@compiled
def test_players_at_the_end_of_recurrring():
    """Some thirty iterations of CFR leave less to gain than any scripted player does; nobody gains by following itself."""
    arguments = Arguments("recurrring_end", ("random", "easy", "strong"), samples=1, iterations=(5, 30))
    results = exploitability.exploitability(arguments)
    for result in results.values():
        assert sum(result.values) == pytest.approx(0, abs=1e-9)
        assert min(result.gains) > -1e-9
    early, late = results["CFR, 5 iterations"].nash_conv, results["CFR, 30 iterations"].nash_conv
    assert late < early / 2
    assert late < 0.05 < min(results[player].nash_conv for player in arguments.players)


@compiled
@pytest.mark.slow
def test_cfr_solves_the_end_of_recurrring():
    """There is no such promise for three players; here NashConv falls like one over the iterations all the same."""
    results = exploitability.exploitability(Arguments("recurrring_end", (), iterations=(10, 100, 1000)))
    values = [result.nash_conv for result in results.values()]
    assert values[1] < values[0] / 5
    assert values[2] < values[1] / 5
    assert values[2] < 0.001


def play_at_random(state: openspiel.SpielState, rng: np.random.Generator) -> None:
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))


def test_later_chance_is_told():
    """With two games in the match the second deal is not among the starts."""
    env = cardenvs.make("recurrring-v0", 3, num_games=2)
    moves = ["pass" if move == "-" else f"play {move}" for move in openspiel.RECURRRING_MOVES.split()]
    starts = openspiel.all_deals(env, openspiel.RECURRRING_DECK.split(), openspiel.RECURRRING_UNSEEN, moves)
    openspiel.register("two_games", "Two games", range(3, 4), {}, lambda parameters: starts)
    state = pyspiel.load_game("python_cardenvs_two_games").new_initial_state().child(0)
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidOption, match="recurrring-v0 draws chance after the deal"):
        play_at_random(state, rng)


def test_wrong_calls_are_told_plainly():
    with pytest.raises(InvalidOption, match="no small game is called 'chess'; there are kuhn, recurrring_end"):
        openspiel.load("chess")
    with pytest.raises(InvalidOption, match="num_deals=0 is not allowed"):
        pyspiel.load_game("python_cardenvs_recurrring", {"num_deals": 0})
    with pytest.raises(InvalidOption, match="num_players=9 is not allowed"):
        pyspiel.load_game("python_cardenvs_recurrring", {"num_players": 9})
    env = cardenvs.make("recurrring-v0", 3, num_games=1)
    with pytest.raises(IllegalAction):  # the places of cards that are played
        openspiel.all_deals(env, openspiel.RECURRRING_DECK.split(), (1, 2), ["pass", "play 7x1"])
    with pytest.raises(IllegalAction, match="chose action 2 where 0, 1 are legal"):
        exploitability.exploitability(Arguments("kuhn", ("tests.experiments.rogues:Illegal",)))


@pytest.mark.parametrize("command", ["kuhn --samples 0", "kuhn --iterations 0", "chess"])
def test_wrong_arguments_end_the_command(command: str):
    with pytest.raises(SystemExit, match=r"InvalidOption: (samples and iterations|no small game)"):
        exploitability.main(command.split())


def test_the_command_prints_a_table(capsys):
    exploitability.main(["kuhn", "--players", "random", "easy", "--iterations", "10"])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["policy", *(f"{what} player_{seat}" for what in ("value", "gain") for seat in (0, 1)), "NashConv", "exploitability"]
    assert rows[2] == ["random", "+0.1250", "-0.1250", "0.3750", "0.5417", "0.9167", "0.4583"]
    assert [row[0] for row in rows[3:]] == ["easy", "CFR, 10 iterations"]


def test_without_openspiel_the_command_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "cardenvs.experiments.openspiel")
    monkeypatch.delattr("cardenvs.experiments.openspiel")
    with pytest.raises(SystemExit, match=r"MissingExtra: OpenSpiel is not installed.*pip install 'cardenvs\[openspiel\]'"):
        exploitability.main(["kuhn"])


class Stub(NetworkAgent):
    """A network without layers: the logits of an action are its id."""

    def __init__(self, greedy: bool):
        self.name, self.greedy = "stub", greedy

    def reset(self, game, num_players, seat, seed):
        pass

    def logits(self, observations):
        return np.tile(np.arange(2.0), (len(observations), 1))


@pytest.mark.parametrize(("greedy", "bets"), [(False, np.e / (1 + np.e)), (True, 1)])
def test_networks_give_their_chances_exactly(greedy: bool, bets: float):
    game = openspiel.load("kuhn")
    decision = next(iter(openspiel.all_decisions(game).values()))
    chances = openspiel.probabilities_of(Stub(greedy), game, samples=1)(decision)
    assert chances == pytest.approx([1 - bets, bets])
