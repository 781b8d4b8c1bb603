"""Ramino: Italian rummy with two packs and two jokers for 2-6 players; see the README beside this file."""

from collections.abc import Mapping
from typing import Any

from cardenvs.core.game import REWARD, Game, Option
from cardenvs.errors import InvalidOption
from cardenvs.games.ramino import cards, encoding, heuristics, rendering, rules


def check(num_players: int, options: Mapping[str, Any]) -> None:
    """A match is so many deals or goes to a target, not both (RA-19)."""
    if options["target"] is not None and options["num_deals"] != 1:
        raise InvalidOption(f"num_deals={options['num_deals']!r} is not allowed with a target: leave it out, or target=None")


GAME = Game(
    name="ramino",
    title="Ramino",
    version=0,
    players=range(2, 7),
    default_players=4,
    state=rules.STATE,
    options={
        "reward": REWARD,
        "hand_size": Option(13, "cards dealt to each seat (RA-02)", low=5, high=13),
        "throw_back": Option(
            False, "whether the type taken from the pile may be discarded in the same turn (RA-05)", choices=(False, True)
        ),
        "opening_points": Option(0, "least value of what a seat lays in the turn in which it opens (RA-09)", choices=(0, 40, 51)),
        "joker_reuse": Option("same_turn", "when a freed joker must be laid again (RA-12)", choices=("same_turn", "to_hand")),
        "ace_points": Option(11, "penalty points of an ace in hand (RA-16)", choices=(11, 10)),
        "num_deals": Option(1, "deals in a match (RA-19)"),
        "target": Option(None, "the match ends when a seat has so many penalty points, in place of `num_deals` (RA-19)", none=True),
    },
    actions=encoding.ACTIONS,
    observation=encoding.OBSERVATION,
    cards=cards.CARDS,
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
    check=check,
)
