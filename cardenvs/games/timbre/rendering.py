"""Timbre as text."""

from cardenvs.games.timbre.cards import COLOURS, KINDS, NUM_CARDS, WILD
from cardenvs.games.timbre.encoding import PHASES
from cardenvs.games.timbre.rules import CHOOSING


def kind(card) -> str:
    """The text of a card."""
    return KINDS[min(card, WILD)]


def cards_text(cards) -> str:
    """A set of cards as `blue-4 green-D wild`."""
    return " ".join(kind(card) for card in range(NUM_CARDS) if int(cards) >> card & 1) or "nothing"


def text(view) -> str:
    """The table as the viewer sees it."""
    seats = range(view.num_seats)
    lines = [
        f"Timbre, hand {view.hand_number + 1} of at most {view.max_hands}; player_{view.dealer} dealt.",
        f"Trump is {COLOURS[view.trump]}; turned: {cards_text(view.community)}.",
    ]
    if view.terminated or view.truncated:
        lines.append("The game is over.")
    elif view.seat < 0:
        lines.append("The seats choose IN or OUT.")
    else:
        lines.append(f"player_{view.seat} is to act: {PHASES[view.phase]}.")
    if view.led >= 0:
        trick, leader = view.trick, view.leader[view.trick]
        order = [(leader + k) % view.num_seats for k in seats]
        cards = [f"player_{seat} {kind(view.played[seat, trick])}" for seat in order if view.played[seat, trick] >= 0]
        lines.append(f"Trick {trick + 1}: {', '.join(cards)}.")
    for seat in seats:
        lines.append(f"  player_{seat}{' (you)' if seat == view.viewer else ''}: {', '.join(_notes(view, seat))}")
    if view.ding_before >= 0:
        lines.append(f"player_{view.ding_before} declared a DING in the hand before.")
    if view.viewer >= 0:
        lines.append(f"Your hand: {cards_text(view.hand[view.viewer])}")
        if view.discarded[view.viewer]:
            lines.append(f"You discarded: {cards_text(view.discarded[view.viewer])}")
    return "\n".join(lines)


def _notes(view, seat) -> list[str]:
    """What everybody knows of a seat, and the viewer of itself."""
    notes = [f"space {view.position[seat]}"]
    if view.choice[seat] >= 0:
        notes.append("IN" if view.choice[seat] == 1 else "OUT")
    if view.exchanged[seat]:
        notes.append(f"exchanged {view.exchanged[seat]}")
    if view.phase > CHOOSING and view.choice[seat] == 1:
        notes.append(f"{view.tricks[seat]} tricks")
    played = [kind(card) for card in view.played[seat] if card >= 0]
    if played:
        notes.append(f"played {' '.join(played)}")
    void = [colour for bit, colour in enumerate((*COLOURS, "wild")) if view.void[seat] >> bit & 1]
    if void:
        notes.append(f"has no {' '.join(void)}")
    return notes
