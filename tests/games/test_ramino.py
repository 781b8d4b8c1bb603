"""Ramino rule by rule; ids are those of cardenvs/games/ramino/README.md.

`Turn` and `Referee` are a second reading of the page in plain Python, chance included, with lists of melds and card texts; seeded games
under many options are compared with them decision by decision. `completable` asks by full search what RA-20 and RA-09 promise.
Short scenes on fixed decks show each rule on its own.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.errors import IllegalAction, InvalidDeck, InvalidOption
from cardenvs.games.ramino import GAME
from tests.games.ramino_facts import counts as copies
from tests.games.ramino_facts import facts as facts_of
from tests.test_rng import SplitMix64

SUITS = "SHDC"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
AT = ("", *RANKS, "A")
CARDS = [rank + suit for suit in SUITS for rank in RANKS] + ["JK"]
FACE = {rank: int(rank) if rank.isdigit() else 11 if rank == "A" else 10 for rank in RANKS}
SUBSETS = ["".join(suits) for size in (3, 2, 1) for suits in itertools.combinations(SUITS, size)]
PATTERNS = ("nnn", "jnn", "njn", "nnj", "jjn", "jnj", "njj")
FIELDS = GAME.state.names or ()
DEFAULTS = {name: option.default for name, option in GAME.options.items()}


def value_at(position: int) -> int:
    """RA-09: face value of a place in a run; the ace is 1 at its low end."""
    return 1 if position == 1 else FACE[AT[position]]


class Set(NamedTuple):
    """A set on the table; `suits` are those of its naturals, in the order S H D C."""

    rank: str
    suits: str
    jokers: int
    fresh: bool

    @property
    def open(self) -> bool:
        return len(self.suits) + self.jokers == 3

    @property
    def order(self) -> tuple[int, int]:
        return self.jokers, sum(1 << SUITS.index(suit) for suit in self.suits)

    def plus(self, suits: str) -> "Set":
        return self._replace(suits="".join(suit for suit in SUITS if suit in self.suits + suits))

    @property
    def missing(self) -> str:
        return "".join(suit for suit in SUITS if suit not in self.suits)


class Run(NamedTuple):
    """A run on the table; `cards` are n and j from its low end on."""

    suit: str
    low: int
    cards: str
    fresh: bool

    @property
    def high(self) -> int:
        return self.low + len(self.cards) - 1

    def joker_at(self, position: int) -> bool:
        return self.low <= position <= self.high and self.cards[position - self.low] == "j"


def lacks(suit: str, entry: Set) -> bool:
    return suit not in entry.suits


def meant(runs: Iterable[Run]) -> Run:
    """Of runs that fit, a fresh one, else the oldest."""
    return min(runs, key=lambda run: not run.fresh)


def new_melds() -> Iterator[tuple[str, Set | Run, frozenset[str], int, int]]:
    """RA-06, RA-07: every new meld, as text and meld, with its naturals, its number of jokers and its value (RA-09)."""
    for rank, suits in itertools.product(RANKS, SUBSETS):
        cards = frozenset(rank + suit for suit in suits)
        yield f"set {rank} {suits}", Set(rank, suits, 3 - len(suits), True), cards, 3 - len(suits), 3 * FACE[rank]
    for suit, low, pattern in itertools.product(SUITS, range(1, 13), PATTERNS):
        cards = frozenset(AT[low + i] + suit for i in range(3) if pattern[i] == "n")
        value = sum(value_at(low + i) for i in range(3))
        yield f"run {suit}@{low} {pattern}", Run(suit, low, pattern, True), cards, pattern.count("j"), value


NEW_MELDS = list(new_melds())


@dataclass(frozen=True)
class Turn:
    """What a seat has before it once it has drawn. Runs stand in the order in which their three-card melds were laid."""

    options: dict
    hand: Counter
    sets: tuple[Set, ...] = ()
    runs: tuple[Run, ...] = ()
    opened: bool = False
    taken: str | None = None
    owed: int = 0
    laid: int = 0
    clean: bool = True

    def discardable(self) -> list[str]:
        """RA-05"""
        return [card for card in self.hand if card != self.taken or self.options["throw_back"]]

    def discards(self) -> list[str]:
        """RA-09, RA-12: not while something is owed, nor half-opened."""
        return [] if self.owed or self.laid else self.discardable()

    def lay(self, cards: Collection[str], jokers: int, value: int, **changes: Any) -> "Turn":
        """RA-12: owed jokers are laid first; RA-09: what is laid may open."""
        hand = self.hand - Counter(cards) - Counter({"JK": max(0, jokers - self.owed)})
        laid = 0 if self.opened else self.laid + value
        opened = self.opened or laid >= self.options["opening_points"]
        return replace(self, hand=hand, owed=max(0, self.owed - jokers), laid=0 if opened else laid, opened=opened, **changes)

    def free(self, cards: list[str], **changes: Any) -> "Turn":
        """RA-11, RA-12, RA-14"""
        to_hand = self.options["joker_reuse"] == "to_hand"
        hand = self.hand - Counter(cards) + Counter({"JK": int(to_hand)})
        return replace(self, hand=hand, owed=self.owed + (not to_hand), clean=False, **changes)

    def different(self, rank: str, fits: Callable[[Set], bool]) -> list[Set]:
        """The different open sets of a rank that fit, in the page's order; of equal ones a fresh one."""
        found: dict[tuple[int, int], Set] = {}
        for entry in self.sets:
            if entry.rank == rank and entry.open and fits(entry) and (entry.order not in found or entry.fresh):
                found[entry.order] = entry
        return [found[key] for key in sorted(found)]

    def with_set(self, old: Set, new: Set) -> tuple[Set, ...]:
        i = self.sets.index(old)
        return (*self.sets[:i], new, *self.sets[i + 1 :])

    def with_run(self, old: Run, new: Run) -> tuple[Run, ...]:
        i = self.runs.index(old)
        return (*self.runs[:i], new, *self.runs[i + 1 :])

    def melding(self) -> Iterator[tuple[str, "Turn"]]:
        """Every melding action whose own conditions hold, and the turn after it."""
        yield from self.new_melds()
        yield from self.additions()
        if self.opened:
            yield from self.exchanges()

    def new_melds(self) -> Iterator[tuple[str, "Turn"]]:
        """RA-06, RA-07"""
        jokers, held = self.hand["JK"] + self.owed, set(self.hand)
        for text, meld, cards, need, value in NEW_MELDS:
            if need <= jokers and cards <= held:
                sets, runs = ((meld,), ()) if isinstance(meld, Set) else ((), (meld,))
                yield text, self.lay(cards, need, value, sets=self.sets + sets, runs=self.runs + runs)

    def additions(self) -> Iterator[tuple[str, "Turn"]]:
        """RA-10; RA-09: a seat that has not opened adds to fresh melds alone. RA-14: a clean close adds to no others."""
        joker = self.hand["JK"] + self.owed > 0
        for rank in dict.fromkeys(entry.rank for entry in self.sets):
            for suit in SUITS:
                for k, entry in enumerate(self.different(rank, functools.partial(lacks, suit))):
                    if self.hand[rank + suit] and (self.opened or entry.fresh):
                        sets = self.with_set(entry, entry.plus(suit))
                        yield (
                            f"add-set {rank}{suit} #{k}",
                            self.lay([rank + suit], 0, FACE[rank], sets=sets, clean=self.clean and entry.fresh),
                        )
            for k, entry in enumerate(self.different(rank, lambda entry: entry.jokers < 2)):
                if joker and (self.opened or entry.fresh):
                    sets = self.with_set(entry, entry._replace(jokers=entry.jokers + 1))
                    yield f"add-set {rank}* #{k}", self.lay([], 1, FACE[rank], sets=sets, clean=self.clean and entry.fresh)
        lows = [("low", run.suit, run.low - 1) for run in self.runs if run.low > 1]
        highs = [("high", run.suit, run.high + 1) for run in self.runs if run.high < 14]
        for end, suit, at in dict.fromkeys(lows + highs):
            run = meant(run for run in self.runs if run.suit == suit and at == (run.low - 1 if end == "low" else run.high + 1))
            if not (self.opened or run.fresh):
                continue
            for card in "n" * (self.hand[AT[at] + suit] > 0) + "j" * joker:
                longer = run._replace(low=at, cards=card + run.cards) if end == "low" else run._replace(cards=run.cards + card)
                cards = [AT[at] + suit] if card == "n" else []
                changes = {"runs": self.with_run(run, longer), "clean": self.clean and run.fresh}
                yield f"{end} {suit}@{at}{'*' if card == 'j' else ''}", self.lay(cards, card == "j", value_at(at), **changes)

    def exchanges(self) -> Iterator[tuple[str, "Turn"]]:
        """RA-11"""
        jokers = [(run.suit, at) for run in self.runs for at, card in enumerate(run.cards, run.low) if card == "j"]
        for suit, position in dict.fromkeys(jokers):
            run = meant(run for run in self.runs if run.suit == suit and run.joker_at(position))
            if self.hand[AT[position] + suit]:
                place = position - run.low
                natural = run._replace(cards=run.cards[:place] + "n" + run.cards[place + 1 :])
                yield f"swap-run {suit}@{position}", self.free([AT[position] + suit], runs=self.with_run(run, natural))
        for rank in dict.fromkeys(entry.rank for entry in self.sets):
            for k, entry in enumerate(self.different(rank, lambda entry: entry.jokers == 1)):
                cards = [rank + suit for suit in entry.missing]
                if all(self.hand[card] for card in cards):
                    sets = self.with_set(entry, entry.plus(entry.missing)._replace(jokers=0))
                    yield f"swap-both {rank} #{k}", self.free(cards, sets=sets)
            for entry in self.sets:
                for suit in entry.missing if entry.rank == rank and entry.jokers == 2 else "":
                    if self.hand[rank + suit]:
                        sets = self.with_set(entry, entry.plus(suit)._replace(jokers=1))
                        yield f"swap-one {rank}{suit}", self.free([rank + suit], sets=sets)

    def safe(self) -> bool:
        """RA-20"""
        if not self.owed and self.discardable():
            return True
        return any(after.safe() for text, after in self.melding() if lays_joker(text) or text.startswith("swap"))

    def can_end(self) -> bool:
        """RA-20, and RA-09 where the seat has not opened."""
        if self.opened:
            return self.safe()
        most = sum(FACE.get(card[:-1], 11) * count for card, count in self.hand.items())
        return self.laid + most >= self.options["opening_points"] and any(after.can_end() for _, after in self.melding())

    def legal(self) -> dict[str, "Turn | None"]:
        """The legal actions, with the turn after those that do not end it."""
        found: dict[str, Turn | None] = {}
        found.update({f"discard {card}": None for card in self.discards()})
        found.update({text: after for text, after in self.melding() if after.can_end()})
        return found

    def key(self) -> tuple:
        return tuple(sorted(self.hand.items())), self.sets, self.runs, self.owed, self.laid, self.opened

    def completable(self, known: dict[tuple, bool]) -> bool:
        """Whether any sequence of melding actions at all leads to a discard."""
        if self.discards():
            return True
        key = self.key()
        if key not in known:
            known[key] = any(after.completable(known) for _, after in self.melding())
        return known[key]


