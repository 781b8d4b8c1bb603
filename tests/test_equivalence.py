"""The same games, one by one or many at once, compiled or not, in any process (FC numbers are those of the field cases)."""

import json

import numpy as np
import pytest

from cardenvs.core.game import Game
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.vector import Batch, CardVectorEnv
from tests.common import POLICIES, Case, differences, mixtures, over, pick, run_python, seat_to_act, some_players

LANES = 4
NUMBA = tuple(f"NUMBA_{name}" for name in ("DISABLE_JIT", "BOUNDSCHECK", "CACHE_DIR"))


def check_row(batch: Batch, lane: int, env: CardEnv) -> None:
    """What a batch shows of the lane's seat to act is what the single table shows."""
    assert batch.seat[lane] == seat_to_act(env)
    seen = env.observe(env.agent_selection)
    assert np.array_equal(batch.observation[lane], seen["observation"])
    assert np.array_equal(batch.action_mask[lane], seen["action_mask"])


@pytest.mark.parametrize("number", range(3))
def test_batch_equals_single_tables(case: Case, number: int):
    """FC-76: every lane, field by field, through several games of it."""
    options = mixtures(case, 3, seed=21)[number]
    limits = {name: 3 for name in case.game.options if name.startswith("max_")}  # so that games of long kinds end too
    if number == 1:
        options = options | limits
    batch_env = case.make_vec(LANES, **options)
    batch = batch_env.reset(seed=number)
    tables = [case.make(**options) for _ in range(LANES)]
    words = np.random.SeedSequence(number).generate_state(LANES, np.uint64)
    for table, word in zip(tables, words, strict=True):
        table.reset(seed=0)
        table.states["seeds"] = word
        table.reset()
    first = case.make(**options)
    first.reset(seed=number)
    assert not differences(first.states, tables[0].states)

    rng = np.random.default_rng(number)
    ended = 0
    for _ in range(300):
        for lane, table in enumerate(tables):
            check_row(batch, lane, table)
        assert not differences(batch_env.states, np.concatenate([table.states for table in tables]))
        assert batch_env.scores().tolist() == [table.scores() for table in tables]
        actions = np.array([pick(table, rng, int(rng.integers(len(POLICIES)))) for table in tables])
        batch = batch_env.step(actions)
        for lane, (table, action) in enumerate(zip(tables, actions, strict=True)):
            table.step(int(action))
            assert batch.rewards[lane].tolist() == list(table.rewards.values())
            assert batch.terminated[lane] == all(table.terminations.values())
            assert batch.truncated[lane] == all(table.truncations.values())
            if over(table):
                assert batch.scores[lane].tolist() == table.scores()
                table.reset()
                ended += 1
            else:
                assert not batch.scores[lane].any()
    assert ended > 0 or not limits or number != 1


def test_ways_to_step_a_batch(case: Case):
    """FC-76: threads, arrays that are used again, and stepping some lanes at a time change nothing."""
    lanes = 7
    plain = case.make_vec(lanes)
    threaded = case.make_vec(lanes, threads=2)
    crowded = case.make_vec(lanes, threads=lanes + 3)
    reusing = case.make_vec(lanes, copy=False)
    partly = case.make_vec(lanes)
    environments = (plain, threaded, crowded, reusing, partly)
    batches = [env.reset(seed=22) for env in environments]
    rng = np.random.default_rng(22)
    for _ in range(120):
        for batch in batches:
            for a, b in zip(batch, batches[0], strict=True):
                assert np.array_equal(a, b)
                assert a.dtype == b.dtype
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in batches[0].action_mask])
        some = rng.permutation(lanes)[: int(rng.integers(1, lanes))]
        first = partly.step(np.where(np.isin(np.arange(lanes), some), actions, -5), lanes=some)
        others = np.setdiff1d(np.arange(lanes), some)
        for before, after in zip(batches[0], first, strict=True):
            assert np.array_equal(before[others], after[others])
        assert not differences(partly.states[others], plain.states[others])
        batches = [env.step(actions) for env in environments[:4]] + [partly.step(actions, lanes=others)]
        for env in environments:
            assert not differences(env.states, plain.states)
    for env in environments:
        env.close()
        env.close()


def test_batches_that_were_handed_out_stay(case: Case):
    """FC-77; `copy=False` hands out the same arrays."""
    env = case.make_vec(LANES)
    kept = [env.reset(seed=23)]
    copies = [[array.copy() for array in kept[0]]]
    for _ in range(100):
        kept.append(env.step(kept[-1].action_mask.argmax(1)))
        copies.append([array.copy() for array in kept[-1]])
    env.reset()
    for batch, copied in zip(kept, copies, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(batch, copied, strict=True))
    reusing: CardVectorEnv = case.make_vec(LANES, copy=False)
    batch = reusing.reset(seed=23)
    assert all(np.shares_memory(a, b) for a, b in zip(batch, reusing.step(batch.action_mask.argmax(1)), strict=True))


def test_compiled_checked_and_plain_python_play_the_same(game: Game):
    """FC-83: observations, masks, rewards, scores, chance, choices of the policies and drawn states; no warning, no index out of range."""
    modes = {"compiled": ("250", {}), "checked": ("250", {"NUMBA_BOUNDSCHECK": "1"}), "plain": ("12", {"NUMBA_DISABLE_JIT": "1"})}
    traces = {}
    for mode, (decisions, variables) in modes.items():
        output = run_python("-W", "error", "-m", "tests.processes", "trace", game.id, decisions, without=NUMBA, environment=variables)
        traces[mode] = json.loads(output)
    assert traces["checked"] == traces["compiled"]
    for num_players, plain, compiled in zip(some_players(game), traces["plain"], traces["compiled"], strict=True):
        for start in range(3):
            assert plain[12 * start :][:12] == compiled[250 * start :][:12], num_players


def test_workers_of_every_kind():
    """FC-82: workers made by fork, forkserver and spawn play all games as the parent did before, threads included."""
    run_python("-W", "error", "-m", "tests.processes", "workers")


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "HOME", "no home"])
def test_without_a_folder_for_machine_code(place: str):
    """FC-80: it works, with exactly one warning, if no folder can be written, whatever the reason."""
    what = "play" if place == "NUMBA_CACHE_DIR" else "compile"
    start = f"import runpy, sys; sys.argv[1:] = ['uncached', {what!r}]; runpy.run_module('tests.processes', run_name='__main__')"
    if place == "no home":
        start = "import pwd; pwd.getpwuid = lambda user: {}[user]; " + start
    variables = {"NUMBA_OPT": "0"} | ({} if place == "no home" else {place: "/dev/null/nowhere"})
    warned = json.loads(run_python("-c", start, without=("HOME", "XDG_CACHE_HOME", *NUMBA), environment=variables))
    assert len(warned) == 1
    assert "no folder for its machine code can be written" in warned[0]


def test_core_needs_no_extras():
    """FC-87."""
    run_python("-W", "error", "-m", "tests.processes", "core")


def test_import_is_light():
    """FC-86: what takes time is imported and compiled when a game is first made."""
    slow = ("numba", "torch", "matplotlib", "cardenvs.games.recurrring", "cardenvs.envs.aec")
    print_slow = f"import sys, cardenvs; print([name for name in {slow!r} if name in sys.modules])"
    assert run_python("-W", "error", "-c", print_slow).strip() == "[]"
