"""What every game folder and every environment promises, whatever the game (FC numbers are those of the field cases)."""

import copy
import json
import pickle
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import cardenvs
from cardenvs import registry
from cardenvs.core.game import KERNELS, Game
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.vector import CardVectorEnv
from cardenvs.errors import (
    IllegalAction,
    InvalidAction,
    InvalidDeck,
    InvalidOption,
    InvalidSeed,
    NotReset,
    ReplayError,
    UnknownGame,
)
from tests.common import (
    Case,
    cases,
    differences,
    mask_of,
    mixtures,
    other_values,
    over,
    play,
    run_python,
    snapshot,
)

# Tables.


def test_actions_and_texts_convert_both_ways(game: Game):
    """FC-28, G-14."""
    actions = game.actions
    assert [actions.id(text) for text in actions.texts] == list(range(actions.size)) == [*range(len(set(actions.texts)))]
    assert all(text == text.strip() and text for text in actions.texts)
    assert [number for numbers in actions.ranges.values() for number in numbers] == list(range(actions.size))
    env = CardEnv(game)
    assert env.action_text(int(np.int64(actions.size - 1))) == actions.texts[-1]
    assert env.action_id(actions.texts[0]) == 0
    wrong: Any
    for wrong in (-1, actions.size, 0.0, "0", None, True):
        with pytest.raises(InvalidAction):
            env.action_text(wrong)
    with pytest.raises(InvalidAction, match="no action is called"):
        env.action_id("no such action")


def test_observation_table(game: Game):
    """Sections have names, meanings and lengths, and fill the observation."""
    table = game.observation
    sections = (*table.sections, *table.each_seat)
    assert len({section.name for section in sections}) == len(sections)
    assert sum(section.length for section in table.sections) == table.seats_start
    assert table.seats_start + table.seats * sum(section.length for section in table.each_seat) == table.size
    assert table.seats in (0, game.max_seats)
    end = 0
    for section, start in table.places():
        assert (start, section.meaning.strip() != "") == (end, True), section.name
        assert all(size > 0 for size in section.sizes), section.name
        if section.labels:
            assert section.code == "one-hot", section.name
            assert {len(section.labels)} == set(section.sizes), section.name
        if section.code == "flag":
            assert set(section.sizes) == {1}, section.name
        end += section.length
    assert set(table.describe(np.zeros(table.size, np.int8))) == {section.name for section in sections}
    for wrong in (np.zeros(table.size + 1), np.zeros((1, table.size))):
        with pytest.raises(ValueError, match="shape"):
            table.describe(wrong)


def test_game_record_and_kernels(game: Game, game_id: str):
    assert game.id == game_id
    assert game.default_players in game.players
    assert min(game.players) >= 2
    assert all(callable(getattr(game, kernel)) for kernel in KERNELS)
    names = game.state.names
    assert names is not None
    assert len(game.state["rewards"].shape) == 1
    assert game.state["rewards"].shape == (game.max_seats,)
    for name in names:
        assert game.state[name].base.kind in ("f" if name == "rewards" else "iu"), f"{name} is not made of integers"
    assert {"reward", *game.options} <= set(names)
    assert len(set(game.cards)) == len(game.cards)


# Construction.


def test_every_value_of_every_option(case: Case):
    """All allowed values are accepted and held by the record; others are refused, and the message says what is allowed."""
    game = case.game
    for name, option in game.options.items():
        for value in (option.default, *other_values(option)):
            number = option.encode(name, value)
            try:
                states, values = game.configure(case.num_players, {name: value})
            except InvalidOption:
                assert game.check is not None, (name, value)
                continue
            assert (states[name][0], values[name]) == (number, value)
        wrong = ["nonsense", 1.0, [], -1]
        if option.choices:
            assert [option.encode(name, choice) for choice in option.choices] == list(range(len(option.choices)))
        else:
            assert option.encode(name, np.int32(option.low)) == option.low
            assert option.encode(name, option.high) == option.high
            wrong += [option.low - 1, option.high + 1, True, "1"]
            if not option.none:
                wrong.append(None)
        for value in wrong:
            with pytest.raises(InvalidOption) as refused:
                case.make(**{name: value})
            assert name in str(refused.value)
            assert option.allowed in str(refused.value)
            with pytest.raises(InvalidOption):
                case.make_vec(2, **{name: value})
    assert case.make().options == {name: option.default for name, option in game.options.items()}


