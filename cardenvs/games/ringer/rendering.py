"""Ringer as text."""

from cardenvs.games.ringer.cards import KINDS, TEXTS, copies
from cardenvs.games.ringer.encoding import QUESTION_TEXTS
from cardenvs.games.ringer.rules import (
    ASKED,
    DISCARD,
    GIVE,
    NAME_ASK,
    NAME_STEAL,
    QUESTIONS,
    STARTER,
    STOLE,
    WAS_ASKED,
    WAS_ROBBED,
    WINDOW,
)

_CHOICES = {
    WINDOW: "may take the turn",
    NAME_ASK: "asks",
    NAME_STEAL: "steals",
    DISCARD: "puts a card under the draw pile",
    STARTER: "must play a first card",
}


def cards_text(cards, deck) -> str:
    """A set of cards in kind order, as `P3 B2-take W-reroll`."""
    return " ".join(TEXTS[kind] for kind in range(KINDS) for _ in range(copies(cards, kind, deck))) or "none"


def text(view) -> str:
    """The table as the viewer sees it."""
    pile = " ".join(TEXTS[kind] for kind in view.pile[: view.pile_size]) or "empty"
    lines = [f"Ringer; the die shows {view.die}, {view.stock_ends[1]} cards to draw{', end phase' if view.end_phase else ''}"]
    lines.append(f"Play Pile ({view.pile_size}): {pile}")
    if view.terminated:
        lines.append("The game is over.")
    elif view.phase == GIVE:
        lines.append(f"player_{view.seat} must give player_{view.turn} a card: {QUESTION_TEXTS[view.asked_what]}.")
    else:
        choice = _CHOICES.get(int(view.phase), "goes on" if view.played else "is to play")
        lines.append(f"player_{view.turn} is on turn; player_{view.seat} {choice}.")
    if view.passes:
        lines.append(f"Passes in a row: {view.passes}")
    for seat in range(view.num_seats):
        notes = [f"{view.hand_size[seat]} cards", f"won {view.won_size[seat]}"]
        if view.owed[seat]:
            notes.append("is owed a refill")
        if view.lacks[seat]:
            notes.append("lacks " + ", ".join(what for q, what in enumerate(QUESTION_TEXTS) if view.lacks[seat] >> q & 1))
        if seat != view.viewer and view.hand[seat].any():
            notes.append(f"has {cards_text(view.hand[seat], view.deck)}")
        lines.append(f"  player_{seat}{' (you)' if seat == view.viewer else ''}: {', '.join(notes)}")
    for i in range(view.num_asks):
        by, of = view.history[:, ASKED + i].argmax(), view.history[:, WAS_ASKED + i].argmax()
        what = QUESTION_TEXTS[view.answers[i, :QUESTIONS].argmax()]
        lines.append(f"  player_{by} asked player_{of} for {what}: {'yes' if view.answers[i, QUESTIONS + 1] else 'no'}")
    for i in range(view.num_steals):
        by, of = view.history[:, STOLE + i].argmax(), view.history[:, WAS_ROBBED + i].argmax()
        lines.append(f"  player_{by} stole from player_{of}")
    own = [
        f"{TEXTS[view.stock[(view.stock_ends[0] + place) % len(view.stock)]]} at {place}"
        for place in range(view.stock_ends[1])
        if view.stock[(view.stock_ends[0] + place) % len(view.stock)] >= 0
    ]
    if own:
        lines.append(f"Your cards in the draw pile, from its top 0: {', '.join(own)}")
    if view.viewer >= 0:
        lines.append(f"Your hand: {cards_text(view.hand[view.viewer], view.deck)}")
    return "\n".join(lines)
