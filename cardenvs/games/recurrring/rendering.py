"""ReCURRRing as text."""

from cardenvs.games.recurrring.cards import VALUES


def cards_text(counts) -> str:
    """Cards by value as `3x2 Rx4`."""
    return " ".join(f"{value}x{count}" for value, count in zip(VALUES, counts, strict=True) if count) or "nothing"


def text(view) -> str:
    """The table as the viewer sees it."""
    seats = range(view.num_seats)
    scored = [int(view.points[seat]) for seat in seats]
    lines = [f"ReCURRRing, game {view.game + 1} of {view.num_games}"]
    if view.terminated:
        lines.append("The match is over.")
    elif view.owner < 0:
        lines.append(f"The table is empty; player_{view.seat} leads.")
    else:
        lines.append(f"On the table: {VALUES[view.table_value]}x{view.table_count} of player_{view.owner}; player_{view.seat} is to play.")
    for seat in seats:
        notes = [f"{view.hand_size[seat]} cards", f"{scored[seat]} points", f"scored {cards_text(view.pile[seat])}"]
        if view.known[seat].any():
            notes.append(f"known {cards_text(view.known[seat])}")
        if view.face_down_count[seat]:
            notes.append(f"face down {VALUES[view.face_down_value[seat]]}x{view.face_down_count[seat]}")
        if view.passed[seat]:
            notes.append("passed")
        if view.first_out == seat:
            notes.append("out first")
        lines.append(f"  player_{seat}{' (you)' if seat == view.viewer else ''}: {', '.join(notes)}")
    if view.viewer >= 0:
        lines.append(f"Your hand: {cards_text(view.hand[view.viewer])}")
    return "\n".join(lines)