def lays_joker(text: str) -> bool:
    """Whether a melding action lays a joker."""
    verb, *rest = text.split()
    return "*" in text or (verb == "set" and len(rest[1]) < 3) or (verb == "run" and "j" in rest[1])


@dataclass
class Referee:
    """A match by the page, chance included."""

    seed: int
    players: int
    options: dict
    deck: list[str] | None = None
    over: bool = False
    number: int = 0
    notes: Counter = field(default_factory=Counter)

    def __post_init__(self):
        game = SplitMix64(SplitMix64(int(np.random.SeedSequence(self.seed).generate_state(1, np.uint64)[0])).next())  # G-08
        self.deals, self.events, _, _ = (SplitMix64(game.next()) for _ in range(4))
        self.options = DEFAULTS | self.options
        self.totals = [0] * self.players
        self.dealer = self.deals.below(self.players)
        self.deal()

    def deal(self) -> None:
        """RA-02"""
        stock = [card for card in CARDS for _ in range(2)]
        self.deals.shuffle(stock)
        self.stock, self.deck = self.deck or stock, None
        self.hands = [Counter[str]() for _ in range(self.players)]
        self.seat = (self.dealer + 1) % self.players
        for i in range(self.players * self.options["hand_size"]):
            self.hands[(self.seat + i) % self.players][self.stock.pop(0)] += 1
        self.pile = [self.stock.pop(0)]
        self.held = [Counter[str]() for _ in self.hands]
        self.opened = [False for _ in self.hands]
        self.reshuffled, self.reshuffles, self.turns = Counter[str](), 0, 0
        self.now = Turn(self.options, self.hands[self.seat])
        self.drawing = True

    def legal(self) -> dict[str, Turn | None]:
        if not self.drawing:
            return self.now.legal()
        free = self.options["throw_back"] or set(self.now.hand) - {self.pile[-1]}  # RA-05
        return dict.fromkeys(["draw stock", "draw pile"] if free else ["draw stock"])

    def apply(self, text: str) -> list[float]:
        """One legal action; returns the rewards."""
        verb, _, card = text.partition(" ")
        if verb == "draw":
            taken = self.pile.pop() if card == "pile" else None
            self.held[self.seat] += Counter([taken] if taken else [])
            hand = self.now.hand + Counter([taken or self.stock.pop(0)])
            self.now, self.drawing = replace(self.now, hand=hand, taken=taken), False
        elif verb != "discard":
            before, self.now = self.now, dict(self.now.melding())[text]
            self.held[self.seat] += self.now.hand - before.hand  # a freed joker
            self.held[self.seat] -= before.hand - self.now.hand
        else:
            return self.discard(card)
        self.hands[self.seat] = self.now.hand
        return [0.0] * self.players

    def discard(self, card: str) -> list[float]:
        seat, now = self.seat, self.now
        self.hands[seat] = now.hand - Counter([card])
        self.held[seat] -= Counter([card])
        self.opened[seat] = now.opened
        if self.hands[seat] and not self.stock:  # RA-15
            self.events.shuffle(self.pile)
            self.stock, self.pile, self.reshuffled = self.pile, [], Counter(self.pile)
            self.reshuffles += 1
            self.notes["reshuffle"] += 1
        self.pile.append(card)
        self.turns += 1
        self.seat = (seat + 1) % self.players
        sets = tuple(entry._replace(fresh=False) for entry in now.sets)
        runs = tuple(run._replace(fresh=False) for run in now.runs)
        opened = self.opened[self.seat]
        self.now = Turn(self.options, self.hands[self.seat], sets, runs, opened, clean=not opened)
        self.drawing = True
        if not self.hands[seat]:
            return self.end(seat, now.clean)
        if self.turns == 60 * self.players:
            return self.end(None, False)
        return [0.0] * self.players

    def end(self, closer: int | None, clean: bool) -> list[float]:
        """RA-16 … RA-19"""
        self.notes["clean close" if clean else "no close" if closer is None else "close"] += 1
        penalties = [sum(self.penalty(card) * count for card, count in hand.items()) for hand in self.hands]
        if closer is not None:
            penalties = [0 if seat == closer else points + 25 * clean for seat, points in enumerate(penalties)]
        self.totals = [total + points for total, points in zip(self.totals, penalties, strict=True)]
        payoffs = [-float(points) for points in penalties]
        if closer is None:
            payoffs = [sum(penalties) / self.players - points for points in penalties]
        else:
            payoffs[closer] = float(sum(penalties))
        target = self.options["target"]
        self.over = max(self.totals) >= target if target else self.number + 1 == self.options["num_deals"]
        if not self.over:
            self.number += 1
            self.dealer = (self.dealer + 1) % self.players
            self.deal()
        if self.options["reward"] == "score":
            return [payoff / 100 for payoff in payoffs]
        if not self.over:
            return [0.0] * self.players
        best = [total == min(self.totals) for total in self.totals]
        if all(best):
            return [0.0] * self.players
        share = (self.players - sum(best)) / (sum(best) * (self.players - 1))
        return [share if won else -1 / (self.players - 1) for won in best]

    def penalty(self, card: str) -> int:
        """RA-16"""
        if card == "JK":
            return 25
        return self.options["ace_points"] if card[:-1] == "A" else FACE[card[:-1]]

    def facts(self, seat: int) -> dict:
        """What a seat may know, as `ramino_facts` lists it."""
        now = self.now
        on_table = Counter({"JK": now.owed + sum(entry.jokers for entry in now.sets) + sum(run.cards.count("j") for run in now.runs)})
        on_table += Counter(entry.rank + suit for entry in now.sets for suit in entry.suits)
        planes = {name: np.zeros((4, 15), int) for name in ("cover", "low", "high", "jokers", "fresh", "fresh_low", "fresh_high")}
        for run in now.runs:
            row = SUITS.index(run.suit)
            for prefix in ("", "fresh_") if run.fresh else ("",):
                planes[f"{prefix}low"][row, run.low] += 1
                planes[f"{prefix}high"][row, run.high] += 1
                planes[prefix.rstrip("_") or "cover"][row, run.low : run.high + 1] += 1
            for position, card in enumerate(run.cards, run.low):
                planes["jokers"][row, position] += card == "j"
                on_table[AT[position] + run.suit] += card == "n"
        sets: list[list] = [[] for _ in RANKS]
        for entry in sorted(now.sets, key=lambda entry: (not entry.open, entry.order, not entry.fresh)):
            suits = [SUITS.index(suit) for suit in entry.suits]
            sets[RANKS.index(entry.rank)].append({"suits": suits, "jokers": entry.jokers, "open": entry.open, "fresh": entry.fresh})
        seen = on_table + Counter(self.pile) + self.hands[seat]
        taken = None if now.taken is None or self.over else CARDS.index(now.taken)
        opened = [now.opened if other == self.seat else self.opened[other] for other in range(self.players)]
        return {
            "seat": seat,
            "hand": by_type(self.hands[seat]),
            "unseen": [2 - seen[card] for card in CARDS],
            "to_act": self.seat,
            "phase": "draw" if self.drawing else "meld",
            "dealer": self.dealer,
            "deal": self.number,
            "turns": self.turns,
            "runs": {name: plane.tolist() for name, plane in planes.items()},
            "sets": sets,
            "pile": [CARDS.index(card) for card in self.pile],
            "top": CARDS.index(self.pile[-1]) if self.pile else None,
            "stock_size": len(self.stock),
            "reshuffled": by_type(self.reshuffled),
            "reshuffles": self.reshuffles,
            "hand_sizes": [hand.total() for hand in self.hands],
            "opened": opened,
            "taken": taken,
            "taken_by": None if taken is None else self.seat,
            "held": [by_type(held) for held in self.held],
            "owed": now.owed,
            "laid_points": now.laid,
            "clean_possible": now.clean,
            "match_points": self.totals,
        }


