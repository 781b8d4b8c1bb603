"""Kuhn poker for two players: the smallest whole game in our format; see the README beside this file."""

from cardenvs.core.game import REWARD, Game
from tests.toy.kuhn import encoding, heuristics, rendering, rules

GAME = Game(
    name="kuhn",
    title="Kuhn poker",
    version=0,
    players=range(2, 3),
    default_players=2,
    state=rules.STATE,
    options={"reward": REWARD},
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=rules.CARDS,
    deck=rules.deck,
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    step=rules.step,
    hide=rules.hide,
    resample=rules.resample,
    observe=encoding.observe,
    scores=rules.scores,
    choose_easy=heuristics.choose_easy,
    choose_strong=heuristics.choose_strong,
    text=rendering.text,
)
