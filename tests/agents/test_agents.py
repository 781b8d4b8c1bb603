"""Players: how they are made, compiled ones, people."""

import subprocess
import sys

import numpy as np
import pytest

import cardenvs
from cardenvs import agents
from cardenvs.agents import CompiledAgent, MissingExtra, UnknownAgent, make
from cardenvs.agents.human import HumanAgent, fit, menu
from cardenvs.envs.aec import CardEnv
from cardenvs.errors import CardEnvError, InvalidOption
from tests.common import ROOT, cases, play
from tests.experiments import rogues


def decision(env: CardEnv) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observation, mask and view of who is to act."""
    agent = env.agent_selection
    seen = env.observe(agent)
    return seen["observation"], seen["action_mask"], env.view(agent)


@pytest.mark.parametrize("spec", ["random", "easy", "strong"])
def test_compiled_players_are_legal_and_follow_their_seed(spec):
    for case in cases():
        env = case.make()
        env.reset(seed=4)
        twins = [make(spec), make(spec)]
        for twin in twins:
            twin.reset(env.game, case.num_players, 0, 2**64 - 7)
        for _ in play(env, np.random.default_rng(1), 30):
            observation, mask, view = decision(env)
            choices = [twin.act(observation, mask, view) for twin in twins]
            assert choices[0] == choices[1]
            assert type(choices[0]) is int
            assert mask[choices[0]] == 1


def test_random_players_of_different_seeds_differ():
    env = cardenvs.make("recurrring-v0")
    env.reset(seed=0)
    player = make("random")
    choices = set()
    for seed in range(20):
        player.reset(env.game, env.num_players, 0, seed)
        choices.add(player.act(*decision(env)))
    assert len(choices) > 1


OURS = ["random", "easy", "strong", "human", "flat-mc", "flat-mc:50", "ismcts", "ismcts:20ms"]


def test_names_are_what_was_asked_for():
    assert [make(spec).name for spec in OURS] == OURS
    assert isinstance(make("tests.experiments.rogues:First"), rogues.First)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("expert", "random, easy, strong, flat-mc, .*, human, checkpoint:PATH, checkpoint:PATH.greedy or module:Class"),
        ("", "random, easy, strong, flat-mc, .*, human, checkpoint:PATH, checkpoint:PATH.greedy or module:Class"),
        ("checkpoint:", "random, easy"),
        (":Class", "random, easy"),
        ("no.such.module:Class", "cannot be loaded"),
        ("tests.experiments.rogues:NoSuchClass", "NoSuchClass"),
    ],
)
def test_unknown_players_are_refused(spec, told):
    with pytest.raises(UnknownAgent, match=told) as caught:
        make(spec)
    assert isinstance(caught.value, CardEnvError)


def test_policies_are_those_that_there_are():
    with pytest.raises(InvalidOption, match=r"policy=3 is not allowed.*random.*strong"):
        CompiledAgent(3)


def test_a_checkpoint_without_the_extra_names_it(monkeypatch):
    """FC-87"""
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "cardenvs.agents.network", raising=False)
    with pytest.raises(MissingExtra, match=r"safetensors.*\[train\]"):
        make("checkpoint:somewhere")


def test_players_need_neither_torch_nor_the_other_extras():
    code = (
        "import sys, cardenvs.agents, cardenvs.agents.human, cardenvs.agents.isolated; "
        "print([name for name in ('torch', 'stable_baselines3', 'tyro', 'matplotlib', 'safetensors') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_protocols_tell_batch_players():
    assert isinstance(rogues.BatchLast(), agents.BatchAgent)
    assert not isinstance(rogues.First(), agents.BatchAgent)
    assert not isinstance(make("easy"), agents.BatchAgent)


# A person


class Terminal:
    """Answers as typed beforehand, and all that was shown."""

    def __init__(self, *answers: str):
        self.answers = list(answers)
        self.shown = ""

    def ask(self, prompt: str) -> str:
        self.show(prompt)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    def show(self, text: str) -> None:
        self.shown += text + "\n"

    def act(self, env: CardEnv) -> int:
        human = HumanAgent(self.ask, self.show)
        human.reset(env.game, env.num_players, 0, 0)
        return human.act(*decision(env))


def test_a_person_sees_the_table_and_all_legal_moves():
    for case in cases():
        env = case.started(seed=2)
        terminal = Terminal("1")
        assert terminal.act(env) == env.legal_actions()[0]
        shown = " ".join(terminal.shown.split())
        assert " ".join(env.text().split()) in shown
        for number, action in enumerate(env.legal_actions(), 1):
            assert f"{number}) {env.action_text(action)}" in shown


def test_a_person_answers_by_number_or_by_text():
    env = cardenvs.make("recurrring-v0")
    env.reset(seed=0)
    last = env.legal_actions()[-1]
    assert Terminal(str(len(env.legal_actions()))).act(env) == last
    assert Terminal(f"  {env.action_text(last).replace(' ', '   ')} ").act(env) == last


def test_a_person_is_asked_again_after_wrong_input():
    """FC-89: nothing, letters, numbers out of range, other digits, an illegal move."""
    env = cardenvs.make("recurrring-v0")
    env.reset(seed=0)
    illegal = next(text for text in env.game.actions.texts if env.action_id(text) not in env.legal_actions())
    wrong = ["", "what", "0", "-1", "99", "1.0", "²", illegal, "1 2"]
    terminal = Terminal(*wrong, "1")
    assert terminal.act(env) == env.legal_actions()[0]
    assert terminal.shown.count("is no legal move: give a number from 1 to") == len(wrong)
    assert not terminal.answers
    with pytest.raises(EOFError):
        Terminal("what").act(env)


def test_text_fits_narrow_windows():
    text = "Table:\n  player_0: " + "a few words " * 20 + "\n\nYour hand: 1 2 3"
    for width in (20, 40, 200):
        lines = fit(text, width).splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(fit(text, width).split()) == " ".join(text.split())
    assert "\n    few words" in fit(text, 40)


def test_menus_fit_narrow_windows():
    moves = [f"play {value}x{count}" for value in "123R" for count in range(1, 10)]
    assert len(menu(moves, 10).splitlines()) == len(moves)
    for width in (30, 80):
        lines = menu(moves, width).splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) < len(moves)
        assert menu(moves, width).split() == " ".join(f"{number}) {move}" for number, move in enumerate(moves, 1)).split()
