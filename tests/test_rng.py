"""Chance (G-06 … G-08) against an independent generator in plain Python, published values of SplitMix64, and piles (G-03)."""

from collections import Counter

import numpy as np
import pytest

import cardenvs
from cardenvs.core import rng
from cardenvs.core.piles import card_at, draw, put_under
from tests.common import Case

WORD = 2**64


class SplitMix64:
    """The generator of G-06, after its description."""

    def __init__(self, word: int):
        self.word = word

    def next(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) % WORD
        z = self.word
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return (self.next() >> 32) * n >> 32

    def shuffle(self, items: list) -> None:
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


PUBLISHED = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC],
    1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821],
}
"""First outputs after a seed: of 0 as in the tests of several languages' generators, of 1234567 as on Rosetta Code."""


@pytest.mark.parametrize("seed", PUBLISHED)
def test_published_values(seed: int):
    """G-06"""
    words = np.array([7, seed], np.uint64)
    reference = SplitMix64(seed)
    for value in PUBLISHED[seed]:
        assert int(rng.next_word(words, 1)) == value == reference.next()
    assert words[0] == 7


def test_words_wrap_around():
    """G-06: arithmetic is modulo 2**64."""
    for seed in (0, 1, 2**63, WORD - 1, WORD - 0x9E3779B97F4A7C15, 0x61C8864680B583EB):
        words, reference = np.array([seed], np.uint64), SplitMix64(seed)
        for _ in range(20):
            assert int(rng.next_word(words, 0)) == reference.next()
            assert int(words[0]) == reference.word


def test_below():
    """G-06: all bounds, `below(1)` draws too, and Rosetta Code's counts of 100,000 draws below five."""
    words, reference = np.array([5], np.uint64), SplitMix64(5)
    for n in (1, 2, 3, 6, 52, 106, 1000, 2**31 - 1, 2**31, 1):
        for _ in range(50):
            drawn = rng.below(words, 0, n)
            assert drawn == reference.below(n)
            assert 0 <= drawn < n
    assert int(words[0]) == reference.word
    words = np.array([987654321], np.uint64)
    counts = Counter(int(rng.below(words, 0, 5)) for _ in range(100_000))
    assert [counts[value] for value in range(5)] == [20027, 19892, 20073, 19978, 20030]


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 52, 106])
def test_shuffle(length: int, dtype: type):
    """G-07"""
    items: np.ndarray = np.arange(length, dtype=dtype)
    expected = list(range(length))
    words, reference = np.array([1, 2, 3], np.uint64), SplitMix64(3)
    rng.shuffle(words, 2, items)
    reference.shuffle(expected)
    assert items.tolist() == expected
    assert words.tolist() == [1, 2, reference.word]


def test_shuffles_are_fair():
    """G-07: all orders of three cards alike, within four standard errors."""
    words = np.array([8], np.uint64)
    orders: Counter = Counter()
    for _ in range(6000):
        items = np.arange(3)
        rng.shuffle(words, 0, items)
        orders[tuple(items.tolist())] += 1
    assert len(orders) == 6
    assert all(abs(count - 1000) < 4 * (1000 * 5 / 6) ** 0.5 for count in orders.values())


def lane_word(seed: int, lane: int = 0, lanes: int = 1) -> int:
    """G-08"""
    return int(np.random.SeedSequence(seed).generate_state(lanes, np.uint64)[lane])


def test_words_of_a_lane(case: Case):
    """G-08: every new game draws from the lane's word alone, in a single environment and in each lane of a batch."""
    seed = 12
    batch = case.make_vec(3)
    batch.reset(seed=seed)
    for lane in range(3):
        assert int(batch.states["seeds"][lane, 0]) == (lane_word(seed, lane, 3) + 0x9E3779B97F4A7C15) % WORD
    env = case.make()
    env.reset(seed=seed)
    reference = SplitMix64(lane_word(seed))
    for _ in range(3):
        reference.next()
        assert int(env.states["seeds"][0, 0]) == reference.word
        env.step(env.legal_actions()[0])
        env.reset()


def test_streams_of_a_game():
    """G-06, G-08: the four streams start at the first outputs from the game's own word; a deal draws from stream 0 alone."""
    env = cardenvs.make("kuhn-v0")
    env.reset(seed=4)
    lane = SplitMix64(lane_word(4))
    for _ in range(4):
        game = SplitMix64(lane.next())
        streams = [game.next() for _ in range(4)]
        deals, cards = SplitMix64(streams[0]), [0, 1, 2]
        deals.shuffle(cards)
        assert env.states["rng"][0].tolist() == [deals.word, *streams[1:]]
        assert env.states["hand"][0].tolist() == cards[:2]
        env.reset()


def test_piles():
    """G-03: like a list whose first card is the top, in a ring that is gone around many times."""
    cards, ends = np.zeros(5, np.int8), np.zeros(2, np.int8)
    expected: list[int] = []
    generator = np.random.default_rng(6)
    for card in range(400):
        if len(expected) < 5 and (not expected or generator.random() < 0.5):
            put_under(cards, ends, card % 100)
            expected.append(card % 100)
        else:
            assert draw(cards, ends) == expected.pop(0)
        assert ends[1] == len(expected)
        assert [card_at(cards, ends, place) for place in range(len(expected))] == expected