def by_type(cards: Counter) -> list[int]:
    return [cards[card] for card in CARDS]


def legal(env) -> set[str]:
    return {env.action_text(action) for action in env.legal_actions()}


def compare(env, referee: Referee, seats: list[int]) -> None:
    """Who acts and how, and what these seats see."""
    assert env.agent_selection == f"player_{referee.seat}"
    assert legal(env) == set(referee.legal())
    for seat in seats:
        assert facts_of(env, f"player_{seat}") == referee.facts(seat)


def random_options(rng: np.random.Generator) -> dict:
    options: dict = {
        "hand_size": int(rng.integers(5, 14)),
        "throw_back": bool(rng.integers(2)),
        "opening_points": (0, 40, 51)[rng.integers(3)],
        "joker_reuse": ("same_turn", "to_hand")[rng.integers(2)],
        "ace_points": (11, 10)[rng.integers(2)],
        "reward": ("win", "score")[rng.integers(2)],
    }
    options |= {"target": (30, 101, 300)[rng.integers(3)]} if rng.random() < 0.5 else {"num_deals": int(rng.integers(1, 4))}
    return {name: option for name, option in options.items() if rng.random() < 0.6}


def rich_deck(rng: np.random.Generator, ranks: int = 6) -> list[str]:
    """A deck whose first cards are jokers and neighbouring ranks for the most part, so that hands can lay much."""
    first = int(rng.integers(13))
    wanted = {RANKS[(first + i) % 13] for i in range(ranks)}
    return sorted((card for card in CARDS for _ in range(2)), key=lambda card: rng.random() + (card != "JK" and card[:-1] not in wanted))


def pick(actions: list[str], rng: np.random.Generator, zeal: float) -> str:
    """An action, random but for how often a seat melds and takes from the pile; exchanges and jokers are liked best."""
    melding = [text for text in actions if not text.startswith("discard") and text != "draw stock"]
    rare = [text for text in melding if text.startswith("swap") or lays_joker(text)]
    if rare and rng.random() < zeal:
        return str(rng.choice(rare))
    return str(rng.choice(melding if melding and rng.random() < zeal else actions))


def kind(text: str) -> str:
    return text.split()[0] + (" *" if lays_joker(text) else "")


@functools.cache
def matches(players: int) -> Counter[str]:
    """Random matches under random options, every decision compared with the referee; returns what happened in them."""
    rng = np.random.default_rng(players)
    seen: Counter[str] = Counter()
    for seed in range(9):
        options = random_options(rng)
        env = cardenvs.make("ramino-v0", players, **options)
        deck = rich_deck(rng) if seed % 7 else None
        env.reset(seed=seed, options={"deck": deck} if deck else None)
        referee = Referee(seed, players, options, deck)
        zeal = (0.3, 0.7, 0.95)[seed % 3]
        for number in range(200):
            compare(env, referee, [referee.seat, int(rng.integers(players))] if number % 6 == 0 else [])
            text = pick(sorted(referee.legal()), rng, zeal)
            env.step(env.action_id(text))
            rewards = referee.apply(text)
            seen[kind(text)] += 1
            assert list(env.rewards.values()) == pytest.approx(rewards, abs=1e-9)
            assert env.scores() == [-points for points in referee.totals]
            assert env.terminations["player_0"] == referee.over
            assert not any(env.truncations.values())
            if referee.over:
                break
        assert [int(env.states["rng"][0, stream]) for stream in (0, 1)] == [referee.deals.word, referee.events.word]
        seen += referee.notes
        seen["deals"] += referee.number
    return seen


@pytest.mark.parametrize("players", GAME.players)
def test_matches_by_the_referee(players):
    """RA-01 … RA-20 with all options: every decision is as the page has it, rewards and draws too (G-09)."""
    seen = matches(players)
    for wanted in ("draw", "discard", "set", "set *", "run", "run *", "add-set", "low", "high", "swap-run"):
        assert seen[wanted] > 0, wanted


def test_the_matches_show_the_rare_actions():
    """RA-11, RA-13, RA-14, RA-19: they occur in the matches that were compared."""
    seen = sum((matches(players) for players in GAME.players), Counter())
    rare = ("add-set *", "low *", "high *", "swap-both", "swap-one", "close", "clean close", "deals", "reshuffle")
    for wanted in rare:
        assert seen[wanted] > 0, wanted


@pytest.mark.parametrize("opening_points", [0, 40, 51])
@pytest.mark.parametrize("joker_reuse", ["same_turn", "to_hand"])
@pytest.mark.parametrize("throw_back", [False, True])
def test_ra_09_and_ra_20_by_full_search(opening_points, joker_reuse, throw_back):
    """The mask hides no melding action after which the turn can still be ended, and shows none after which it cannot.

    All sequences of melding actions are tried, whatever they are, in small hands that hold neighbours and jokers.
    """
    options = {
        "opening_points": opening_points,
        "joker_reuse": joker_reuse,
        "throw_back": throw_back,
        "hand_size": 8 if opening_points else 5,
    }
    rng = np.random.default_rng([opening_points, len(joker_reuse), throw_back])
    hidden = shown = 0
    for seed in range(10 if opening_points else 12):
        env = cardenvs.make("ramino-v0", 2, **options)
        deck = rich_deck(rng, 3)
        env.reset(seed=seed, options={"deck": deck})
        referee = Referee(seed, 2, options, deck)
        known: dict[tuple, bool] = {}
        while referee.turns < 40 and not referee.over:
            actions = legal(env)
            if not referee.drawing:
                after = {text: turn.completable(known) for text, turn in referee.now.melding()}
                assert actions == {f"discard {card}" for card in referee.now.discards()} | {text for text in after if after[text]}
                shown += sum(after.values())
                hidden += len(after) - sum(after.values())
            else:
                known = {}
            text = pick(sorted(actions), rng, 0.8)
            env.step(env.action_id(text))
            referee.apply(text)
    assert shown > 30
    assert hidden > 10


