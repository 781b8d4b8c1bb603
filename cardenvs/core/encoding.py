"""Codes of observations: kernels that write 0/1 features, and tables that name and read them again."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cardenvs.core import jit
from cardenvs.errors import InvalidAction


@jit.inline
def put_one_hot(out, at, size, value):
    """Set feature `value` of `size` (none if it is negative, the last if it is beyond); returns the place after them."""
    if value >= 0:
        out[at + min(np.int64(value), size - 1)] = 1
    return at + size


@jit.inline
def put_count(out, at, size, count):
    """Set the first `count` of `size` features (a thermometer); returns the place after them.

    Written eight features at a time, up to seven after its last are cleared: sections are written in ascending order.
    """
    if at + size + 8 <= len(out):
        for skip in range(0, size, 8):
            jit.put_ones(out, at + skip, min(max(count - skip, 0), 8, size - skip))
    else:
        for i in range(min(count, size)):
            out[at + i] = 1
    return at + size


def counts_writer(sizes: Sequence[int]) -> Callable:
    """A kernel `put(out, at, counts)` for a thermometer of each count, of the lengths `sizes`; like `put_count` otherwise."""
    ends = np.cumsum(sizes)
    words = [(k, skip, end - size + skip) for k, (size, end) in enumerate(zip(sizes, ends, strict=True)) for skip in range(0, size, 8)]
    entries, skips, places = np.array(words).T.copy()
    num_words, length, num_counts = len(words), int(ends[-1]), len(sizes)
    size_of = np.array(sizes)

    @jit.inline
    def put(out, at, counts):
        if at + length + 8 <= len(out):
            for k in range(num_words):
                jit.put_ones(out, at + places[k], min(max(counts[entries[k]] - skips[k], 0), 8))
            return at + length
        for k in range(num_counts):
            at = put_count(out, at, size_of[k], counts[k])
        return at

    return put


@jit.inline
def put_binary(out, at, bits, value):
    """Set the binary digits of `value`, lowest first, at most 2**bits - 1; returns the place after them."""
    value = min(value, (1 << bits) - 1)
    for i in range(bits):
        out[at + i] = (value >> i) & 1
    return at + bits


@dataclass(frozen=True)
class Section:
    """A named stretch of an observation: entries of `sizes` features each.

    By `code` an entry's features mean: `one-hot` one of `labels` (or of 0 … size - 1) or none; `count` a thermometer, worth
    `low` plus `step` for each feature that is set; `binary` a number's digits, lowest first; `flag` no (0) or yes (1).
    """

    name: str
    code: Literal["one-hot", "count", "binary", "flag"]
    sizes: tuple[int, ...]
    meaning: str
    labels: tuple[str, ...] | None = None
    low: int = 0
    step: int = 1

    @property
    def length(self) -> int:
        """Features in all."""
        return sum(self.sizes)

    def decode(self, features: np.ndarray) -> Any:
        """The value that `features` (int8 of shape (length,)) stand for; a list if there are several entries."""
        bits = features.tolist()
        ends = itertools.accumulate(self.sizes)
        values = [self._entry(bits[end - size : end]) for size, end in zip(self.sizes, ends, strict=True)]
        return values[0] if len(values) == 1 else values

    def _entry(self, bits: list[int]) -> Any:
        match self.code:
            case "one-hot":
                if 1 not in bits:
                    return None
                return self.labels[bits.index(1)] if self.labels else bits.index(1)
            case "count":
                return self.low + self.step * sum(bits)
            case "binary":
                return sum(bit << place for place, bit in enumerate(bits))
            case "flag":
                return bool(bits[0])


class ObservationTable:
    """The sections of a game's observation: first those of the table, then a block for each seat, the viewer's first and on clockwise.

    Every block has the same sections (`each_seat`); the blocks of absent seats are zero.
    """

    def __init__(self, *sections: Section, each_seat: Sequence[Section] = (), seats: int = 0):
        self.sections = sections
        self.each_seat = tuple(each_seat)
        self.seats = seats
        self.seats_start = sum(section.length for section in sections)
        self.block = sum(section.length for section in self.each_seat)
        self.size = self.seats_start + seats * self.block

    def places(self) -> list[tuple[Section, int]]:
        """Every section with the place of its first feature (in the viewer's block, if there is one for each seat)."""
        all_sections = (*self.sections, *self.each_seat)
        starts = np.cumsum([0] + [section.length for section in all_sections])
        return [(section, int(start)) for section, start in zip(all_sections, starts, strict=False)]

    def describe(self, observation: np.ndarray) -> dict[str, Any]:
        """Names and values of an observation of shape (size,); of sections for each seat, a list that begins with the viewer."""
        observation = np.asarray(observation)
        if observation.shape != (self.size,):
            raise ValueError(f"an observation of this game has shape ({self.size},), not {observation.shape}")
        values: dict[str, Any] = {}
        for section, start in self.places():
            if section in self.sections:
                values[section.name] = section.decode(observation[start : start + section.length])
            else:
                blocks = [start + seat * self.block for seat in range(self.seats)]
                values[section.name] = [section.decode(observation[at : at + section.length]) for at in blocks]
        return values


class ActionTable:
    """The actions of a game: families of texts, with contiguous ids in the order given (G-14)."""

    def __init__(self, *families: tuple[str, Sequence[str]]):
        self.texts = tuple(text for _, texts in families for text in texts)
        self.size = len(self.texts)
        starts = np.cumsum([0] + [len(texts) for _, texts in families])
        self.ranges = {name: range(int(a), int(a) + len(texts)) for (name, texts), a in zip(families, starts, strict=False)}
        self._ids = {text: number for number, text in enumerate(self.texts)}

    def text(self, action: int) -> str:
        """The text of an action id; raises `InvalidAction` if there is none of that id."""
        if not 0 <= action < self.size:
            raise InvalidAction(f"action {action} does not exist: ids are 0 … {self.size - 1}")
        return self.texts[action]

    def id(self, text: str) -> int:
        """The id of an action text; raises `InvalidAction` if it is no action's text."""
        if text not in self._ids:
            raise InvalidAction(f"no action is called {text!r}; actions are for example {', '.join(self.texts[:3])}, … {self.texts[-1]}")
        return self._ids[text]
