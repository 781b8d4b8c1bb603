"""Ramino as text."""

from cardenvs.games.ramino.cards import CARDS, RANKS, SUITS

_POSITIONS = (*RANKS, "A")


def cards_text(pair) -> str:
    """The cards of a pair of words, by suit and rank."""
    one, two = (int(word) for word in pair)
    bits = [56 if card == len(CARDS) - 1 else card // 13 * 14 + card % 13 for card in range(len(CARDS))]
    cards = [text for text, bit in zip(CARDS, bits, strict=True) for word in (one, two) if word >> bit & 1]
    return " ".join(cards) or "nothing"


def set_text(rank: int, code: int) -> str:
    """A set as `9 S H C`, jokers as `*`, `!` behind a fresh one."""
    suits = [SUITS[suit] for suit in range(4) if code >> 1 + suit & 1] + ["*"] * (code >> 5 & 3)
    return f"{RANKS[rank]} {' '.join(suits)}{'' if code & 1 else ' !'}"


def runs_text(view) -> list[str]:
    """Every run as `S 4 5 * 7`; `!` behind a fresh one. Each low end is paired with the first high end that fits."""
    runs = []
    for suit in range(4):

        def cells(pair, suit=suit):
            """The cells of a pair in this suit, ascending, each as often as it is there."""
            return [cell for cell in range(14) for word in pair if int(word) >> 14 * suit + cell & 1]

        naturals = cells(view.naturals)
        fresh = list(zip(cells(view.fresh_low), cells(view.fresh_high), strict=True))
        for ends in zip(cells(view.low), cells(view.high), strict=True):
            cards = []
            for cell in range(ends[0], ends[1] + 1):
                is_natural = cell in naturals
                if is_natural:
                    naturals.remove(cell)
                cards.append(_POSITIONS[cell] if is_natural else "*")
            if is_fresh := ends in fresh:
                fresh.remove(ends)
            runs.append(f"{SUITS[suit]} {' '.join(cards)}{' !' if is_fresh else ''}")
    return runs


def text(view) -> str:
    """The table as the viewer sees it."""
    lines = [f"Ramino, deal {view.deal + 1}" + (f" to {view.target} points" if view.target else f" of {view.num_deals}")]
    top = CARDS[view.pile[view.pile_size - 1]] if view.pile_size else "none"
    if view.terminated:
        lines.append("The match is over.")
    else:
        notes = ["draws" if view.phase == 0 else "lays or discards"]
        if view.taken >= 0:
            notes.append(f"took {CARDS[view.taken]}")
        if view.owed:
            notes.append(f"owes jokers: {view.owed}")
        if view.laid:
            notes.append(f"laid {view.laid} points")
        lines.append(f"player_{view.seat} {', '.join(notes)}. Stock {view.stock_size}, top of the pile {top} ({view.pile_size} cards).")
    sets = [set_text(rank, int(code)) for rank in range(13) for code in view.sets[rank] if code]
    lines.append(f"Table: {' | '.join([*sets, *runs_text(view)]) or 'nothing'}")
    for seat in range(view.num_seats):
        notes = [f"{view.cards[seat]} cards", f"{view.points[seat]} points"]
        if view.opened[seat]:
            notes.append("opened")
        if view.held[seat].any():
            notes.append(f"surely {cards_text(view.held[seat])}")
        if view.dealer == seat:
            notes.append("dealer")
        lines.append(f"  player_{seat}{' (you)' if seat == view.viewer else ''}: {', '.join(notes)}")
    if view.viewer >= 0:
        lines.append(f"Your hand: {cards_text(view.hand[view.viewer])}")
    return "\n".join(lines)