# Scenes.


@functools.cache
def seed_for(players: int, dealer: int) -> int:
    """A seed with which this seat deals first."""
    env = cardenvs.make("ramino-v0", players)
    for seed in itertools.count():
        env.reset(seed=seed)
        if env.view("player_0")[0].dealer == dealer:
            return seed
    raise AssertionError


def table(*hands: str, up: str = "", stock: str = "", **options: Any):
    """A first deal in which the seats hold these cards and seat 0 begins; `up` is the first card of the pile.

    The longest hand tells the hand size, unless the option does. What is left open is filled up: hands with twos, threes, … of the
    rest, then pile and stock.
    """
    given = [hand.split() for hand in hands]
    options = {"hand_size": max(5, *map(len, given)), **options}
    named = [*up.split(), *stock.split(), *itertools.chain(*given)]
    rest = Counter(dict.fromkeys(CARDS, 2))
    rest.subtract(named)
    assert min(rest.values()) >= 0, "no such cards"
    left = sorted(rest.elements(), key=lambda card: (card == "JK", SUITS.find(card[-1]) % 2, RANKS.index(card[:-1]) if card != "JK" else 0))
    for hand in given:
        while len(hand) < options["hand_size"]:
            hand.append(left.pop(0))
    deck = [hand[i] for i in range(options["hand_size"]) for hand in given] + (up.split() or [left.pop(0)]) + stock.split() + left
    env = cardenvs.make("ramino-v0", len(hands), **options)
    env.reset(seed=seed_for(len(hands), len(hands) - 1), options={"deck": deck})
    return env


def play(env, *texts: str) -> None:
    for text in texts:
        env.step(env.action_id(text))


def idle(env, turns: int = 1) -> None:
    """The seat to act draws from the stock and throws that card."""
    for _ in range(turns):
        before = hand(env, int(env.agent_selection[-1]))
        seat = int(env.agent_selection[-1])
        play(env, "draw stock")
        (card,) = (hand(env, seat) - before).elements()
        play(env, f"discard {card}")


def seen(env, seat: int = 0) -> dict:
    """The facts of a seat, over absolute seats."""
    return facts_of(env, f"player_{seat}")


def hand(env, seat: int) -> Counter:
    return Counter(dict(zip(CARDS, seen(env, seat)["hand"], strict=True)))


def sets_of(env, rank: str) -> list[tuple[str, int]]:
    """The sets of a rank, as suits and jokers."""
    return [("".join(SUITS[suit] for suit in entry["suits"]), entry["jokers"]) for entry in seen(env)["sets"][RANKS.index(rank)]]


def melds(env) -> set[str]:
    """Legal actions but draws and discards."""
    return {text for text in legal(env) if text.split()[0] not in ("draw", "discard")}


def discards(env) -> set[str]:
    return {text.removeprefix("discard ") for text in legal(env) if text.startswith("discard")}


def returns(env) -> list[float]:
    return list(env.rewards.values())


def test_ra_01_cards_and_players():
    """RA-01: two packs and two jokers; 2 to 6 players, four unless told otherwise."""
    assert list(GAME.cards) == CARDS
    env = cardenvs.make("ramino-v0")
    assert env.num_players == 4
    assert Counter(GAME.cards[card] for card in GAME.deck(4, env.options)) == Counter(dict.fromkeys(CARDS, 2))
    for wrong in (1, 7):
        with pytest.raises(InvalidOption, match="2 to 6"):
            cardenvs.make("ramino-v0", wrong)


def test_ra_02_dealt_one_at_a_time_from_the_seat_after_the_dealer():
    deck = [card for card in CARDS for _ in range(2)]
    for players, dealer in ((2, 0), (4, 2), (6, 5)):
        env = cardenvs.make("ramino-v0", players)
        env.reset(seed=seed_for(players, dealer), options={"deck": deck})
        first = (dealer + 1) % players
        assert env.agent_selection == f"player_{first}"
        for i in range(players):
            assert hand(env, (first + i) % players) == Counter(deck[i : 13 * players : players])
        facts = seen(env)
        assert [CARDS[card] for card in facts["pile"]] == [deck[13 * players]]
        assert (facts["stock_size"], facts["dealer"]) == (105 - 13 * players, dealer)
        play(env, "draw stock")
        assert hand(env, first)[deck[13 * players + 1]] >= 1


@pytest.mark.parametrize("hand_size", range(5, 14))
def test_ra_02_hand_size(hand_size):
    env = cardenvs.make("ramino-v0", 6, hand_size=hand_size)
    env.reset(seed=hand_size)
    assert seen(env)["hand_sizes"] == [hand_size] * 6
    assert seen(env)["stock_size"] == 105 - 6 * hand_size


def test_ra_02_every_seat_may_deal_first():
    env = cardenvs.make("ramino-v0", 3)
    dealers = Counter[int]()
    for seed in range(60):
        env.reset(seed=seed)
        dealers[int(env.view("player_0")[0].dealer)] += 1
    assert min(dealers[seat] for seat in range(3)) > 8


def test_ra_03_draw_meld_discard():
    env = table("5S 5H 5D 9S QC", "", up="2H", stock="KD")
    assert legal(env) == {"draw stock", "draw pile"}
    play(env, "draw stock")
    assert discards(env) == {"5S", "5H", "5D", "9S", "QC", "KD"}
    assert melds(env) == {"set 5 SHD"}
    play(env, "set 5 SHD", "discard 9S")
    assert env.agent_selection == "player_1"
    assert legal(env) == {"draw stock", "draw pile"}
    assert hand(env, 0) == Counter(["QC", "KD"])
    with pytest.raises(IllegalAction):
        play(env, "discard QC")


def test_ra_04_only_the_top_of_the_pile_jokers_and_first_card_included():
    env = table("5S 5H 5D 9S QC", "8C", up="JK", stock="KD")
    play(env, "draw pile")
    assert hand(env, 0)["JK"] == 1
    assert seen(env, 1)["held"][0][CARDS.index("JK")] == 1  # all saw it
    play(env, "discard QC")
    assert seen(env)["top"] == CARDS.index("QC")
    play(env, "draw pile")
    assert hand(env, 1)["QC"] == 1
    assert seen(env)["pile"] == []


def test_ra_05_what_is_taken_is_not_thrown_in_the_same_turn():
    """RA-05: nor its twin; with `throw_back` both may be."""
    for throw_back in (False, True):
        env = table("9S 5H 5D QC KC", "", up="9S", stock="KD", throw_back=throw_back)
        play(env, "draw pile")
        assert hand(env, 0)["9S"] == 2
        assert ("9S" in discards(env)) == throw_back
        play(env, "discard QC")
        idle(env)
        play(env, "draw stock")
        assert "9S" in discards(env)  # next turn


@pytest.mark.parametrize("throw_back", [False, True])
def test_ra_05_taking_is_not_offered_to_a_hand_of_that_type_only(throw_back):
    env = table("9S 5H 5D 5S 5C", "7H", stock="KD 9S", throw_back=throw_back)
    play(env, "draw stock", "set 5 SHD", "add-set 5C #0", "discard KD")
    play(env, "draw stock", "discard 9S")
    assert hand(env, 0) == Counter(["9S"])
    assert legal(env) == ({"draw stock", "draw pile"} if throw_back else {"draw stock"})
    play(env, "draw stock")
    idle_card = next(iter(hand(env, 0) - Counter(["9S"])))
    play(env, f"discard {idle_card}" if throw_back else "discard 9S")
    assert not any(env.terminations.values())