def test_num_players_and_unknown_options_are_refused(game: Game):
    """FC-16."""
    lowest, highest = game.players[0], game.max_seats
    wrong: Any
    for wrong in (0, 1, -2, highest + 1, str(highest), float(highest), True, (highest,)):
        for make in (cardenvs.make, lambda game_id, players: cardenvs.make_vec(game_id, 2, players)):
            with pytest.raises(InvalidOption, match=f"{lowest} to {highest} players"):
                make(game.id, wrong)
    same: Any = np.int64(highest)
    assert cardenvs.make(game.id, same).num_players == highest
    assert cardenvs.make(game.id).num_players == game.default_players
    with pytest.raises(InvalidOption, match=r"'no_such_option'; its options are .*reward"):
        cardenvs.make(game.id, no_such_option=1)
    for name, wrong in (("render_mode", "rgb_array"), ("illegal_action", "ignore")):
        with pytest.raises(InvalidOption, match=f"{name}=.* must be"):
            cardenvs.make(game.id, None, **{name: wrong})


def test_unknown_games_are_refused():
    for ask in (cardenvs.find, cardenvs.make, lambda game_id: cardenvs.make_vec(game_id, 2)):
        with pytest.raises(UnknownGame, match="recurrring-v0"):
            ask("no-such-game-v0")


# Seeds and decks.


def test_wrong_seeds_are_refused(case: Case):
    env = case.started()
    before = snapshot(env)
    wrong: Any
    for wrong in (-1, 1.0, "1", True, [1]):
        with pytest.raises(InvalidSeed, match="whole number from 0"):
            env.reset(seed=wrong)
        with pytest.raises(InvalidSeed, match="whole number from 0"):
            case.make_vec(2).reset(seed=wrong)
    assert snapshot(env) == before
    env.reset(seed=2**70)
    assert env.seed == 2**70


def test_seed_gives_the_same_games(case: Case):
    """FC-34, FC-35, G-08: a seed starts a sequence of different games, the same however the earlier ones were played."""
    deals: list[np.ndarray] = []
    for decisions in (0, 3, 10):
        env = case.make()
        env.reset(seed=1)
        for _ in range(5):
            deals.append(env.states.copy())
            for _ in play(env, np.random.default_rng(decisions), decisions):
                pass
            env.reset()
        assert env.seed == 1
    for number in range(5):
        assert not differences(deals[number], deals[5 + number])
        assert not differences(deals[number], deals[10 + number])
    assert len({tuple(deal["rng"][0]) for deal in deals}) == 5
    other = case.started(seed=2)
    assert differences(other.states, deals[0])


def test_no_seed_means_a_new_game_that_can_be_replayed(case: Case):
    """FC-36."""
    first, second = case.make(), case.make()
    first.reset()
    second.reset()
    assert isinstance(first.seed, int)
    assert first.seed != second.seed
    assert differences(first.states, second.states)
    second.reset(seed=first.seed)
    assert not differences(first.states, second.states)
    lanes = case.make_vec(2)
    lanes.reset()
    again = case.make_vec(2)
    again.reset(seed=lanes.seed)
    assert not differences(lanes.states, again.states)


def test_global_generators_neither_matter_nor_change(case: Case):
    """FC-37; torch is not even imported (see test_equivalence)."""
    quiet, disturbed = case.started(seed=5), case.started(seed=5)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    untouched = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    for _ in play(quiet, np.random.default_rng(5), 60):
        pass
    assert (random.getstate(), str(np.random.get_state())) == untouched  # noqa: NPY002
    for text in quiet.record()["actions"]:
        disturbed.step(disturbed.action_id(text))
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
    assert not differences(quiet.states, disturbed.states)


def test_fixed_deck(case: Case):
    """FC-39: the deck decides the deal, and the shuffle takes its draws all the same."""
    env = case.make(**mixtures(case, 2)[1])
    deck = [env.game.cards[card] for card in env.game.deck(case.num_players, env.options)]
    env.reset(seed=3)
    shuffled = env.states.copy()
    decks = [deck, deck[::-1]]
    dealt = []
    for cards in decks:
        env.reset(seed=3, options={"deck": cards})
        assert env.states["rng"].tolist() == shuffled["rng"].tolist()
        dealt.append(env.states.copy())
        env.reset(seed=3, options={"deck": iter(cards)})
        assert not differences(env.states, dealt[-1])
    assert differences(*dealt)
    options = dict(env.options)
    env.reset()
    after_fixed = env.states.copy()
    assert env.options == options
    env.reset(seed=3)
    assert not differences(env.states, shuffled)
    env.reset()
    assert not differences(env.states, after_fixed)


