"""Face-down piles (G-03): a ring of cards in an array, with `ends = (place of the top card, number of cards)`.

Both arrays are fields of the game's record; the array is at least as long as the pile ever gets.
"""

from cardenvs.core import jit


@jit.kernel
def draw(cards, ends):
    """Take the top card; the pile must not be empty."""
    card = cards[ends[0]]
    ends[0] = (ends[0] + 1) % len(cards)
    ends[1] -= 1
    return card


@jit.kernel
def put_under(cards, ends, card):
    """Put `card` under the pile; there must be room."""
    cards[(ends[0] + ends[1]) % len(cards)] = card
    ends[1] += 1


@jit.kernel
def card_at(cards, ends, place):
    """The card `place` places from the top, which is place 0."""
    return cards[(ends[0] + place) % len(cards)]