def test_ra_06_sets():
    """RA-06: three of one rank in different suits, twins do not go together; a fourth may follow; jokers for up to two suits."""
    env = table("5S 5H 5D 5C 7S 7S 7H JK JK", "", stock="KD", opening_points=0)
    play(env, "draw stock")
    fives = {f"set 5 {suits}" for suits in SUBSETS}
    sevens = {"set 7 SH", "set 7 S", "set 7 H"}
    assert {text for text in legal(env) if text.startswith("set")} == fives | sevens | {"set K D"}
    play(env, "set 5 S")
    assert sets_of(env, "5") == [("S", 2)]
    assert "add-set 5* #0" not in legal(env)
    play(env, "add-set 5H #0")
    assert sets_of(env, "5") == [("SH", 2)]
    assert "add-set 5D #0" not in legal(env)  # four cards are all


def test_ra_07_runs():
    """RA-07: consecutive positions of one suit, the ace at either end, but not K-A-2."""
    env = table("AS 2S 3S QS KS 4H 5H 6D", "", stock="8D")
    play(env, "draw stock")
    assert melds(env) == {"run S@1 nnn", "run S@12 nnn"}
    play(env, "run S@1 nnn")
    assert "run S@12 nnn" not in legal(env)  # there was one ace only
    env = table("KS AS 2S JK JK 9H", "", stock="8D")
    play(env, "draw stock")
    runs = {text for text in legal(env) if text.startswith("run S")}
    assert runs == {
        *("run S@1 nnj", "run S@1 njj", "run S@1 jnj", "run S@2 njj", "run S@11 jjn", "run S@12 jnn"),
        *("run S@12 jnj", "run S@12 jjn"),
    }
    play(env, "run S@12 jnn")
    assert not any(text.startswith("high S") for text in legal(env))  # nothing follows an ace high
    assert "low S@11*" in legal(env)


def test_ra_07_a_run_of_fourteen_cards_with_both_aces():
    env = table("AS 2S 3S 4S 5S 6S 7S 8S 9S 10S JS 9H 8D", "QS KS AS 6H 6D 6C 3D", stock="2D 4D JK")
    play(env, "draw stock", "run S@1 nnn", *(f"high S@{position}" for position in range(4, 12)), "discard 2D")
    play(env, "draw stock", "set 6 HDC", "high S@12", "high S@13", "high S@14")
    assert seen(env)["runs"]["cover"][0] == [0] + [1] * 14
    assert seen(env)["runs"]["high"][0] == [0] * 14 + [1]
    play(env, "discard 4D", "draw stock")
    assert not any(text.startswith(("low S", "high S")) for text in legal(env))


def test_ra_07_at_least_one_natural_and_at_most_two_jokers():
    env = table("9S 3H 5D 7C JK JK", "", stock="QH")
    play(env, "draw stock")
    wanted = {"run S@7 jjn", "run S@8 jnj", "run S@9 njj"}
    assert {text for text in legal(env) if text.startswith("run S")} == wanted
    assert {text for text in legal(env) if text.startswith("set 9")} == {"set 9 S"}


def test_ra_08_melds_do_not_merge_and_equal_ones_lie_side_by_side():
    env = table("3S 4S 5S 6S 7S 8S 9H 9D 9C 9H 9D 9C 2H", "", stock="KD")
    play(env, "draw stock", "run S@3 nnn", "run S@6 nnn")
    runs = seen(env)["runs"]
    assert [position for position in range(15) if runs["low"][0][position]] == [3, 6]
    assert [position for position in range(15) if runs["high"][0][position]] == [5, 8]
    play(env, "set 9 HDC", "set 9 HDC")
    assert sets_of(env, "9") == [("HDC", 0), ("HDC", 0)]


def test_ra_08_and_ra_10_who_laid_a_meld_does_not_matter():
    env = table("3S 4S 5S 9H KC", "QS QH QD 6S 2S", stock="2D 4D")
    play(env, "draw stock", "run S@3 nnn", "discard 2D", "draw stock")
    assert "high S@6" not in legal(env)  # RA-10: not opened yet
    play(env, "set Q SHD")
    assert {"high S@6", "low S@2"} <= legal(env)
    play(env, "high S@6", "low S@2", "discard 4D")
    assert all(env.terminations.values())


@pytest.mark.parametrize(
    ("opening_points", "own", "offered"),
    [
        (0, "KS KH KD 9S 2H", {"set K SHD"}),
        (40, "KS KH KD 9S 2H", set()),
        (40, "KS KH KD 5S 5H 5D 2H", {"set K SHD", "set 5 SHD"}),
        (51, "KS KH KD 5S 5H 5D 2H", set()),
        (51, "KS KH KD 5S 5H 5D 7S 7H 7D 2H", {"set K SHD", "set 5 SHD", "set 7 SHD"}),
        (40, "KS KH KD KC", {"set K SHD", "set K SHC", "set K SDC", "set K HDC"}),
        (51, "KS KH KD KC", set()),
    ],
)
def test_ra_09_opening_points(opening_points, own, offered):
    """Only melds from which the points can be reached are offered; additions to fresh melds count."""
    env = table(own, "", stock="JC", opening_points=opening_points, hand_size=max(5, len(own.split())))
    play(env, "draw stock")
    assert melds(env) == offered


def test_ra_09_half_opened():
    """No discard before the points are reached; what is laid is shown to all; a seat counts as opened as soon as they are."""
    env = table("KS KH KD 5S 5H 5D 5C 9H 9S", "", stock="JC", opening_points=40)
    play(env, "draw stock", "set 5 SHD")
    assert (seen(env, 1)["laid_points"], seen(env, 1)["opened"]) == (15, [False, False])
    assert discards(env) == set()
    assert melds(env) == {"set K SHD", "add-set 5C #0"}
    play(env, "add-set 5C #0")
    assert seen(env, 1)["laid_points"] == 20
    play(env, "set K SHD")
    assert (seen(env, 1)["laid_points"], seen(env, 1)["opened"]) == (0, [True, False])
    assert discards(env) == {"9H", "9S", "JC"}


def test_ra_09_only_fresh_melds_count_before_the_points_are_reached():
    """Additions to melds of earlier turns, and exchanges, need an opened seat."""
    env = table("KS KH KD 5S 5H 5D 9H 9S JK", "KC 5C QS QH QD 7S 8S 9S 2C", stock="JC 2D", opening_points=40)
    play(env, "draw stock", "set K SHD", "set 5 SH", "discard JC", "draw stock")
    assert melds(env) == {"set Q SHD", "run S@7 nnn"}
    play(env, "set Q SHD")
    assert melds(env) == {"run S@7 nnn"}
    play(env, "run S@7 nnn")  # 30 + 24
    assert {"add-set KC #0", "add-set 5C #0"} <= legal(env)


@pytest.mark.parametrize(
    ("cards", "text", "value"),
    [
        ("AS AH AD", "set A SHD", 33),  # 11 in a set
        ("AS 2S 3S", "run S@1 nnn", 6),  # 1 at position 1
        ("QS KS AS", "run S@12 nnn", 31),  # 11 at position 14
        ("KS KH JK", "set K SH", 30),  # a joker as the card that it stands for
        ("JK 2H 3H", "run H@1 jnn", 6),
        ("QC KC JK", "run C@12 nnj", 31),
        ("9D JK JK", "run D@9 njj", 29),
        ("2S JK JK", "set 2 S", 6),
    ],
)
def test_ra_09_values(cards, text, value):
    env = table(f"{cards} 10S 10H 10D 10S 10H 10C", "", stock="JC", opening_points=51)
    play(env, "draw stock", text)
    assert (seen(env)["laid_points"], seen(env)["opened"]) == (value, [False, False])
    play(env, "set 10 SHD")
    assert seen(env)["laid_points"] == (value + 30 if value < 21 else 0)
    assert seen(env)["opened"][0] == (value >= 21)


def test_ra_10_adding():
    """To an open set a suit that is not there, to a run the next position at either end; jokers to both."""
    env = table("5S 5H 5D 7S 8S 9S 6S 10S 5C QC JK 5H 2D", "", stock="KD")
    play(env, "draw stock")
    assert not any(text.startswith(("add-set", "low", "high")) for text in legal(env))
    play(env, "set 5 SHD", "run S@7 nnn")
    assert {text for text in melds(env) if text.startswith(("add-set", "low", "high"))} == {
        *("add-set 5C #0", "add-set 5* #0", "low S@6", "high S@10", "low S@6*", "high S@10*"),
    }
    play(env, "add-set 5C #0", "high S@10*")
    assert {text for text in melds(env) if text.startswith(("add-set", "low", "high"))} == {"low S@6"}
    assert "swap-run S@10" in legal(env)