def test_wrong_decks_are_refused(case: Case):
    """FC-39: with the reason, and nothing has changed."""
    env = case.started(seed=4, decisions=2)
    deck = [env.game.cards[card] for card in env.game.deck(case.num_players, env.options)]
    before = snapshot(env)
    other = next(text for text in deck if text != deck[0])
    for wrong, reason in (
        ([other, *deck[1:]], f"{other!r}"),
        (deck[:-1], f"{deck[-1]!r} in place of"),
        ([*deck, deck[0]], f"{deck[0]!r} in place of"),
        (["no such card", *deck[1:]], "'no such card' in place of 0"),
        ([0, *deck[1:]], "list of card texts"),
        ([], "in place of"),
    ):
        with pytest.raises(InvalidDeck) as refused:
            env.reset(seed=9, options={"deck": wrong})
        assert reason in str(refused.value)
    assert snapshot(env) == before


# Copies.

MOMENTS = ("made", "dealt", "middle", "over", "between dead steps")


def at_moment(case: Case, moment: str, **options) -> CardEnv:
    """An environment at one of `MOMENTS`."""
    if moment == "made":
        return case.make(**options)
    if moment in ("dealt", "middle"):
        return case.started(seed=6, decisions=0 if moment == "dealt" else 2, **options)
    env = case.finished(seed=6, **options)
    if moment == "between dead steps":
        env.step(None)
    return env


