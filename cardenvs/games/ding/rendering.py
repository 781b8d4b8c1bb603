"""Ding! as text."""

import numpy as np

from cardenvs.games.ding.cards import CARDS, EVENTS, VERSIONS, condition_of
from cardenvs.games.ding.rules import DRAWN, TURN


def text(view) -> str:
    """The table as the viewer sees it."""
    seats, viewer = range(view.num_seats), view.viewer
    pile = [CARDS[card] for card in view.discards[: view.num_discards]]
    lines = [f"Ding! Draw pile: {view.stock_size} cards. Discard pile, newest first: {' '.join(pile[::-1])}"]
    if view.num_reshuffled:
        places = view.reshuffled.tolist()
        old = [CARDS[places.index(place)] for place in range(1, view.num_reshuffled + 1)]
        lines.append(f"The pile at the last reshuffle, newest first: {' '.join(old)}")
    if view.event >= 0:
        lines.append(f"player_{view.subject} {EVENTS[view.event].removeprefix('somebody ')}.")
    lines.append(_prompt(view))
    for seat in seats:
        notes = [f"{view.hand_sizes[seat]} cards"]
        if called := [CARDS[card] for card in np.flatnonzero((view.called == 1) & (view.holder == seat))]:
            notes.append(f"falsely called {' '.join(called)}")
        if view.was_false[seat]:
            notes.append("was false since the last turn action")
        lines.append(f"  player_{seat}{' (you)' if seat == viewer else ''}: {', '.join(notes)}")
    if viewer >= 0:
        true_now = set(view.true_cards[: view.num_true].tolist())
        lines.append("Your hand:")
        for card in np.flatnonzero(view.holder == viewer).tolist():
            condition = condition_of(card, VERSIONS[view.conditions])
            lines.append(f"  {CARDS[card]}: {condition.label if condition else 'no condition'}{' (true now)' if card in true_now else ''}")
    return "\n".join(lines)


def _prompt(view) -> str:
    """Who is to act, as far as the viewer may know."""
    if view.terminated:
        return f"The game is over: player_{view.hand_sizes[: view.num_seats].argmin()} has won."
    if view.truncated:
        return "The game was broken off."
    if view.phase == TURN:
        return f"It is the turn of player_{view.turn}."
    if view.phase == DRAWN:
        return f"player_{view.seat} may play the card just drawn, {CARDS[view.drawn]}; next in turn is player_{view.turn}."
    return f"player_{view.seat} may call; if nobody does, player_{view.turn} is next in turn."
