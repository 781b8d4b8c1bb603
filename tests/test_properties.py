"""What holds at every state of every game (FC numbers are those of the field cases).

Long games are looked at closely at their beginning, now and then later on, and at their end.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from cardenvs.core.encoding import Section
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from tests.common import POLICIES, Case, cases, differences, mixtures, over, pick, play, seat_to_act, seen, view_of

GAMES_EACH = 6
DECLINES = {"decline", "no-ding"}
"""Texts of the actions that decline to interrupt others."""
BLANK_IN_VIEWS = ("rng", "seeds", "steps", "rewards")


def states(
    case: Case, seed: int, closely: int = 25, rarely: int = 29, decisions: int = 1500
) -> Iterator[tuple[CardEnv, np.random.Generator]]:
    """Tables at many states of random and guided games under many options, the end of each included."""
    for number, options in enumerate(mixtures(case, GAMES_EACH, seed)):
        env = case.make(**options)
        env.reset(seed=seed + number)
        rng = np.random.default_rng([seed, number])
        for decision in play(env, rng, decisions, policy=number % len(POLICIES)):
            if decision < closely or decision % rarely == 0:
                yield env, rng
        yield env, rng


def test_masks(case: Case):
    """FC-23, FC-26, G-02, G-05: somebody may act as long as the game runs, nobody else, and it sees what it may do."""
    for env, _ in states(case, seed=1):
        masks = [env.observe(agent)["action_mask"] for agent in env.possible_agents]
        actor = seat_to_act(env)
        assert not any(mask.any() for seat, mask in enumerate(masks) if seat != actor)
        assert masks[actor].any() != over(env)
        assert env.legal_actions() == np.flatnonzero(masks[actor]).tolist()
        if not over(env):
            from_view = np.full_like(masks[actor], 7)
            env.game.loops.legal_one(view_of(env, actor), from_view)
            assert np.array_equal(from_view, masks[actor])


def test_illegal_actions_are_found(case: Case):
    """The batch's check agrees with the masks of its lanes."""
    env = case.make_vec(4)
    batch = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(40):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in batch.action_mask])
        assert env.game.loops.find_illegal(env.lanes, actions, batch.action_mask) == -1
        lane = int(rng.integers(4))
        for wrong in (-1, env.game.actions.size, *np.flatnonzero(batch.action_mask[lane] == 0)):
            tried = actions.copy()
            tried[lane] = wrong
            assert env.game.loops.find_illegal(env.lanes, tried, batch.action_mask) == lane
            assert env.game.loops.find_illegal(np.delete(env.lanes, lane), tried, batch.action_mask) == -1
        batch = env.step(actions)


def test_observations_are_valid_codes(case: Case):
    """FC-10: zeros and ones; what `describe_observation` reads, written again, is the observation."""
    for env, _ in states(case, seed=2, closely=10, rarely=71):
        for agent in env.possible_agents:
            observation = env.observe(agent)["observation"]
            assert env.observation_space(agent)["observation"].contains(observation)
            assert np.array_equal(encode(env, env.describe_observation(observation)), observation)


def encode(env: CardEnv, values: dict) -> np.ndarray:
    """The observation that `describe_observation` reads as `values`."""
    table = env.game.observation
    parts = [features(section, values[section.name]) for section in table.sections]
    for place in range(table.seats):
        parts += [features(section, values[section.name][place]) for section in table.each_seat]
    return np.concatenate(parts)


