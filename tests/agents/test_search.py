"""Players that search: what they may know, how far they get in Kuhn poker, and that more search is better."""

import numpy as np
import pytest

import cardenvs
from cardenvs.agents import make
from cardenvs.agents.search import FIRST, KEY, MAX_DEPTH, NEXT, VISITS, Budget, TreeSearch
from cardenvs.core.game import Game
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.errors import InvalidOption
from cardenvs.experiments.matches import interval, play_deals
from tests.common import GAMES, differences, over, pick

SEARCHERS = ["flat-mc:40", "ismcts:40"]
QUICK = ("kuhn-v0", "recurrring-v0")
"""Games whose searches are compiled in the fast tests; the slow ones compile those of all games."""
EVERY_GAME = [pytest.param(game_id, marks=[] if game_id in QUICK else pytest.mark.slow) for game_id in GAMES]


def positions(game: Game, count: int) -> list[CardEnv]:
    """Tables at which the seat to act has a choice, from games in which everybody plays with plain sense or at random."""
    found: list[CardEnv] = []
    rng = np.random.default_rng(3)
    env = cardenvs.make(game)
    env.reset(seed=3)
    while len(found) < count:
        if over(env):
            env.reset()
        if len(env.legal_actions()) > 1 and rng.random() < 0.1:
            found.append(env.clone())
        env.step(pick(env, rng, int(rng.integers(2))))
    return found


def choice(env: CardEnv, spec: str, seed: int = 5) -> int:
    """What a player does in the place of the seat to act."""
    player = make(spec)
    agent = env.agent_selection
    seen = env.observe(agent)
    player.reset(env.game, env.num_players, env.possible_agents.index(agent), seed)
    return player.act(seen["observation"], seen["action_mask"], env.view(agent))


@pytest.mark.parametrize("spec", SEARCHERS)
@pytest.mark.parametrize("game_id", EVERY_GAME)
def test_choices_are_legal_repeatable_and_made_from_the_view_alone(game_id: str, spec: str):
    """The same choice whatever the hidden cards are; table and view stay as they were."""
    game = cardenvs.find(game_id)
    words, other = np.array([9], np.uint64), new_states(game.state, 1)
    for env in positions(game, 4):
        before, view = env.states.copy(), env.view(env.agent_selection)
        action = choice(env, spec)
        assert action in env.legal_actions()
        assert choice(env, spec) == action
        assert not differences(env.states, before)
        game.loops.resample_one(view, words, other)
        twin = env.clone()
        twin.states[:] = other
        assert choice(twin, spec) == action


@pytest.mark.parametrize("method", ["flat-mc", "ismcts"])
def test_budgets_in_playouts_and_milliseconds(method: str):
    env = cardenvs.make("recurrring-v0", num_games=1)
    env.reset(seed=1)
    while len(env.legal_actions()) < 4:
        env.step(env.legal_actions()[0])
    agent = env.agent_selection
    seen = env.observe(agent)
    for budget, least, most in (("200", 150, 260), ("30ms", 1, 10**7)):
        player = make(f"{method}:{budget}")
        player.reset(env.game, 4, 0, 1)
        for _ in range(3):
            action = player.act(seen["observation"], seen["action_mask"], env.view(agent))
            assert least <= player.counts.sum() <= most  # type: ignore[attr-defined]
            assert seen["action_mask"][action]
            assert not player.counts[seen["action_mask"] == 0].any()  # type: ignore[attr-defined]


@pytest.mark.parametrize("game_id", EVERY_GAME)
def test_the_tree_has_room_for_its_budget(game_id: str):
    """Every try is an iteration in the tree, which outgrows the room that it begins with."""
    grown = 0
    for env in positions(cardenvs.find(game_id), 8):
        agent = env.agent_selection
        seen = env.observe(agent)
        player = TreeSearch("1000")
        player.reset(env.game, env.num_players, env.possible_agents.index(agent), 5)
        player.act(seen["observation"], seen["action_mask"], env.view(agent))
        tree, edge, visits = player._tree, player._tree[FIRST, 0], {}
        while edge >= 0:
            visits[int(tree[KEY, edge])] = int(tree[VISITS, edge])
            edge = tree[NEXT, edge]
        assert visits == {action: count for action, count in enumerate(player.counts) if count}
        assert player.counts.sum() > 700
        grown += tree.shape[1] > 4 * MAX_DEPTH * len(env.legal_actions())
    assert grown or game_id == "kuhn-v0"


@pytest.mark.parametrize("text", ["0", "-5", "1.5", "ms", "5 s", "many", "٣"])
def test_wrong_budgets_are_refused(text: str):
    with pytest.raises(InvalidOption, match="500, or of milliseconds such as 50ms"):
        Budget.parse(text)
    with pytest.raises(InvalidOption, match="50ms"):
        make(f"ismcts:{text}")


def result(spec: str, other: str, deals: int) -> tuple[float, float, float]:
    """Chips a game in Kuhn poker, with the limits of the 99.9 % interval."""
    match = play_deals(cardenvs.find("kuhn-v0"), [make(spec), make(other)], deals, seed=4, options={"reward": "score"})
    return interval(match.returns[..., 0], level=0.999)


def test_tree_search_is_worth_nothing_against_the_equilibrium_of_kuhn_poker():
    """No player can win against it, and one that makes no plain mistake loses nothing: the value over both seats is 0."""
    mean, low, high = result("ismcts:1000", "strong", 600)
    assert low < 0 < high
    assert mean > -0.05


def test_search_finds_what_players_of_kuhn_poker_do_wrong():
    """A uniform player gives away 1/4 of a chip a game to the best answer, and half of that to good sense."""
    assert result("ismcts:200", "random", 400)[1] > 0.1
    assert result("flat-mc:200", "random", 400)[1] > 0.1
    assert result("flat-mc:200", "easy", 200)[0] > -0.01


@pytest.mark.slow
@pytest.mark.parametrize("method", ["flat-mc", "ismcts"])
@pytest.mark.parametrize(("game_id", "deals"), [("ringer-v0", 12), ("ramino-v0", 80), ("timbre-v0", 24), ("recurrring-v0", 24)])
def test_more_search_is_stronger(game_id: str, deals: int, method: str):
    """The same player with twenty times the playouts wins against it. (In Ding! the difference is too small to be seen on so few deals.)"""
    game = cardenvs.find(game_id)
    options = {name: 1 for name in game.options if name.startswith("num_")}
    players = [make(f"{method}:400"), *(make(f"{method}:20") for _ in range(3))]
    match = play_deals(game, players, deals, seed=6, options=options)
    assert interval(match.above[..., 0])[1] > 0
