"""Timbre: trick-taking race with trump, IN or OUT, and the DING, for 3-8 players; see the README beside this file."""

from cardenvs.core.game import REWARD, Game, Option
from cardenvs.games.timbre import cards, encoding, heuristics, rendering, rules

GAME = Game(
    name="timbre",
    title="Timbre",
    version=0,
    players=range(3, 9),
    default_players=4,
    state=encoding.STATE,
    options={
        "reward": REWARD,
        "wilds": Option(2, "wilds in the deck (TI-01)", low=2, high=3),
        "back_moves": Option("rising", "spaces back, from the zone at Start to that at Finish (TI-03)", choices=("rising", "falling")),
        "all_out": Option("void", "what a hand that nobody plays does (TI-07)", choices=("void", "dealer_in")),
        "race": Option("clockwise", "in what order seats may declare a DING (TI-09)", choices=("clockwise", "random")),
        "wild_must_follow": Option(True, "a wild must be played to a trump lead if it is the only trump (TI-11)", choices=(False, True)),
        "max_hands": Option(300, "hands after which the game is truncated (TI-15)"),
    },
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=cards.KINDS,
    deck=cards.deck,
    deal=encoding.deal,
    legal_actions=rules.legal_actions,
    step=encoding.step,
    hide=rules.hide,
    resample=rules.resample,
    observe=encoding.observe,
    scores=rules.scores,
    choose_easy=heuristics.choose_easy,
    choose_strong=heuristics.choose_strong,
    text=rendering.text,
)