def test_actions_name_sets_by_their_jokers_and_suits():
    """k counts the different open sets that fit, by jokers and suits; equal sets count once, and a fresh one is used first."""
    env = table("5S 5H 5D 5S 5H 5C 9D 2C JK 8H", "5C 5D 4H 4D 4C JK", stock="KD QD", hand_size=10)
    play(env, "draw stock", "set 5 SHD", "set 5 SHC", "discard KD", "draw stock", "set 4 HDC")
    assert sets_of(env, "5") == [("SHD", 0), ("SHC", 0)]
    assert {text for text in melds(env) if text.startswith("add-set 5")} == {
        *("add-set 5C #0", "add-set 5D #0", "add-set 5* #0", "add-set 5* #1"),
    }
    play(env, "add-set 5* #1")
    assert sets_of(env, "5") == [("SHD", 0), ("SHC", 1)]


def test_ra_11_a_exchange_in_a_run():
    env = table("7S 9S JK 3H KC", "8S QS QH QD 2C", stock="4D 6D")
    play(env, "draw stock", "run S@7 njn", "discard 4D", "draw stock")
    assert "swap-run S@8" not in legal(env)  # opened seats only
    play(env, "set Q SHD", "swap-run S@8")
    runs = seen(env)["runs"]
    assert runs["jokers"][0] == [0] * 15
    assert runs["cover"][0][7:10] == [1, 1, 1]
    assert seen(env)["owed"] == 1
    assert hand(env, 1) == Counter(["2C", "6D"])
    assert "low S@6*" in legal(env)


def test_ra_11_b_exchange_in_an_open_set_with_one_joker():
    """Both missing suits together; with one of them alone added, the set of four is closed for good."""
    env = table("7S 7H JK 3H KC", "7D 7C QS QH QD", stock="4D 6D")
    play(env, "draw stock", "set 7 SH", "discard 4D", "draw stock", "set Q SHD")
    assert {"swap-both 7 #0", "add-set 7D #0", "add-set 7C #0"} <= legal(env)
    play(env, "swap-both 7 #0")
    assert sets_of(env, "7") == [("SHDC", 0)]
    assert seen(env)["owed"] == 1
    env = table("7S 7H JK 3H KC 2H", "7D 7C QS QH QD 2C", stock="4D 6D")
    play(env, "draw stock", "set 7 SH", "discard 4D", "draw stock", "set Q SHD", "add-set 7D #0")
    assert not any("7" in text for text in melds(env))


@pytest.mark.parametrize("closed", [False, True])
def test_ra_11_c_exchange_in_a_set_with_two_jokers(closed):
    """One missing suit for one joker, be it a set of three or four."""
    env = table("7S 7H JK JK 3H KC", "7D 7C QS QH QD 2C", stock="4D 6D")
    play(env, "draw stock", "set 7 S", *(["add-set 7H #0"] if closed else []), "discard 4D", "draw stock", "set Q SHD")
    assert {"swap-one 7D", "swap-one 7C"} <= legal(env)
    play(env, "swap-one 7C")
    assert sets_of(env, "7") == [("SHC" if closed else "SC", 1)]
    assert seen(env)["owed"] == 1


def owing(joker_reuse: str):
    """Seat 1 has freed a joker; a run and its own queens lie on the table."""
    env = table("7S 9S JK 3H KC", "8S QS QH QD 2C", stock="4D 6D", joker_reuse=joker_reuse)
    play(env, "draw stock", "run S@7 njn", "discard 4D", "draw stock", "set Q SHD", "swap-run S@8")
    return env


def test_ra_12_a_freed_joker_is_laid_again_in_the_same_turn():
    env = owing("same_turn")
    assert discards(env) == set()
    assert hand(env, 1)["JK"] == 0
    assert seen(env)["held"][1] == [0] * 53
    assert melds(env) == {"low S@6*", "high S@10*", "add-set Q* #0"}  # a new meld would take both cards that are left
    play(env, "add-set Q* #0")
    assert (seen(env)["owed"], discards(env)) == (0, {"2C", "6D"})


def test_ra_12_with_to_hand_it_may_be_kept_or_thrown():
    env = owing("to_hand")
    assert discards(env) == {"2C", "6D", "JK"}
    assert hand(env, 1)["JK"] == 1
    assert seen(env)["held"][1][CARDS.index("JK")] == 1
    assert seen(env)["owed"] == 0
    play(env, "discard JK")
    assert seen(env)["held"][1] == [0] * 53
    assert seen(env)["top"] == CARDS.index("JK")


def test_ra_12_laying_pays_the_debt_first():
    """A seat that owes a joker and holds one keeps its own, and what is surely held."""
    env = table("7S 9S JK 3H KC", "8S QS QH QD 2C 3D", up="2D", stock="4D 6D", hand_size=6)
    play(env, "draw stock", "run S@7 njn", "discard 4D")
    env.states["hand"][0, 1, 0] |= 1 << 56  # a joker that all saw
    env.states["held"][0, 1, 0] |= 1 << 56
    env.states["cards"][0, 1] += 1
    play(env, "draw stock", "set Q SHD", "swap-run S@8", "high S@10*")
    assert (seen(env)["owed"], hand(env, 1)["JK"], seen(env)["held"][1][52]) == (0, 1, 1)
    play(env, "low S@6*")
    assert (hand(env, 1)["JK"], seen(env)["held"][1][52]) == (0, 0)


def test_ra_13_closing_takes_a_discard():
    """All must be laid but one card, and the deal is over at once; laying everything is not allowed."""
    env = table("5S 5H 5D 9S 10S", "", "", stock="JS")
    play(env, "draw stock")
    assert melds(env) == {"set 5 SHD", "run S@9 nnn"}
    play(env, "set 5 SHD")
    assert melds(env) == set()  # the run would leave no card to discard
    env = table("5S 5H 5D 5C 9S", "", "", stock="JS 2H 3H 10S")
    play(env, "draw stock", "set 5 SHD", "add-set 5C #0", "discard JS")
    idle(env, 2)
    assert hand(env, 0) == Counter(["9S"])
    play(env, "draw stock", "discard 9S")
    assert hand(env, 0) == Counter(["10S"])
    assert not any(env.terminations.values())  # who draws a card and throws one keeps one


def closing(middle: list[str], own: str, stock: str, **options):
    """Seat 0 lays what it lays and closes with KD in its first turn; the scores."""
    env = table(own, "2S 3H 4D 6C AC", stock=stock, **options)
    play(env, "draw stock", *middle, "discard KD")
    assert all(env.terminations.values())
    return env


def test_ra_14_clean_close():
    """25 more for each loser; enlarging a fresh meld is clean."""
    env = closing(["set 5 SHD", "add-set 5C #0", "set 9 SHD"], "5S 5H 5D 5C 9S 9H 9D", "KD", hand_size=7)
    others = sum(hand(env, 1).values())
    assert others == 7
    expected = sum(25 if card == "JK" else FACE[card[:-1]] for card in hand(env, 1).elements()) + 25
    assert env.scores() == [0, -expected]


def test_ra_14_a_joker_exchange_in_a_fresh_meld_is_not_clean():
    env = table("6S 7S 8S 9S JK", "2S 3H 4D 6C AC", stock="KD")
    play(env, "draw stock", "run S@7 njn", "low S@6")
    assert seen(env, 1)["clean_possible"]
    play(env, "swap-run S@8")
    assert not seen(env, 1)["clean_possible"]
    play(env, "high S@10*", "discard KD")
    assert env.scores() == [0, -(2 + 3 + 4 + 6 + 11)]


def test_ra_14_laid_before_or_added_to_an_old_meld_is_not_clean():
    env = table("5S 5H 5D 9S 9H", "5C QS QH QD 2C", "", stock="9D KD 4D KC 8D")
    play(env, "draw stock", "set 5 SHD", "discard 9D")
    play(env, "draw stock", "set Q SHD")
    assert seen(env)["clean_possible"]
    play(env, "add-set 5C #0")
    assert not seen(env)["clean_possible"]
    play(env, "discard 2C")
    idle(env)
    assert not seen(env)["clean_possible"]  # seat 0 has laid something before
    play(env, "draw stock")
    assert not seen(env)["clean_possible"]


