"""Ding!: shedding with interruptions for 2-7 players; see the README beside this file."""

from cardenvs.core.game import REWARD, Game, Option
from cardenvs.games.ding import cards, encoding, heuristics, hidden, rendering, rules

_NO_YES = (False, True)

GAME = Game(
    name="ding",
    title="Ding!",
    version=0,
    players=range(2, cards.MAX_SEATS + 1),
    default_players=4,
    state=encoding.STATE,
    options={
        "reward": REWARD,
        "conditions": Option("v1", "the conditions that the cards print (DI-02)", choices=cards.VERSIONS),
        "hand_size": Option(8, "cards dealt to each seat (DI-04)", low=2, high=cards.MAX_HAND_SIZE),
        "voluntary_pass": Option(False, "a seat that could play may draw instead (DI-05)", choices=_NO_YES),
        "play_drawn": Option(False, "a drawn card that fits may be played at once (DI-05)", choices=_NO_YES),
        "race": Option("clockwise", "the order in which a window asks (DI-08)", choices=("clockwise", "random")),
        "starter_counts": Option(True, "pile conditions look at the first card too (DI-11)", choices=_NO_YES),
        "social_percent": Option(50, "how often an event follows a turn action, in percent (DI-12)", low=0, high=100),
        "false_dings": Option(False, "any card may be called, and a false call costs a card (DI-13)", choices=_NO_YES),
        "max_steps": Option(4000, "decisions after which the game is truncated (DI-14)"),
    },
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=cards.CARDS,
    deck=cards.deck,
    deal=rules.deal,
    legal_actions=rules.legal_actions,
    step=rules.step,
    hide=hidden.hide,
    resample=hidden.resample,
    observe=encoding.observe,
    scores=rules.scores,
    choose_easy=heuristics.choose_easy,
    choose_strong=heuristics.choose_strong,
    text=rendering.text,
    check=rules.check,
)