@pytest.mark.parametrize("moment", MOMENTS)
def test_copies_are_equal_and_independent(case: Case, moment: str):
    """FC-32: clone, deepcopy and pickle at every moment of a game."""
    env = at_moment(case, moment)
    before = snapshot(env)
    for twin in (env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert snapshot(twin) == before
        if moment == "made":
            twin.reset(seed=1)
        elif over(twin):
            while twin.agents:
                twin.step(None)
            twin.reset()
        else:
            for _ in play(twin, np.random.default_rng(7), 3):
                pass
        assert snapshot(twin) != before
        assert snapshot(env) == before


def test_copies_have_the_same_future(case: Case):
    env = case.started(seed=8, decisions=2)
    twins = [env, env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for twin in twins:
        for _ in play(twin, np.random.default_rng(8), 100):
            pass
        twin.reset()
    assert all(snapshot(twin) == snapshot(env) for twin in twins)


@pytest.mark.parametrize("render_mode", ["ansi", "human"])
def test_copies_with_a_renderer_open(case: Case, render_mode: str, capsys: pytest.CaptureFixture):
    """FC-32."""
    env = case.started(seed=9, decisions=1, render_mode=render_mode)
    env.render()
    twin = pickle.loads(pickle.dumps(env))
    assert twin.render() == env.render()
    assert capsys.readouterr().out.count("\n\n") == (0 if render_mode == "ansi" else 5)


def test_batches_can_be_copied(case: Case):
    """FC-32: clone, deepcopy and pickle of many tables, with threads running."""
    env = case.make_vec(5, threads=2)
    batch = env.reset(seed=3)
    twins = [env, env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    results = [twin.step(batch.action_mask.argmax(1)) for twin in twins]
    for twin, result in zip(twins, results, strict=True):
        assert not differences(twin.states, env.states)
        assert all(np.array_equal(a, b) for a, b in zip(result, results[0], strict=True))
        twin.close()


def test_pickle_in_a_new_process(game: Game, tmp_path: Path):
    """FC-29, FC-34: a game goes on in a new process with other hash seeds as it does here, and one dealt there is the same."""
    here = []
    for number, num_players in enumerate(game.players):
        env = Case(game.id, num_players).started(seed=number, decisions=3)
        (tmp_path / f"{num_players}.pickle").write_bytes(pickle.dumps(env))
        for _ in play(env, np.random.default_rng(number), 50):
            pass
        dealt = Case(game.id, num_players).started(seed=number)
        here.append([short_state(env), short_state(dealt)])
    for hash_seed in ("0", "1"):
        there = run_python("-m", "tests.test_contract", game.id, str(tmp_path), environment={"PYTHONHASHSEED": hash_seed})
        assert json.loads(there) == here


def short_state(env: CardEnv) -> list:
    """What can be seen of a table, as JSON values."""
    return [
        snapshot(env)["states"],
        {agent: {name: values.tolist() for name, values in env.observe(agent).items()} for agent in env.possible_agents},
        [env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.agent_selection, env.record()],
    ]


# Undo and records.


def test_any_earlier_state_can_be_replayed(case: Case):
    """FC-33: the first k moves of a record lead to the very state of then, chance included."""
    env = case.make(**mixtures(case, 2, seed=1)[1])
    env.reset(seed=10)
    env.reset()
    earlier = [env.clone() for _ in play(env, np.random.default_rng(10), 80)]
    saved = env.record()
    for moves in {0, 1, len(earlier) // 2, len(earlier) - 1}:
        again = cardenvs.replay(saved, moves)
        assert not differences(again.states, earlier[moves].states)
        assert again.rewards == earlier[moves].rewards
        assert again.agent_selection == earlier[moves].agent_selection


def check_replay(env: CardEnv) -> None:
    """The record of a table, as JSON, leads to the same table, which goes on in the same way."""
    again = cardenvs.replay(json.dumps(env.record()))
    for _ in range(2):
        assert again.record() == env.record()
        assert short_state(again) == short_state(env)
        for table in (env, again):
            for _ in play(table, np.random.default_rng(0), 5):
                pass


def test_record_and_replay(case: Case):
    """Running games, finished ones, later ones of a lane, on fixed decks."""
    check_replay(case.started(seed=11))
    check_replay(case.started(seed=11, decisions=5, reward="score"))
    check_replay(case.finished(seed=11))
    env = case.started(seed=11, decisions=4)
    env.reset(options={"deck": [env.game.cards[card] for card in env.game.deck(case.num_players, env.options)]})
    for _ in play(env, np.random.default_rng(11), 3):
        pass
    assert env.record()["deck"]
    check_replay(env)


def test_record_of_a_lost_game(case: Case):
    env = with_illegal_action(case, illegal_action="loss")
    env.step(illegal_action(env))
    check_replay(env)


def test_wrong_records_are_refused(case: Case):
    """Also FC-40: a record of another version says so."""
    env = case.started(seed=13, decisions=4)
    saved = env.record()
    version = f"{env.game.name}-v{env.game.version + 1}"
    wrong: Any
    for wrong, reason in (
        ("no JSON", "no record"),
        ("[1]", "no record"),
        (None, "no record"),
        ({}, "lacks"),
        ({**saved, "game": version}, f"the record is of {version}; this version plays"),
        ({**saved, "num_players": 99}, "cannot be set up: num_players=99"),
        ({**saved, "options": {**saved["options"], "reward": "gold"}}, "cannot be set up: reward='gold'"),
        ({**saved, "options": None}, "cannot be set up"),
        ({**saved, "deck": ["no such card"]}, "cannot be set up: not the deck"),
        ({**saved, "lane_word": "x"}, "cannot be set up"),
        ({**saved, "actions": [*saved["actions"], "no such action"]}, f"move {len(saved['actions']) + 1} .no such action. differs"),
        ({**saved, "actions": [*saved["actions"], None]}, f"move {len(saved['actions']) + 1} .None. differs"),
        ({**saved, "scores": [score + 1 for score in saved["scores"]]}, "scores after the last move differ"),
        ({**saved, "terminated": not saved["terminated"]}, "terminated after the last move differ"),
    ):
        with pytest.raises(ReplayError, match=reason):
            cardenvs.replay(wrong)


def test_tables_of_another_layout_are_refused(case: Case, monkeypatch: pytest.MonkeyPatch):
    """FC-40: what a version with other fields has pickled is not run, and the message says what changed."""
    lanes = case.make_vec(2)
    lanes.reset(seed=1)
    saved = [pickle.dumps(table) for table in (case.make(), case.started(), lanes)]
    game = case.game
    kept = [(name, game.state[name]) for name in game.state.names or () if name != "reward"]
    for fields, reason in (
        ([*kept, ("reward", np.int8), ("points_of_tomorrow", np.int8)], "points_of_tomorrow"),
        ([*kept, ("reward", np.int16)], "in reward$"),
        ([*kept, ("reward", np.int8)], "in their order$"),
    ):
        other = replace(game, state=np.dtype(fields, align=True))
        monkeypatch.setattr(registry, "find", lambda game_id, other=other: other)
        for table in saved:
            with pytest.raises(ReplayError, match=f"table of {game.id} was saved by another version.*{reason}"):
                pickle.loads(table)


# Actions.


def illegal_action(env: CardEnv) -> int:
    """An action id that is illegal now, or -1."""
    mask = mask_of(env)
    return -1 if mask.all() else int(mask.argmin())


def with_illegal_action(case: Case, **options) -> CardEnv:
    """A running game after some decisions, in which some action is illegal."""
    for seed in range(10):
        env = case.started(seed, decisions=3, **options)
        if not over(env) and illegal_action(env) >= 0:
            return env
    pytest.skip("every action of this game is legal at all times")


def test_types_of_actions(case: Case):
    """FC-17: whole numbers of every type are the same action; anything else is refused and changes nothing."""
    env = case.started(seed=14, decisions=1)
    action = env.legal_actions()[0]
    results = []
    for same in (action, np.int64(action), np.int32(action), np.int16(action), np.uint8(action % 256), np.array(action)):
        if int(same) == action:
            twin = env.clone()
            twin.step(same)
            results.append(snapshot(twin))
    assert len(results) >= 5
    assert all(result == results[0] for result in results)
    before = snapshot(env)
    for wrong in (
        None,
        float(action),
        str(action),
        env.action_text(action),
        True,
        np.bool_(True),
        [action],
        np.array([action]),
        -1,
        env.game.actions.size,
    ):
        with pytest.raises(InvalidAction):
            env.step(wrong)
    assert snapshot(env) == before


def test_illegal_actions_are_refused(case: Case):
    """FC-19, FC-22: every action that is not in the mask raises and changes nothing, every other one can be played."""
    env = with_illegal_action(case)
    before = snapshot(env)
    legal = set(env.legal_actions())
    for action in range(env.game.actions.size):
        if action in legal:
            env.clone().step(action)
        else:
            with pytest.raises(IllegalAction, match="illegal now; legal are: "):
                env.step(action)
    assert snapshot(env) == before
    for _ in play(env, np.random.default_rng(15), 20):
        pass
    assert len(env.record()["actions"]) > len(before["_history"])


def test_illegal_actions_are_refused_without_assertions():
    """FC-19 under `python -O`, for all games."""
    run_python("-O", "-m", "tests.test_contract", "illegal")


def test_illegal_action_in_a_batch(case: Case):
    """FC-19: the error names lane, seat and action; no lane has changed."""
    env = case.make_vec(3)
    batch = env.reset(seed=16)
    actions = batch.action_mask.argmax(1)
    before = env.states.copy()
    for wrong in (-1, env.game.actions.size, *np.flatnonzero(batch.action_mask[1] == 0)[:1]):
        with pytest.raises(IllegalAction, match=f"action {wrong} .* of seat {batch.seat[1]} in lane 1 of {case.game_id}"):
            env.step(np.array([actions[0], wrong, actions[2]]))
    malformed: Any
    for malformed in (actions[:2], actions.astype(float), actions[:, None], None, actions > 0):
        with pytest.raises(InvalidAction, match="whole numbers of shape"):
            env.step(malformed)
    lanes: Any
    for lanes in ([3], [-1], [10**6], [0, 0], [True, False, True], [1.0], [[0, 1]], 1, ["a"]):
        with pytest.raises(InvalidAction, match="lanes must be"):
            env.step(actions, lanes)
    assert not differences(env.states, before)
    env.step(actions, [])
    assert not differences(env.states, before)
    env.step(actions)
    with pytest.raises(NotReset, match="reset"):
        case.make_vec(3).step(actions)
    for name in ("num_envs", "threads"):
        for malformed in (0, 1.0, "2", True):
            with pytest.raises(InvalidOption, match=f"{name}=.* whole number from 1"):
                case.make_vec(**{"num_envs": 2, name: malformed})


def test_an_illegal_action_can_be_a_loss(case: Case):
    """FC-20: the offender gets -1, the others share 1, the game is over, and dead steps work."""
    env = with_illegal_action(case, illegal_action="loss")
    offender = env.agent_selection
    env.step(illegal_action(env))
    others = 1 / (case.num_players - 1)
    assert env.rewards == {agent: -1 if agent == offender else others for agent in env.possible_agents}
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    last = {}
    while env.agents:
        agent = env.agent_selection
        last[agent] = env.last()[1]
        env.step(None)
    assert last == {agent: pytest.approx(-1 if agent == offender else others) for agent in env.possible_agents}
    env.reset()
    assert not over(env)


def test_no_action_after_the_end(case: Case):
    env = case.finished(seed=17)
    while env.agents:
        env.step(None)
    for action in (None, 0):
        with pytest.raises(InvalidAction, match="call reset"):
            env.step(action)


# Texts and pictures.


def test_texts(case: Case):
    """Every agent has a text in every phase, without traces of the types behind it."""
    for env in (case.started(seed=18), case.started(seed=18, decisions=12), case.finished(seed=18)):
        for agent in env.possible_agents:
            text = env.text(agent)
            assert isinstance(text, str)
            assert text.strip()
            assert not any(trace in text for trace in ("int8", "array(", "None", "np."))
    with pytest.raises(InvalidOption, match="no agent is called 'player_99'"):
        env.text("player_99")


def test_render_modes(case: Case, capsys: pytest.CaptureFixture):
    """FC-88: types as documented at every moment; `close` never raises; clear errors before the first reset."""
    for render_mode in (None, "ansi", "human"):
        env = case.make(render_mode=render_mode)
        with pytest.raises(NotReset, match="reset"):
            env.render()
        env.close()
        for moment in MOMENTS[1:]:
            env = at_moment(case, moment, render_mode=render_mode)
            capsys.readouterr()
            text = env.render()
            printed = capsys.readouterr().out
            assert isinstance(text, str) == (render_mode == "ansi")
            assert (printed != "") == (render_mode == "human")
            if moment != "between dead steps":
                assert (text or printed.strip() or env.text()) == env.text()
        while env.agents:
            env.step(None)
        assert isinstance(env.render(), str) == (render_mode == "ansi")
        env.close()
        env.close()
        env.reset()
        assert isinstance(env.render(), str) == (render_mode == "ansi")
    assert env.metadata["render_modes"] == ["ansi", "human"]


# What a second process runs: see `run_python` above.


def go_on(game_id: str, folder: Path) -> None:
    """Go on with pickled games and deal the same anew; prints what can be seen of them."""
    there = []
    for number, num_players in enumerate(cardenvs.find(game_id).players):
        env = pickle.loads((folder / f"{num_players}.pickle").read_bytes())
        for _ in play(env, np.random.default_rng(number), 50):
            pass
        there.append([short_state(env), short_state(Case(game_id, num_players).started(seed=number))])
    print(json.dumps(there))


def refuse() -> None:
    """An illegal action is refused in a game of each kind."""
    assert not __debug__
    for case in cases():
        env = case.started(seed=3)
        action = illegal_action(env)
        if action < 0:
            continue
        before = snapshot(env)
        for wrong in (action, -1, "1"):
            try:
                env.step(wrong)
            except InvalidAction:
                continue
            raise SystemExit(f"action {wrong} of {case} was not refused")
        if snapshot(env) != before:
            raise SystemExit(f"a refused action changed {case}")


def test_options_of_numpy_become_plain_values(case: Case):
    """Numbers, booleans and texts of NumPy are taken where their values are allowed, and records are plain JSON."""
    numpy_options = {name: np.asarray(option.default)[()] for name, option in case.game.options.items() if option.default is not None}
    env = case.started(**numpy_options)
    assert env.options == case.make().options
    assert all(type(value) in (int, bool, str, type(None)) for value in env.options.values())
    assert json.loads(json.dumps(env.record())) == env.record()


def test_a_changed_game_is_copied_as_itself(game: Game):
    other = replace(game, title="changed")
    tables = CardVectorEnv(other, 2)
    tables.reset(seed=1)
    assert copy.deepcopy(tables).game is tables.clone().game is other
    assert copy.copy(other) is copy.deepcopy(other) is other


def test_more_tables_than_memory_holds_are_refused_at_once(game_id: str):
    with pytest.raises(InvalidOption, match=r"num_envs=1099511627776 .* at most [\d,]+ tables"):
        cardenvs.make_vec(game_id, 2**40)
    with pytest.raises(InvalidOption, match="num_envs=1099511627776"):
        gymnasium.make_vec(f"cardenvs/{game_id[0].upper()}{game_id[1:]}", num_envs=2**40, vectorization_mode="vector_entry_point")


@pytest.mark.parametrize("options", [{}, {"copy": False}])
def test_ends_of_a_batch_are_booleans(game_id: str, options: dict):
    tables = cardenvs.make_vec(game_id, 3, **options)
    for batch in (tables.reset(seed=1), tables.step(tables.reset(seed=1).action_mask.argmax(axis=1))):
        assert batch.terminated.dtype == batch.truncated.dtype == np.bool_
        assert batch.scores[batch.terminated].shape == (0, tables.num_players)
        assert (~batch.terminated).all()


if __name__ == "__main__":
    refuse() if sys.argv[1] == "illegal" else go_on(sys.argv[1], Path(sys.argv[2]))