def test_ra_15_reshuffle():
    """The discard that follows the last card of the stock starts the new pile; the rest of the old one is shuffled (stream 1)."""
    env = table("5S 5H 5D 9S 10S", "", stock="KD")
    empty_stock(env)
    play(env, "draw stock")
    assert seen(env)["stock_size"] == 0
    old = [CARDS[card] for card in seen(env)["pile"]]
    events = SplitMix64(int(env.states["rng"][0, 1]))
    play(env, "discard 9S")
    facts = seen(env)
    assert facts["pile"] == [CARDS.index("9S")]
    assert (facts["stock_size"], facts["reshuffles"]) == (len(old), 1)
    assert facts["reshuffled"] == by_type(Counter(old))
    events.shuffle(old)
    for seat, card in zip((1, 0, 1), old, strict=False):
        before = hand(env, seat)
        play(env, "draw stock")
        assert hand(env, seat) - before == Counter([card])
        play(env, next(text for text in sorted(legal(env)) if text.startswith("discard")))


def empty_stock(env) -> None:
    """Put all of the stock but one card on the pile, below the top."""
    state = env.states
    size, pile = int(state["stock_size"][0]), int(state["pile_size"][0])
    moved = state["stock"][0, 106 - size : 105].copy()
    state["pile"][0, : size - 1 + pile] = np.concatenate([moved, state["pile"][0, :pile]])
    state["pile_size"], state["stock_size"] = size - 1 + pile, 1
    for card in moved.tolist():
        bit = 1 << 14 * (card // 13) + card % 13
        state["shown"][0, 1] |= state["shown"][0, 0] & bit
        state["shown"][0, 0] |= bit


def test_ra_15_a_close_never_reshuffles():
    env = table("5S 5H 5D 9S 10S JS", "", stock="KD")
    empty_stock(env)
    words = env.states["rng"].copy()
    play(env, "draw stock")
    assert seen(env)["stock_size"] == 0
    own = hand(env, 0)
    play(env, "set 5 SHD", "run S@9 nnn")
    (last,) = (own - Counter(["5S", "5H", "5D", "9S", "10S", "JS"])).elements()
    play(env, f"discard {last}")
    assert all(env.terminations.values())
    assert (env.states["rng"] == words).all()
    assert seen(env)["reshuffles"] == 0


@pytest.mark.parametrize(("ace_points", "expected"), [(11, 2 + 10 + 11 + 25 + 10 + 10), (10, 2 + 10 + 10 + 25 + 10 + 10)])
def test_ra_16_penalties(ace_points, expected):
    """Face values, J Q K 10, the ace as the option says, a joker 25."""
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", stock="KD", ace_points=ace_points)
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    assert env.scores() == [0, -expected - 25]


def last_turn(env, turn: int) -> None:
    """Make the next turn the turn of that number, from 1."""
    env.states["turns"] = turn - 1


@pytest.mark.parametrize("reward", ["win", "score"])
def test_ra_17_and_ra_18_the_turn_limit(reward):
    """After 60 turns a seat the deal is over; all count, and are paid the mean less their own. It is a termination."""
    env = table("2S 2H 3D 4S 5S", "QS QH KD KS 9S", "10S JH 8D 7S 6S", stock="2C", reward=reward)
    last_turn(env, 180)
    play(env, "draw stock")
    assert not any(env.terminations.values())
    play(env, "discard 2C")
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    points = [16, 49, 41]
    assert env.scores() == [-point for point in points]
    mean = sum(points) / 3
    assert returns(env) == pytest.approx([1, -0.5, -0.5] if reward == "win" else [(mean - point) / 100 for point in points])


def test_ra_17_a_close_in_the_last_turn_is_a_close():
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", stock="KD", reward="score")
    last_turn(env, 120)
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    assert env.scores() == [0, -93]
    assert returns(env) == pytest.approx([0.93, -0.93])


def test_ra_17_the_turn_before_is_none():
    env = table("2S 2H 3D 4S 5S", "QS QH KD KS 9S", stock="2C")
    last_turn(env, 119)
    play(env, "draw stock", "discard 2C")
    assert not any(env.terminations.values())
    assert seen(env)["turns"] == 119


def test_ra_15_the_last_turn_reshuffles_before_its_discard():
    """RA-15, RA-17: even in the last deal."""
    env = table("2S 2H 3D 4S 5S", "QS QH KD KS 9S", stock="2C")
    empty_stock(env)
    last_turn(env, 120)
    words = env.states["rng"].copy()
    play(env, "draw stock", "discard 2S")
    assert all(env.terminations.values())
    assert (env.states["rng"] != words).tolist() == [[False, True, False, False]]
    assert seen(env)["pile"] == [CARDS.index("2S")]


def test_ra_18_the_closer_gets_what_the_others_lose():
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", "3H 4H 6H 7H 8H 9H", stock="KD", reward="score")
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    assert returns(env) == pytest.approx([(93 + 62) / 100, -93 / 100, -62 / 100])
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", "3H 4H 6H 7H 8H 9H", stock="KD")
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    assert returns(env) == pytest.approx([1, -0.5, -0.5])


def test_ra_19_deals_and_totals():
    """`num_deals`: totals add up, the deal goes on clockwise; `win` is paid at the end only, `score` after each deal."""
    for reward in ("win", "score"):
        env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", stock="KD", num_deals=2, reward=reward)
        play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
        assert not any(env.terminations.values())
        assert returns(env) == pytest.approx([0, 0] if reward == "win" else [0.93, -0.93])
        facts = seen(env)
        assert (facts["deal"], facts["dealer"], facts["to_act"]) == (1, 0, 1)
        assert facts["match_points"] == [0, 93]
        assert (facts["turns"], facts["opened"], facts["stock_size"]) == (0, [False, False], 93)
        last_turn(env, 120)
        idle(env)
        assert all(env.terminations.values())
        assert env.scores()[1] < -93


@pytest.mark.parametrize(("target", "ends"), [(93, True), (94, False), (101, False), (1, True)])
def test_ra_19_target(target, ends):
    """The match ends after the deal in which a total reaches the target."""
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", stock="KD", target=target)
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    assert all(env.terminations.values()) == ends
    assert returns(env) == ([1, -1] if ends else [0, 0])


def test_ra_19_lowest_total_wins_and_ties_share():
    env = table("2S 2H 3D 4S 5S", "2D 2C 3S 4H 5H", "10S JH 8D 7S 6S", stock="QC")
    last_turn(env, 180)
    play(env, "draw stock", "discard QC")
    assert env.scores() == [-16, -16, -41]
    assert returns(env) == pytest.approx([0.25, 0.25, -0.5])


def test_ra_19_a_target_takes_no_num_deals():
    cardenvs.make("ramino-v0", target=101, num_deals=1)
    with pytest.raises(InvalidOption, match="num_deals"):
        cardenvs.make("ramino-v0", target=101, num_deals=2)


def test_ra_20_no_meld_that_leaves_nothing_to_throw():
    """The only other card is of the type taken from the pile."""
    env = table("5S 5H 9S 10S JS", "", up="5D")
    play(env, "draw pile")
    play(env, "run S@9 nnn")
    assert melds(env) == set()
    assert discards(env) == {"5S", "5H"}
    env = table("5S 5H 5C 5D 9S", "", up="9S")
    play(env, "draw pile", "set 5 SHD")
    assert discards(env) == {"5C"}
    assert melds(env) == set()  # with 5C added, two 9S would be left


def test_ra_20_no_exchange_whose_joker_has_no_place():
    env = table("7S 7H JK 3H KC", "7D 7C QS QH QD QC", stock="4D 6D")
    play(env, "draw stock", "set 7 SH", "discard 4D", "draw stock", "set Q SHD", "add-set QC #0")
    assert "swap-both 7 #0" not in legal(env)  # 6D and a card that was filled in: no place for the joker
    assert "add-set 7D #0" in legal(env)


@pytest.mark.parametrize("players", [2, 4, 6])
def test_conservation_of_cards(players):
    """Hands, stock, pile, table and owed jokers are always the whole deck."""
    rng = np.random.default_rng(players)
    env = cardenvs.make("ramino-v0", players, joker_reuse=("same_turn", "to_hand")[players // 4])
    for seed in range(3):
        env.reset(seed=seed, options={"deck": rich_deck(rng)})
        for _ in range(250):
            assert everywhere(env.states.view(np.recarray)[0]) == [2] * 53
            if all(env.terminations.values()):
                break
            play(env, pick(sorted(legal(env)), rng, 0.6))


def everywhere(state) -> list[int]:
    """Copies of each type in a state."""
    found = np.sum([copies(pair) for pair in state.hand], axis=0) + copies(on_runs(state.naturals))
    for card in [*state.pile[: state.pile_size], *state.stock[106 - state.stock_size :]]:
        found[card] += 1
    for rank in range(13):
        for code in state.sets[rank].tolist():
            for suit in range(4):
                found[13 * suit + rank] += code >> 1 + suit & 1
            found[52] += code >> 5 & 3
    found[52] += state.owed + sum(int(word).bit_count() for word in state.jokers)
    return found.tolist()


def on_runs(pair) -> tuple[int, int]:
    """Cells as types: an ace high is the ace."""
    total = Counter(place - 13 if place % 14 == 13 else place for word in pair for place in range(56) if int(word) >> place & 1)
    return sum(1 << place for place in total), sum(1 << place for place, number in total.items() if number > 1)


@pytest.mark.parametrize("players", [2, 3, 6])
def test_resampled_states_are_consistent(players):
    """The whole deck; hand sizes and surely held cards; after a reshuffle nothing else in the stock; the same view again."""
    rng = np.random.default_rng(players)
    words = np.array([players], np.uint64)
    reshuffled = changed = 0
    env = cardenvs.make("ramino-v0", players)
    for seed in range(2):
        env.reset(seed=seed)
        for number in range(300):
            if all(env.terminations.values()):
                break
            if number % 3 == 0:
                seat = int(rng.integers(players)) if number % 2 else int(env.agent_selection[-1])
                truth = env.states.view(np.recarray)[0]
                view, drawn, again = (new_states(GAME.state, 1) for _ in range(3))
                GAME.loops.view_one(env.states, seat, view)
                GAME.loops.resample_one(view, words, drawn)
                GAME.loops.view_one(drawn, seat, again)
                assert all((again[name] == view[name]).all() for name in FIELDS)
                state = drawn.view(np.recarray)[0]
                assert everywhere(state) == [2] * 53
                for other in range(players):
                    held, held_then = copies(truth.held[other]), copies(state.hand[other])
                    assert sum(held_then) == truth.cards[other]
                    assert all(a <= b for a, b in zip(held, held_then, strict=True))
                if truth.reshuffles:
                    stock = np.bincount(state.stock[106 - state.stock_size :], minlength=53)
                    assert (stock <= copies(truth.reshuffled)).all()
                    reshuffled += 1
                changed += (drawn["hand"] != env.states["hand"]).any()
            play(env, pick(sorted(legal(env)), rng, 0.15))
    assert changed > 60
    assert reshuffled > 20 or players < 6


def test_options_and_decks_are_checked():
    bad: list[dict] = [{"hand_size": 4}, {"hand_size": 14}, {"throw_back": 1}, {"opening_points": 30}, {"joker_reuse": "never"}]
    bad += [{"ace_points": 1}, {"num_deals": 0}, {"target": 0}, {"target": "101"}, {"target": 1.5}, {"reward": "points"}, {"rounds": 3}]
    for options in bad:
        with pytest.raises(InvalidOption):
            cardenvs.make("ramino-v0", **options)
    env = cardenvs.make("ramino-v0")
    deck = [card for card in CARDS for _ in range(2)]
    for wrong in (deck[1:], [*deck[:-1], "AS"], [*deck, "JK"], [*deck[:-1], "XX"]):
        with pytest.raises(InvalidDeck):
            env.reset(options={"deck": wrong})


def page_actions() -> Iterator[str]:
    """The table of the page, block by block."""
    yield from ("draw stock", "draw pile")
    yield from (f"discard {card}" for card in CARDS)
    subsets = [[suits for suits in range(16) if bin(suits).count("1") == size] for size in (3, 2, 1)]
    for rank in RANKS:
        for suits in itertools.chain(*subsets):
            yield f"set {rank} {''.join(SUITS[suit] for suit in range(4) if suits >> suit & 1)}"
    for suit, low, pattern in itertools.product(SUITS, range(1, 13), PATTERNS):
        yield f"run {suit}@{low} {pattern}"
    for rank, suit, k in itertools.product(RANKS, SUITS, range(2)):
        yield f"add-set {rank}{suit} #{k}"
    for rank, k in itertools.product(RANKS, range(3)):
        yield f"add-set {rank}* #{k}"
    for end in ("", "*"):
        yield from (f"low {suit}@{position}{end}" for suit in SUITS for position in range(1, 12))
        yield from (f"high {suit}@{position}{end}" for suit in SUITS for position in range(4, 15))
    yield from (f"swap-run {suit}@{position}" for suit in SUITS for position in range(1, 15))
    yield from (f"swap-both {rank} #{k}" for rank in RANKS for k in range(2))
    yield from (f"swap-one {rank}{suit}" for rank in RANKS for suit in SUITS)


def test_actions_of_the_page():
    """G-14: 1026 actions in the order of the page."""
    assert list(GAME.actions.texts) == list(page_actions())
    first = {"draw stock": 0, "discard AS": 2, "set A SHD": 55, "run S@1 nnn": 237, "add-set AS #0": 573, "add-set A* #0": 677}
    first |= {"low S@1": 716, "high S@4": 760, "low S@1*": 804, "high S@4*": 848, "swap-run S@1": 892, "swap-both A #0": 948}
    first |= {"swap-one AS": 974, "swap-one KC": 1025, "discard JK": 54}
    for text, action in first.items():
        assert GAME.actions.id(text) == action


def test_illegal_and_malformed_actions_change_nothing():
    env = table("5S 5H 9S 10S JS", "", up="5D")
    before = env.states.copy()
    for action in (GAME.actions.id("discard 5S"), GAME.actions.id("set 5 SHD"), -1, 1026, "draw stock"):
        with pytest.raises((IllegalAction, cardenvs.errors.InvalidAction)):
            env.step(action)
    assert all((env.states[name] == before[name]).all() for name in FIELDS)


def test_the_mask_is_a_function_of_the_movers_observation():
    """Seen from what the mover observes: equal observations never have different masks, whatever the other seats hold."""
    words = np.array([1], np.uint64)
    rng = np.random.default_rng(1)
    env = cardenvs.make("ramino-v0", 3, hand_size=7, opening_points=40)
    env.reset(seed=1, options={"deck": rich_deck(rng)})
    for _ in range(150):
        if all(env.terminations.values()):
            break
        seat = int(env.agent_selection[-1])
        views = [new_states(GAME.state, 1) for _ in range(2)]
        GAME.loops.view_one(env.states, seat, views[0])
        GAME.loops.resample_one(views[0], words, views[1])
        found = []
        for states in (env.states, views[1]):
            observation, mask = np.zeros(GAME.observation.size, np.int8), np.zeros(GAME.actions.size, np.int8)
            GAME.loops.observe_one(states, seat, new_states(GAME.state, 1), observation, mask)
            found.append((observation.tolist(), mask.tolist()))
        assert found[0] == found[1]
        play(env, pick(sorted(legal(env)), rng, 0.6))


def test_every_number_of_a_long_match_is_seen():
    """Deal numbers, totals and the target are exact within the sizes of their sections."""
    env = table("5S 5H 5D 9S 10S JS", "2H AC JK QC KH 10D", stock="KD", target=1000)
    play(env, "draw stock", "set 5 SHD", "run S@9 nnn", "discard KD")
    facts = env.describe_observation(env.observe("player_1")["observation"])
    assert (facts["target"], facts["deals_left"], facts["deal"]) == (1000, 0, 1)
    assert (facts["points"][:2], facts["points_steps"][:2]) == ([93, 0], [88, 0])
    env = cardenvs.make("ramino-v0", num_deals=3)
    env.reset(seed=0)
    assert env.describe_observation(env.observe("player_1")["observation"])["deals_left"] == 2