def features(section: Section, value) -> np.ndarray:
    """The features of a section."""
    out = []
    for size, entry in zip(section.sizes, value if len(section.sizes) > 1 else [value], strict=True):
        bits = np.zeros(size, np.int8)
        match section.code:
            case "one-hot":
                if entry is not None:
                    bits[section.labels.index(entry) if section.labels else entry] = 1
            case "count":
                bits[: (entry - section.low) // section.step] = 1
            case "binary":
                bits[:] = [entry >> place & 1 for place in range(size)]
            case "flag":
                bits[0] = entry
        out.append(bits)
    return np.concatenate(out)


def test_absent_seats_are_zero(case: Case):
    """The same observation serves every number of players."""
    table = case.game.observation
    for env, _ in states(case, seed=3, closely=5):
        for agent in env.possible_agents:
            observation = env.observe(agent)["observation"]
            assert not observation[table.seats_start + case.num_players * table.block :].any() or not table.seats


@pytest.mark.parametrize(
    "case", [case for case in cases() if DECLINES & set(case.game.actions.texts)], ids="{0.game_id}-{0.num_players}p".format
)
def test_declines_leave_no_trace(case: Case):
    """G-05: who declines in a window changes nothing for those who are neither it nor asked next, be it the last one asked or not."""
    declined = 0
    for number, options in enumerate(mixtures(case, GAMES_EACH, seed=11)):
        options.pop("play_drawn", None)  # a drawn card that is kept is a turn, and may be followed by an event
        env = case.make(**{name: value for name, value in options.items() if not name.startswith("max_")})
        env.reset(seed=number)
        rng = np.random.default_rng([11, number])
        for _ in range(2000):
            if over(env):
                env.reset()
            actor, action = seat_to_act(env), pick(env, rng)
            declines = env.action_text(action) in DECLINES
            before = [view_of(env, seat) for seat in range(case.num_players) if declines]
            env.step(action)
            if declines and not over(env):
                declined += 1
                for seat in set(range(case.num_players)) - {actor, seat_to_act(env)}:
                    assert not differences(view_of(env, seat), before[seat])
    assert declined > 3


def test_views(case: Case):
    """A view holds no chance, no count of decisions and no rewards; viewed again, it is itself."""
    for env, _ in states(case, seed=4):
        for seat in range(env.num_players):
            view = view_of(env, seat)
            assert not any(view[name].any() for name in BLANK_IN_VIEWS)
            assert view["viewer"][0] == seat
            again = new_states(env.game.state, 1)
            env.game.loops.view_one(view, seat, again)
            assert not differences(again, view)
        assert env.states["viewer"][0] == -1


def test_nothing_hidden_shows(case: Case):
    """FC-68: tables that differ in hidden things alone look the same to a seat: view, observation, mask and text."""
    for env, rng in states(case, seed=5, closely=15, rarely=41):
        actor = seat_to_act(env)
        for seat in {actor, int(rng.integers(env.num_players))}:
            original = seen(env, env.states, seat)
            for drawn in (resampled(env, original[0], rng) for _ in range(2)):
                view, observation, mask, text = seen(env, drawn, seat)
                assert not differences(view, original[0])
                assert np.array_equal(observation, original[1])
                assert text == original[3]
                if seat == actor:
                    assert np.array_equal(mask, original[2])


def resampled(env: CardEnv, view: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A state drawn from those that are consistent with a view."""
    drawn = new_states(env.game.state, 1)
    words = rng.integers(2**64, size=1, dtype=np.uint64)
    before = view.copy()
    env.game.loops.resample_one(view, words, drawn)
    assert not differences(view, before)
    return drawn


def test_drawn_states_can_be_played(case: Case):
    """FC-70: what is drawn from a view is a whole state, valid for every seat, with chance of its own, that can be played on."""
    for env, rng in states(case, seed=6, closely=8, rarely=101):
        if over(env):
            continue
        drawn = resampled(env, view_of(env, seat_to_act(env)), rng)
        assert drawn["viewer"][0] == -1
        assert set(drawn["rng"][0].tolist()).isdisjoint(env.states["rng"][0].tolist())
        for seat, agent in enumerate(env.possible_agents):
            assert env.observation_space(agent)["observation"].contains(seen(env, drawn, seat)[1])
        table = env.clone()
        table.states[:] = drawn
        for _ in play(table, rng, 60):
            pass
        if over(table):
            assert sum(table.rewards.values()) == pytest.approx(0)


def test_drawn_states_vary(case: Case):
    """FC-70: at the beginning of a game no two draws are alike in all that is hidden."""
    env = case.started(seed=7)
    rng = np.random.default_rng(7)
    view = view_of(env, seat_to_act(env))
    drawn = [resampled(env, view, rng) for _ in range(20)]
    hidden = [name for name in case.game.state.names or () if name not in ("rng", "seeds")]
    assert len({tuple(state[name].tobytes() for name in hidden) for state in drawn}) > 1


def test_rewards_add_up_to_zero(case: Case):
    """G-10, G-11, G-13: at every decision, and over a game; scores are whole numbers of all seats."""
    for number, options in enumerate(mixtures(case, GAMES_EACH, seed=8)):
        for reward in ("win", "score"):
            env = case.make(**{**options, "reward": reward})
            env.reset(seed=number)
            total = np.zeros(case.num_players)
            for _ in play(env, np.random.default_rng(number), 600):
                assert sum(env.rewards.values()) == pytest.approx(0)
                total += list(env.rewards.values())
                assert [type(score) for score in env.scores()] == [int] * case.num_players
            total += list(env.rewards.values())
            assert total.sum() == pytest.approx(0)
            assert np.isfinite(total).all()


def test_seats_are_alike(case: Case):
    """FC-73: dealt alike to the seats some places further on, a game is the same for every seat, decision by decision."""
    if case.game_id == "kuhn-v0":
        pytest.skip("player_0 always moves first")
    options = {name: 1 for name in case.game.options if name.startswith("num_")}  # a later deal may begin at seat 0 again
    if "social_percent" in case.game.options:
        options["social_percent"] = 0  # whom an event befalls is drawn by the seat's number
    rng = np.random.default_rng(9)
    for _ in range(3):
        original, turned = case.make(**options), case.make(**options)
        shift = deal_turned(original, turned, rng)
        order = np.roll(np.arange(case.num_players), shift)  # who sits in the turned table's places
        for _ in range(200):
            check_turned(original, turned, order)
            if over(original):
                break
            action = pick(original, rng)
            original.step(action)
            turned.step(action)


def deal_turned(original: CardEnv, turned: CardEnv, rng: np.random.Generator) -> int:
    """Deal one game at two tables, `shift` seats further on at the second one, with the same chance to come; returns `shift`.

    Games that draw who begins are dealt until they draw alike; in a game that does not, the deck is turned.
    """
    seats = original.num_players
    cards = [original.game.cards[card] for card in original.game.deck(seats, original.options)]
    rng.shuffle(cards)
    rounds = [cards[at : at + seats] for at in range(0, len(cards), seats)]
    turned_cards = [card for dealt in rounds for card in (dealt[-1:] + dealt[:-1] if len(dealt) == seats else dealt)]
    original.reset(seed=0, options={"deck": cards})
    for seed in range(500):
        for deck in (cards, turned_cards):
            turned.reset(seed=seed, options={"deck": deck})
            for shift in range(1, seats):
                if same_views(original, turned, np.roll(np.arange(seats), shift)):
                    turned.states["rng"] = original.states["rng"]
                    return shift
    raise AssertionError("no deal of 500 is a turned one: is some seat shown something else than its neighbours?")


def same_views(original: CardEnv, turned: CardEnv, order: np.ndarray) -> bool:
    """Whether the seat that sits in each place of `turned` sees what it saw in `original`."""
    here = [original.observe(original.possible_agents[seat]) for seat in order]
    there = [turned.observe(agent) for agent in turned.possible_agents]
    return all(np.array_equal(a[name], b[name]) for a, b in zip(here, there, strict=True) for name in a)


def check_turned(original: CardEnv, turned: CardEnv, order: np.ndarray) -> None:
    """Views, rewards and scores move along with the seats."""
    assert same_views(original, turned, order)
    assert list(turned.rewards.values()) == pytest.approx([original.rewards[f"player_{seat}"] for seat in order])
    assert turned.scores() == [original.scores()[seat] for seat in order]
