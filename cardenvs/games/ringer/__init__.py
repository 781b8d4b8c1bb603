"""Ringer: matching a die, powers and stolen turns for 2-5 players; see the README beside this file."""

from cardenvs.core.game import REWARD, Game, Option
from cardenvs.games.ringer import cards, encoding, heuristics, rendering, rules

GAME = Game(
    name="ringer",
    title="Ringer",
    version=0,
    players=range(2, 6),
    default_players=4,
    state=encoding.STATE,
    options={
        "reward": REWARD,
        "deck": Option("default", "which copy of a number is doubled: the plain or the power card (RI-02)", choices=cards.DECKS),
        "wrap": Option(False, "whether 6 and 1 are neighbours (RI-09)", choices=(False, True)),
        "race": Option("clockwise", "in which order seats are asked to take the turn (RI-18)", choices=("clockwise", "random")),
        "starter_power": Option(True, "whether a first card's power acts (RI-23)", choices=(False, True)),
        "stall_limit": Option(2, "rounds of passes after which a card is turned (RI-25)"),
        "max_steps": Option(2000, "decisions after which the game is truncated (RI-26)"),
    },
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=cards.TEXTS,
    deck=cards.deck,
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
    wins_truncated=True,  # RI-26
)
