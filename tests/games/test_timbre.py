"""Timbre rule by rule; ids are those of cardenvs/games/timbre/README.md.

`Referee` is a second reading of the page in plain Python, chance included, with lists of card texts; seeded games under many options
are compared with it decision by decision. Short scenes on fixed decks show each rule on its own. Scenes write cards as `b12`, `oD`, `w`.
"""

import functools
import itertools
from collections import Counter

import numpy as np
import pytest

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.errors import IllegalAction, InvalidDeck, InvalidOption
from cardenvs.games.timbre import GAME, encoding
from cardenvs.games.timbre.cards import KINDS
from tests.common import differences
from tests.test_rng import SplitMix64

COLOURS = ("blue", "orange", "yellow", "green")
FACES = (*map(str, range(2, 13)), "D", "i", "n", "g")
COLOURED = [f"{colour}-{face}" for colour in COLOURS for face in FACES]
ORDER = [*COLOURED, "wild"]
FIELDS = GAME.state.names or ()


def colour(card: str) -> str:
    return card.split("-")[0]


def value(card: str) -> int:
    face = card.split("-")[-1]
    return {"wild": 13}.get(face, int(face) if face.isdigit() else 1)


class Referee:
    """A game by the page."""

    def __init__(self, seed: int, players: int, options: dict):
        game = SplitMix64(SplitMix64(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])).next())  # G-08
        self.deals, _, _, self.races = (SplitMix64(game.next()) for _ in range(4))
        self.options = {
            "wilds": 2,
            "back_moves": "rising",
            "all_out": "void",
            "race": "clockwise",
            "wild_must_follow": True,
            "max_hands": 300,
            **options,
        }
        self.players = players
        self.positions = [0] * players
        self.number = 0
        self.over = self.truncated = False
        self.before: dict | None = None
        self.dealer = self.deals.below(players)
        self.deal()

    def after(self, seat: int) -> list[int]:
        """All seats clockwise, beginning after `seat`."""
        return [(seat + 1 + k) % self.players for k in range(self.players)]

    def ins(self) -> list[int]:
        return [seat for seat in self.after(self.dealer) if self.choices[seat] == "in"]

    def deal(self) -> None:
        self.stock = COLOURED + ["wild"] * self.options["wilds"]
        self.deals.shuffle(self.stock)
        self.hands: list[list[str]] = [[] for _ in range(self.players)]
        for _ in range(5):
            for seat in self.after(self.dealer):
                self.hands[seat].append(self.stock.pop(0))
        self.community = [self.stock.pop(0)]
        while self.community[-1] == "wild":
            self.community.append(self.stock.pop(0))
        self.trump = colour(self.community[-1])
        self.choices: list[str | None] = [None] * self.players
        self.aside: list[list[str]] = [[] for _ in range(self.players)]
        self.tricks = [0] * self.players
        self.played: list[tuple[int, str]] = []
        self.trick: list[tuple[int, str]] = []
        self.phase, self.asked = "choose", self.after(self.dealer)

    @property
    def turn(self) -> int:
        return self.asked[0]

    def legal(self) -> set[str]:
        hand = self.hands[self.turn]
        if self.phase == "choose":
            return {"in", "out"}
        if self.phase == "exchange":
            last = self.aside[self.turn][-1:]
            return {"stand"} | {f"discard {card}" for card in hand if not last or ORDER.index(card) >= ORDER.index(last[0])}
        if self.phase == "race":
            return {"ding", "no-ding"}
        return {f"play {card}" for card in self.follow(hand)}

    def follow(self, hand: list[str]) -> list[str]:
        if not self.trick:
            return hand
        led = self.trick[0][1]
        if led == "wild" or colour(led) == self.trump:
            trumps = [card for card in hand if card == "wild" or colour(card) == self.trump]
            lenient = not self.options["wild_must_follow"] and led != "wild" and set(trumps) == {"wild"}
            return hand if lenient or not trumps else trumps
        return [card for card in hand if colour(card) == colour(led)] or hand

    def apply(self, text: str) -> None:
        seat = self.asked.pop(0)
        verb, _, card = text.partition(" ")
        if verb in ("in", "out"):
            self.choices[seat] = verb
            if not self.asked:
                self.reveal()
        elif verb == "discard":
            self.hands[seat].remove(card)
            self.aside[seat].append(card)
            self.asked.insert(0, seat)
            if len(self.aside[seat]) == 3:
                self.exchange(self.asked.pop(0))
        elif verb == "stand":
            self.exchange(seat)
        elif verb == "ding":
            for other in self.ins():
                if other != seat:
                    self.back(other)
            self.forward(seat, 5)
            self.end(seat)
        elif verb == "no-ding":
            if not self.asked:
                self.begin_tricks()
        else:
            self.play(seat, card)

    def reveal(self) -> None:
        ins = self.ins()
        if len(ins) >= 2:
            self.phase, self.asked = "exchange", ins
            return
        for seat in ins or [self.dealer] * (self.options["all_out"] == "dealer_in"):
            self.forward(seat, 5)
        self.end(None)

    def exchange(self, seat: int) -> None:
        for _ in self.aside[seat]:
            self.hands[seat].append(self.stock.pop(0))
        self.stock += self.aside[seat]
        if not self.asked:
            self.near = sum(self.positions[other] >= 12 for other in self.ins()) >= 2
            self.asked = [other for other in self.ins() if self.can_ding(other)]
            if self.options["race"] == "random" and len(self.asked) > 1:
                self.races.shuffle(self.asked)
            self.phase = "race"
            if not self.asked:
                self.begin_tricks()

    def can_ding(self, seat: int) -> bool:
        cards = self.hands[seat] + self.community
        letters = {card[-1] for card in cards if card[-1] in "Ding" and card != "wild"}
        return len(letters) + cards.count("wild") >= 4

    def begin_tricks(self) -> None:
        self.phase, self.asked = "tricks", self.ins()

    def play(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        self.played.append((seat, card))
        if self.asked:
            return
        winner = max(self.trick, key=lambda entry: self.power(entry[1]))[0]  # of equal ones the first
        self.tricks[winner] += 1
        self.trick = []
        ins = self.after(winner)
        self.asked = [winner] + [other for other in ins[:-1] if self.choices[other] == "in"]
        if self.near:
            self.forward(winner, 1)
            if self.positions[winner] == 17:
                self.end(None)
                return
        if not self.hands[winner]:
            for other in self.ins():
                if not self.tricks[other]:
                    self.back(other)
                elif not self.near:
                    self.forward(other, self.tricks[other])
            self.end(None)

    def power(self, card: str) -> int:
        if card == "wild" or colour(card) == self.trump:
            return 100 + value(card)
        return value(card) if colour(card) == colour(self.trick[0][1]) else 0

    def forward(self, seat: int, spaces: int) -> None:
        self.positions[seat] = min(17, self.positions[seat] + spaces)

    def back(self, seat: int) -> None:
        at = self.positions[seat]
        spaces = next((zone for zone, end in enumerate((0, 4, 8, 12, 16)) if at <= end), 0)
        if spaces and self.options["back_moves"] == "falling":
            spaces = 5 - spaces
        self.positions[seat] = max(0, at - spaces)

    def end(self, ding: int | None) -> None:
        self.before = {"choices": self.choices, "ding": ding, "tricks": self.tricks}
        self.asked = []
        if 17 in self.positions:
            self.over = True
        elif self.number + 1 == self.options["max_hands"]:
            self.over = self.truncated = True
        else:
            self.number += 1
            self.dealer = (self.dealer + 1) % self.players
            self.deal()


def seen(env, seat: int) -> dict:
    """What a seat knows, by name; lists over seats begin with it."""
    return env.describe_observation(env.observe(f"player_{seat}")["observation"])


def legal(env) -> set[str]:
    return set(map(env.action_text, env.legal_actions()))


def texts(counts: list[int]) -> list[str]:
    """Cards of counts by kind."""
    return list(Counter(dict(zip(ORDER, counts, strict=True))).elements())


def compare(env, referee: Referee) -> None:
    """Who acts and how, positions, and what every seat sees."""
    assert env.scores() == referee.positions
    assert any(env.terminations.values()) == (referee.over and not referee.truncated)
    assert any(env.truncations.values()) == referee.truncated
    if referee.over:
        return
    assert env.agent_selection == f"player_{referee.turn}"
    assert legal(env) == referee.legal()
    for seat in range(referee.players):
        facts = seen(env, seat)
        rows = [(seat + k) % referee.players for k in range(referee.players)]
        assert texts(facts["hand"]) == sorted(referee.hands[seat], key=ORDER.index)
        assert texts(facts["discarded"]) == referee.aside[seat]
        assert Counter(texts(facts["shown"])) == Counter(referee.community + [card for _, card in referee.played])
        assert (facts["trump"], facts["hand_number"]) == (referee.trump, referee.number)
        expected: dict[str, list] = {
            "position": referee.positions,
            "exchanged": [len(aside) for aside in referee.aside],
            "tricks_won": referee.tricks,
            "dealer": [other == referee.dealer for other in range(referee.players)],
            "choice": [c if referee.phase != "choose" or other == seat else None for other, c in enumerate(referee.choices)],
        }
        for name, values in expected.items():
            assert facts[name][: referee.players] == [values[other] for other in rows], name
        faces = {other: card.split("-")[-1] for other, card in referee.trick}
        assert facts["trick_face"][: referee.players] == [faces.get(other) for other in rows]


def random_options(rng: np.random.Generator) -> dict:
    options: dict = {
        "wilds": int(rng.integers(2, 4)),
        "back_moves": ("rising", "falling")[rng.integers(2)],
        "all_out": ("void", "dealer_in")[rng.integers(2)],
        "race": ("clockwise", "random")[rng.integers(2)],
        "wild_must_follow": bool(rng.integers(2)),
        "max_hands": int((4, 9, 300)[rng.integers(3)]),
    }
    return {name: option for name, option in options.items() if rng.random() < 0.6}


def pick(referee: Referee, rng: np.random.Generator, boldness: float) -> str:
    """An action, random but for how often seats go IN, exchange and DING."""
    actions = sorted(referee.legal())
    wanted = {"choose": "in", "exchange": "discard", "race": "ding"}.get(referee.phase)
    liked = [text for text in actions if wanted and text.startswith(wanted)]
    return str(rng.choice(liked if liked and rng.random() < boldness else actions))


@pytest.mark.parametrize("players", GAME.players)
def test_games_by_the_referee(players):
    """TI-01 … TI-15 with all options: every decision of random games is as the page has it, and so are the draws (G-09)."""
    rng = np.random.default_rng(players)
    phases: Counter[str] = Counter()
    for game in range(5):
        options = random_options(rng)
        env = cardenvs.make("timbre-v0", players, **options)
        env.reset(seed=game)
        referee = Referee(game, players, options)
        boldness = rng.random()
        for _ in range(120):
            compare(env, referee)
            if referee.over:
                break
            phases[referee.phase] += 1
            action = pick(referee, rng, boldness)
            env.step(env.action_id(action))
            referee.apply(action)
        assert [int(env.states["rng"][0, stream]) for stream in (0, 3)] == [referee.deals.word, referee.races.word]
    assert all(phases[phase] > 20 for phase in ("choose", "exchange", "tricks"))


# Scenes.


def card(short: str) -> str:
    """`b12`, `oD`, `w` in full."""
    return "wild" if short == "w" else f"{next(name for name in COLOURS if name[0] == short[0])}-{short[1:]}"


def cards(short: str) -> list[str]:
    return [card(part) for part in short.split()]


@functools.cache
def seed_for(players: int, dealer: int) -> int:
    """A seed with which this seat deals first."""
    env = cardenvs.make("timbre-v0", players)
    for seed in itertools.count():
        env.reset(seed=seed)
        if env.view("player_0")[0].dealer == dealer:
            return seed
    raise AssertionError


def table(*hands: str, turned: str = "g5", stock: str = "", dealer: int | None = None, positions: tuple = (), **options):
    """A first hand in which the seats from the dealer's left on hold these cards; the last seat deals, unless told otherwise.

    Hands that are left short and the stock are filled with what remains, low numbers first and letters last.
    """
    players = len(hands)
    dealer = players - 1 if dealer is None else dealer
    wilds = options.get("wilds", 2)
    given = [cards(hand) for hand in hands]
    named = [*cards(turned), *cards(stock), *itertools.chain(*given)]
    rest = Counter(COLOURED + ["wild"] * wilds) - Counter(named)
    left = sorted(rest.elements(), key=lambda name: (value(name) == 1, value(name), name))
    for hand in given:
        while len(hand) < 5:
            hand.append(left.pop(0))
    deck = [hand[i] for i in range(5) for hand in given] + cards(turned) + cards(stock) + left
    env = cardenvs.make("timbre-v0", players, **options)
    env.reset(seed=seed_for(players, dealer), options={"deck": deck})
    for seat, position in enumerate(positions):
        env.states["position"][0, seat] = position
    return env


def play(env, *actions: str) -> None:
    """Actions by their texts, of cards their short ones: `in`, `discard b2`, `play w`."""
    for action in actions:
        verb, _, short = action.partition(" ")
        env.step(env.action_id(f"{verb} {card(short)}" if short else verb))


def hand(env, seat: int) -> list[str]:
    return texts(seen(env, seat)["hand"])


def returns(env) -> list[float]:
    return list(env.rewards.values())


TOP_TRUMPS = "g12 g11 g10 g9 g8"
TOP_BLUE = "b12 b11 b10 b9 b8"
LOW_ORANGE = "o2 o3 o4 o6 o7"
LOW_YELLOW = "y2 y3 y4 y6 y7"


def test_ti_01_cards():
    assert list(GAME.cards) == ORDER
    env = cardenvs.make("timbre-v0")
    assert Counter(GAME.cards[c] for c in GAME.deck(4, env.options)) == Counter([*COLOURED, "wild", "wild"])
    env = cardenvs.make("timbre-v0", wilds=3)
    deck = [GAME.cards[c] for c in GAME.deck(4, env.options)]
    assert Counter(deck) == Counter([*COLOURED, "wild", "wild", "wild"])
    env.reset(options={"deck": deck})
    with pytest.raises(InvalidDeck, match="2 x 'wild' in place of 3"):
        env.reset(options={"deck": deck[:-1]})
    for wilds in (1, 4):
        with pytest.raises(InvalidOption, match="from 2 to 3"):
            cardenvs.make("timbre-v0", wilds=wilds)


def test_actions_of_the_page():
    """G-14: 127 actions in the order of the page."""
    expected = ["in", "out", *(f"discard {name}" for name in ORDER), "stand", "ding", "no-ding", *(f"play {name}" for name in ORDER)]
    assert list(GAME.actions.texts) == expected
    assert len(expected) == 127


@pytest.mark.parametrize(("back_moves", "spaces"), [("rising", (0, 1, 2, 3, 4)), ("falling", (0, 4, 3, 2, 1))])
@pytest.mark.parametrize("position", range(13))
def test_ti_02_and_ti_03_zones(back_moves, spaces, position):
    """A pawn without a trick goes back by the zone in which it stands: Start, 1-4, 5-8, 9-12, 13-16."""
    env = table("", TOP_TRUMPS, "", back_moves=back_moves, positions=(position, 0, 0))
    play(env, "in", "in", "out", "stand", "stand")
    zone = [0, *(1 + i // 4 for i in range(16))][position]
    while seen(env, 0)["hand_number"] == 0:
        env.step(env.legal_actions()[0])
    assert env.scores() == [max(0, position - spaces[zone]), 5, 0]


@pytest.mark.parametrize("position", [13, 14, 15, 16])
def test_ti_03_the_last_zone(position):
    """Back 4, or 1 with falling numbers, when another seat makes a DING."""
    for back_moves, spaces in (("rising", 4), ("falling", 1)):
        env = table("", "bD oi gn yg b2", "", back_moves=back_moves, positions=(position, 0, 16))
        play(env, "in", "in", "out", "stand", "stand", "ding")
        assert env.scores() == [position - spaces, 5, 16]


def test_ti_04_players():
    for players in range(3, 9):
        assert cardenvs.make("timbre-v0", players).num_players == players
    for players in (2, 9):
        with pytest.raises(InvalidOption, match="3 to 8 players"):
            cardenvs.make("timbre-v0", players)


def test_ti_05_deal():
    """Card i of the deck goes to seat dealer + 1 + i; a turned wild is a community card, and a coloured one follows."""
    deck = [*COLOURED[:15], "wild", "wild", *COLOURED[15:]]
    for dealer in range(3):
        env = cardenvs.make("timbre-v0", 3)
        env.reset(seed=seed_for(3, dealer), options={"deck": deck})
        for k in range(3):
            assert hand(env, (dealer + 1 + k) % 3) == COLOURED[k:15:3]
        facts = seen(env, dealer)
        assert (facts["trump"], facts["community_face"], facts["community_wilds"]) == ("orange", "2", 2)
        assert facts["dealer"][:3] == [True, False, False]
        assert env.agent_selection == f"player_{(dealer + 1) % 3}"


def test_ti_05_the_deal_goes_round_and_the_first_dealer_is_drawn():
    first = set()
    for seed in range(30):
        env = cardenvs.make("timbre-v0", 5)
        env.reset(seed=seed)
        dealers = []
        for _ in range(7):
            dealers.append(int(env.view("player_0")[0].dealer))
            play(env, *["out"] * 5)
        assert dealers == [(dealers[0] + k) % 5 for k in range(7)]
        first.add(dealers[0])
    assert first == set(range(5))


def test_ti_06_choices_are_secret_until_all_have_chosen():
    """From the dealer's left, every seat; the others see nothing of it, not even who is being asked (G-05)."""
    env = table("", "", "", "", dealer=1)
    watched: list[dict] = [{}, {}, {}, {}]
    for asked in (2, 3, 0, 1):
        assert env.agent_selection == f"player_{asked}"
        assert legal(env) == {"in", "out"}
        for seat in range(4):
            kind = (seat == asked, seen(env, seat)["choice"][0])
            assert watched[seat].setdefault(kind, shown(env, seat)) == shown(env, seat)
            assert seen(env, seat)["choice"][1:] == [None] * 7
        play(env, "in" if asked != 3 else "out")
    assert [len(kinds) for kinds in watched] == [3, 2, 2, 3]
    assert seen(env, 0)["choice"][:4] == ["in", "in", "in", "out"]


def test_ti_06_a_choice_changes_no_other_view():
    """Tables that differ only in what the others chose look alike to a seat, asked or not."""
    views = set()
    for choices in itertools.product(("in", "out"), repeat=2):
        env = table("", "", "", dealer=0)
        play(env, *choices)
        views.add(shown(env, 0))
    assert len(views) == 1


def test_ti_07_one_seat_in():
    env = table("", "", "", "")
    play(env, "out", "in", "out", "out")
    assert env.scores() == [0, 5, 0, 0]
    facts = seen(env, 1)
    assert facts["in_before"][:4] == [True, False, False, False]
    assert not any(facts["ding_before"])
    assert facts["tricks_before"][:4] == [0] * 4
    assert facts["hand_number"] == 1


def test_ti_07_nobody_in():
    env = table("", "", "", "")
    play(env, *["out"] * 4)
    assert env.scores() == [0, 0, 0, 0]
    assert seen(env, 0)["hand_number"] == 1
    env = table("", "", "", "", dealer=1, all_out="dealer_in")
    play(env, *["out"] * 4)
    assert env.scores() == [0, 5, 0, 0]
    assert not any(seen(env, 0)["in_before"])


def test_ti_08_exchange_in_order():
    """The IN seats from the dealer's left; cards in ascending order; the third ends it, or `stand`."""
    env = table("b12 g2 o3 oD y7", "", "", "b5 b6", stock="y12 w yi g12")
    play(env, "in", "out", "out", "in")
    assert legal(env) == {"stand", *(f"discard {name}" for name in cards("b12 g2 o3 oD y7"))}
    play(env, "discard o3")
    assert legal(env) == {"stand", *(f"discard {name}" for name in cards("oD y7 g2"))}
    assert seen(env, 3)["exchanged"][1] == 1
    play(env, "discard y7")
    assert legal(env) == {"stand", "discard green-2"}
    assert hand(env, 0) == cards("b12 oD g2")
    play(env, "discard g2")
    assert hand(env, 0) == cards("b12 oD y12 yi w")
    assert texts(seen(env, 0)["discarded"]) == cards("o3 y7 g2")
    assert not any(seen(env, 3)["discarded"])
    assert env.agent_selection == "player_3"
    play(env, "discard b6", "stand")
    assert "green-12" in hand(env, 3)
    assert env.agent_selection == "player_0"
    assert legal(env) == {f"play {name}" for name in cards("b12 oD y12 yi w")}


def test_ti_08_stand_is_asked_even_if_no_card_may_follow():
    env = table("g2 g3 g4 w w", "", "")
    play(env, "in", "in", "out", "discard w")
    assert legal(env) == {"discard wild", "stand"}
    play(env, "discard w")
    assert legal(env) == {"stand"}
    play(env, "stand")
    assert hand(env, 0)[-3:] == cards("g2 g3 g4")
    assert env.agent_selection == "player_1"


def eight():
    """Eight seats IN, of which seven have exchanged their three lowest cards."""
    env = table("b2 b3 b4", *[""] * 7)
    play(env, *["in"] * 8)
    for _ in range(7):
        for text in sorted(legal(env) - {"stand"}, key=lambda text: ORDER.index(text.split()[1]))[:3]:
            env.step(env.action_id(text))
    return env


def test_ti_08_discards_go_under_the_stock_and_may_be_drawn_again():
    """62 cards less 40 and one turned leave 21 for seven exchanges; the eighth draws what the first put aside."""
    env = eight()
    assert env.agent_selection == "player_7"
    assert texts(seen(env, 0)["discarded"]) == cards("b2 b3 b4")
    held = hand(env, 7)
    aside = held[:3]
    for name in aside:
        env.step(env.action_id(f"discard {name}"))
    assert hand(env, 7) == sorted([*held[3:], *cards("b2 b3 b4")], key=ORDER.index)
    assert texts(seen(env, 7)["discarded"]) == aside


def test_ti_08_only_who_put_a_card_aside_knows_that_it_was_drawn():
    env = eight()
    for name in hand(env, 7)[:3]:
        env.step(env.action_id(f"discard {name}"))
    assert int(env.view("player_0")[0].hand[7]) == 0b111
    assert all(int(env.view(f"player_{seat}")[0].hand[7]) == 0 for seat in range(1, 7))


def test_ti_08_hands_of_out_seats_stay_hidden():
    env = table("b12 b11", "o12 o11", "y12 y11", "g12 g11")
    play(env, "in", "in", "out", "out", "stand", "stand")
    for seat in range(4):
        view = env.view(f"player_{seat}")[0]
        assert [int(view.hand[other]) != 0 for other in range(4)] == [other == seat for other in range(4)]
        assert (view.deck == -1).all()


DINGS = {
    "letters of any colours": ("bD oi yn gg b2", "b5", True),
    "a wild for a letter": ("bD oi yn w b2", "b5", True),
    "two wilds": ("bD oi w w b2", "b5", True),
    "a community letter": ("bD oi yn b2 b3", "gg", True),
    "a community wild": ("bD oi yn b2 b3", "w b5", True),
    "wilds of both": ("bD oi b2 w b3", "w b5", True),
    "a letter twice": ("bD oD yn gg b2", "b5", False),
    "the community letter twice": ("bD oi yn b2 b3", "gD", False),
    "three letters": ("bD oi yn b2 b3", "b5", False),
}


@pytest.mark.parametrize("kind", DINGS)
def test_ti_09_who_can_build_a_ding_is_asked(kind):
    held, turned, can = DINGS[kind]
    env = table(held, LOW_YELLOW.replace("y2", "y12"), "", turned=turned)
    play(env, "in", "in", "out", "stand", "stand")
    assert (legal(env) == {"ding", "no-ding"}) == can
    if can:
        play(env, "no-ding")
    assert env.agent_selection == "player_0"
    assert legal(env) == {f"play {name}" for name in cards(held)}


def test_ti_09_the_first_ding_ends_the_hand():
    """Asked from the dealer's left; who declares goes 5 forward, other IN seats back by their zones, OUT seats stay."""
    env = table("b2", "oD oi on og b3", "bD bi bn bg b4", "b5", "yD yi yn yg b6", positions=(6, 1, 2, 9, 11))
    play(env, "in", "in", "in", "out", "in", *["stand"] * 4)
    assert env.agent_selection == "player_1"
    play(env, "no-ding")
    assert env.agent_selection == "player_2"
    play(env, "ding")
    assert env.scores() == [4, 0, 7, 9, 8]
    facts = seen(env, 2)
    assert facts["ding_before"][:5] == [True, False, False, False, False]
    assert facts["in_before"][:5] == [True, False, True, True, True]
    assert facts["hand_number"] == 1


def test_ti_09_drawn_cards_count_and_it_is_settled_after_all_exchanges():
    env = table("bD bi bn b2 b3", "yD yi yn y2 y3", "", stock="bg b6 yg y6")
    play(env, "in", "in", "out", "discard b2", "discard b3", "stand")
    assert env.agent_selection == "player_1"
    play(env, "discard y2", "discard y3", "stand", "no-ding")
    assert env.agent_selection == "player_1"
    play(env, "ding")
    assert env.scores() == [0, 5, 0]


def test_ti_09_a_race_in_random_order():
    """Stream 3 shuffles the seats that can DING, listed clockwise; with fewer than two nothing is drawn."""
    orders = set()
    for seed in range(12):
        env = table("oD oi on og b3", "bD bi bn bg b4", "yD yi yn yg b6", race="random")
        env.states["rng"][0, 3] = seed
        play(env, "in", "in", "in", "stand", "stand", "stand")
        reference, expected = SplitMix64(seed), [0, 1, 2]
        reference.shuffle(expected)
        order = []
        for _ in range(3):
            order.append(int(env.agent_selection[-1]))
            play(env, "no-ding")
        assert order == expected
        assert int(env.states["rng"][0, 3]) == reference.word
        orders.add(tuple(order))
    assert len(orders) > 3
    env = table("oD oi on og b3", "", "yD yi yn yg b6", race="random")
    before = int(env.states["rng"][0, 3])
    play(env, "in", "in", "out", "stand", "stand")
    assert legal(env) == {"ding", "no-ding"}
    assert int(env.states["rng"][0, 3]) == before


def window_table(asked: str):
    """Seat 2 can DING if `asked`; else it holds a fourth number in place of the last letter."""
    env = table("b2 b3", "b4 b6", f"yD yi yn {asked} y2", "b7", stock="o2")
    play(env, "in", "in", "in", "out", "stand", "stand", "stand")
    return env


def test_ti_09_the_window_is_not_seen():
    """G-05: seats that are not asked see what they see when the tricks begin, whether somebody was asked or not."""
    quiet, asked = window_table("y9"), window_table("yg")
    assert quiet.agent_selection == "player_0"
    assert asked.agent_selection == "player_2"
    open_window = [shown(asked, seat) for seat in range(4)]
    play(asked, "no-ding")
    for seat in (0, 1, 3):
        assert shown(asked, seat) == shown(quiet, seat)
        view, observation, mask, text = shown(quiet, seat)
        if seat == 0:  # which may act now
            mask = bytes(127)
        assert open_window[seat] == (view, observation, mask, text)
    assert seen(asked, 2)["phase"] == "tricks"


def shown(env, seat: int) -> tuple:
    """All that a seat gets: view, observation, mask and text."""
    view, observation = env.view(f"player_{seat}"), env.observe(f"player_{seat}")
    fields = tuple(view[name].tobytes() for name in FIELDS)
    return fields, observation["observation"].tobytes(), observation["action_mask"].tobytes(), env.text(f"player_{seat}")


def test_ti_10_following_suit():
    """The first IN seat left of the dealer leads, then the winner; who can follow must, others play anything."""
    env = table("", "b12 b3 o4 y5 y6", "b2 b4 o2 o3 y2", "o12 o11 o10 o9 y12", dealer=3)
    play(env, "out", "in", "in", "in", "stand", "stand", "stand")
    assert env.agent_selection == "player_1"
    assert legal(env) == {f"play {name}" for name in cards("b12 b3 o4 y5 y6")}
    play(env, "play b12")
    assert legal(env) == {"play blue-2", "play blue-4"}
    play(env, "play b2")
    assert legal(env) == {f"play {name}" for name in cards("o12 o11 o10 o9 y12")}
    play(env, "play o12")
    assert env.agent_selection == "player_1"
    facts = seen(env, 1)
    assert facts["tricks_won"][:4] == [1, 0, 0, 0]
    assert facts["void"][2] == [True, False, False, False, False]
    assert facts["trick_number"] == 1


def tricks(*hands: str, turned: str = "g5", **options):
    """All seats IN, nobody exchanges, and the tricks begin."""
    env = table(*hands, turned=turned, **options)
    play(env, *["in"] * len(hands), *["stand"] * len(hands))
    return env


def test_ti_11_a_wild_is_a_trump():
    """Led, it asks for trumps; it must follow a trump lead if it is the only trump; it never replaces a plain suit that can follow."""
    env = tricks("w b12 b11 b10 b9", "g2 g3 b3 b4 w", "o2 o3 o4 y2 y3")
    play(env, "play w")
    assert seen(env, 0)["led"] == "green"
    assert legal(env) == {"play green-2", "play green-3", "play wild"}
    play(env, "play g2", "play o2")
    assert seen(env, 0)["void"][2] == [False, False, False, True, True]
    play(env, "play b12")
    assert legal(env) == {"play blue-3", "play blue-4"}
    env = tricks("g12 b12", "b2 b3 b4 o2 w", "b5 b6")
    play(env, "play g12")
    assert legal(env) == {"play wild"}


def test_ti_11_a_wild_need_not_follow():
    """`wild_must_follow=False`: only if the wilds are all its trumps, and only a coloured lead; it shows nothing about wilds then."""
    env = tricks("g12 w b12", "b2 b3 b4 o2 w", "g2 w b5 b6", wild_must_follow=False, wilds=3)
    play(env, "play g12")
    assert legal(env) == {f"play {name}" for name in cards("b2 b3 b4 o2 w")}
    play(env, "play b2")
    assert seen(env, 0)["void"][1] == [False, False, False, True, False]
    assert legal(env) == {"play green-2", "play wild"}
    play(env, "play g2", "play w")
    assert legal(env) == {"play wild"}
    play(env, "play w")
    assert legal(env) == {"play wild"}


def test_ti_11_a_wild_on_a_trump_lead_shows_nothing():
    env = tricks("g12 b12", "g2 g3 b4 o2 w", "b5 b6")
    play(env, "play g12", "play w")
    assert not any(seen(env, 0)["void"][1])


def winner(led: str, second: str, third: str, turned: str = "g5", wilds: int = 2) -> int:
    """Who takes the trick of these three cards, led by seat 0 (nobody else can follow unless the cards do)."""
    env = tricks(f"{led} b3 b4 b6 b7", f"{second} y2 y3 y4 y6", f"{third} o2 o3 o4 o6", turned=turned, wilds=wilds)
    play(env, f"play {led}", f"play {second}", f"play {third}")
    return seen(env, 0)["tricks_won"].index(1)


@pytest.mark.parametrize(
    ("trick", "taker"),
    [
        ("b12 bD b11", 0),
        ("b9 b10 b11", 2),
        ("b2 bD bn", 0),
        ("bD b2 bn", 1),
        ("b8 y12 o12", 0),
        ("b12 gD o12", 1),
        ("b12 g2 g12", 2),
        ("g12 w g11", 1),
        ("w g12 g11", 0),
        ("w w g12", 0),
        ("b12 w w", 1),
        ("bD bi bn", 0),
        ("gi gD gn", 0),
        ("b12 gn gD", 1),
    ],
)
def test_ti_12_rank(trick, taker):
    """Wild, 12 … 2, letters; trump over plain; of two wilds or two letters of a colour the first played."""
    assert winner(*trick.split()) == taker


def test_ti_13_moves_after_the_fifth_trick():
    """Forward by tricks; without any, back by the zone; OUT seats stay. Nobody moves before."""
    env = table("b12 b11 b10 b9 gD", "b2 b3 b4 b6 g12", "b7 b8 o2 o3 o4", "", positions=(3, 2, 9, 10))
    play(env, "in", "in", "in", "out", "stand", "stand", "stand")
    play(env, "play b12", "play b2", "play b7", "play b11", "play b3", "play b8", "play b10", "play b4", "play o2")
    play(env, "play b9", "play b6", "play o3", "play gD", "play g12")
    assert env.scores() == [3, 2, 9, 10]
    play(env, "play o4")
    assert env.scores() == [7, 3, 6, 10]
    facts = seen(env, 0)
    assert facts["tricks_before"][:4] == [4, 1, 0, 0]
    assert facts["dealer"][:4] == [True, False, False, False]


def test_ti_13_one_seat_near_finish_moves_at_the_end():
    """With a single IN seat at 12 or beyond the pawns wait, an OUT seat near Finish notwithstanding."""
    env = table(TOP_BLUE, LOW_ORANGE, "", positions=(14, 11, 16))
    play(env, "in", "in", "out", "stand", "stand")
    for number in (12, 11, 10, 9):
        play(env, f"play b{number}")
        env.step(env.legal_actions()[0])
        assert env.scores() == [14, 11, 16]
    play(env, "play b8")
    env.step(env.legal_actions()[0])
    assert env.scores() == [17, 8, 16]
    assert all(env.terminations.values())


def test_ti_14_near_finish_pawns_move_trick_by_trick():
    """Two IN seats at 12 or beyond: the game ends within the hand, and nobody goes back."""
    env = tricks(TOP_BLUE, LOW_ORANGE, LOW_YELLOW, positions=(15, 12, 4))
    play(env, "play b12")
    for _ in range(2):
        env.step(env.legal_actions()[0])
    assert env.scores() == [16, 12, 4]
    play(env, "play b11")
    env.step(env.legal_actions()[0])
    assert not any(env.terminations.values())
    env.step(env.legal_actions()[0])
    assert env.scores() == [17, 12, 4]
    assert all(env.terminations.values())
    assert returns(env) == [1, -0.5, -0.5]


def test_ti_14_if_none_finishes_seats_without_a_trick_go_back():
    env = tricks("b12 b11 o2 o3 o4", "o12 o11 o10 b2 b3", LOW_YELLOW, positions=(13, 12, 4))
    play(env, "play b12", "play b2", "play y2", "play b11", "play b3", "play y3", "play o2", "play o10", "play y4")
    assert env.scores() == [15, 13, 4]
    play(env, "play o12", "play y6", "play o3", "play o11", "play y7", "play o4")
    assert env.scores() == [15, 15, 3]
    assert seen(env, 0)["hand_number"] == 1


def test_ti_14_the_fifth_trick_may_finish_too():
    """The game ends before the others would go back."""
    env = tricks(TOP_BLUE, LOW_ORANGE, LOW_YELLOW, positions=(12, 12, 4))
    while not any(env.terminations.values()):
        env.step(env.legal_actions()[-1])
    assert env.scores() == [17, 12, 4]


def test_ti_14_the_ding_comes_first():
    env = table("bD bi bn bg b2", "", "", positions=(13, 14, 0))
    play(env, "in", "in", "out", "stand", "stand", "ding")
    assert env.scores() == [17, 10, 0]
    assert all(env.terminations.values())


def test_ti_15_the_first_at_finish_wins_and_stops_there():
    for start in range(12, 17):
        env = table("", "", "", "", positions=(start, 3, 9, 1))
        play(env, "in", "out", "out", "out")
        assert env.scores() == [17, 3, 9, 1]
        assert returns(env) == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
        assert all(env.terminations.values())
        assert not any(env.truncations.values())


def test_nothing_is_dealt_after_the_last_hand():
    """G-09"""
    env = table("", "", "", positions=(12, 0, 0))
    words = env.states["rng"].copy()
    play(env, "in", "out", "out")
    assert (env.states["rng"] == words).all()


def test_reward_score_pays_positions_once_at_the_end():
    """G-11, scale 10"""
    env = table("", "", "", "", positions=(12, 3, 9, 1), reward="score")
    play(env, "in", "out", "out")
    assert returns(env) == [0, 0, 0, 0]
    play(env, "out")
    assert returns(env) == pytest.approx([(position - 7.5) / 10 for position in (17, 3, 9, 1)])


def test_max_hands_truncates_after_the_moves():
    """G-12: void and one-IN hands count; `win` pays nothing, `score` the positions."""
    for reward, paid in (("win", [0, 0, 0]), ("score", [-1 / 3, 1 / 6, 1 / 6])):
        env = table("", "", "", max_hands=3, reward=reward)
        play(env, "out", "out", "out", "in", "out", "out")
        assert not any(env.truncations.values())
        words = env.states["rng"].copy()
        play(env, "in", "out", "out")
        assert all(env.truncations.values())
        assert not any(env.terminations.values())
        assert sorted(env.scores()) == [0, 5, 5]
        assert (env.states["rng"] == words).all()
        assert sorted(returns(env)) == pytest.approx(paid)


def test_the_last_hand_may_be_won():
    env = table("", "", "", max_hands=1, positions=(12, 0, 0))
    play(env, "in", "out", "out")
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_the_longest_hand_has_ten_decisions_a_seat():
    """G-04: at most 10·N·max_hands decisions."""
    env = cardenvs.make("timbre-v0", 5, max_hands=3)
    env.reset(seed=0)
    decisions = 0
    while not any(env.truncations.values()):
        actions = env.legal_actions()
        env.step(next((a for a in actions if env.action_text(a).startswith(("in", "discard", "no-ding"))), actions[0]))
        decisions += 1
    assert 9 * 5 * 3 <= decisions <= 10 * 5 * 3


def test_unknown_options_are_refused():
    for options in ({"back_moves": "level"}, {"all_out": True}, {"race": "clock"}, {"wild_must_follow": 1}, {"max_hands": 0}, {"wild": 2}):
        with pytest.raises(InvalidOption):
            cardenvs.make("timbre-v0", **options)


def test_illegal_actions_change_nothing():
    env = tricks("b12 o2 o3 o4 o6", "b2 y2 y3 y4 y6", "")
    play(env, "play b12")
    before = env.states.copy()
    with pytest.raises(IllegalAction, match="yellow-2"):
        play(env, "play y2")
    assert not differences(env.states, before)


# What seats know.


def walk(players: int, decisions: int, seed: int):
    """Tables at every decision of bold random games under random options."""
    rng = np.random.default_rng([players, seed])
    env, boldness = None, 0.0
    for _ in range(decisions):
        if env is None or not env.agents or env._over:
            env = cardenvs.make("timbre-v0", players, **random_options(rng))
            env.reset(seed=int(rng.integers(1 << 30)))
            boldness = rng.random()
        actions = env.legal_actions()
        bold = [a for a in actions if env.action_text(a).startswith(("in", "discard"))]
        env.step(int(rng.choice(bold if bold and rng.random() < boldness else actions)))
        yield env, rng


@pytest.mark.parametrize("players", [3, 8])
def test_features_kept_ready_are_those_written_anew(players):
    """Also with pawns that move trick by trick (TI-14)."""
    near = 0
    for env, rng in walk(players, 400, seed=1):
        anew = new_states(GAME.state, 1)
        for name in FIELDS:
            anew[name] = env.states[name]
        encoding.write_features(anew[0])
        if env.states["phase"][0] == 0 and rng.random() < 0.2:
            anew["position"][0, :2] = env.states["position"][0, :2] = 13
            encoding.write_features(anew[0])
            env.states["blocks"] = anew["blocks"]
        assert not differences(env.states, anew)
        near += env.states["near"][0]
    assert near > 20


@pytest.mark.parametrize("players", [3, 5])
def test_what_an_observation_says_about_the_own_cards(players):
    """Trumps, letters for a DING, and the cards that would be the best in the trick: as playing them shows."""
    tried = 0
    for env, rng in walk(players, 500, seed=4):
        if env.states["terminated"][0] or env.states["truncated"][0] or rng.random() > 0.3:
            continue
        agent = env.agent_selection
        seen, me = env.describe_observation(env.observe(agent)["observation"]), env.possible_agents.index(agent)
        state = env.states[0]
        hand = {KINDS[min(card, 60)] for card in members(state["hand"][me])}
        named = {name: {kind for kind, flag in zip(KINDS, seen[name], strict=True) if flag} for name in ("trumps", "takes")}
        assert named["trumps"] == {kind for kind in hand if kind == "wild" or kind.startswith(seen["trump"])}
        held = hand | {KINDS[min(card, 60)] for card in members(state["community"])}
        assert seen["letters"] == [any(kind.endswith(f"-{letter}") for kind in held) for letter in "Ding"]
        if seen["phase"] != "tricks" or seen["trick_number"] == 4:
            continue
        takes = set()
        for action in env.legal_actions():
            after = env.clone()
            after.step(action)
            now = after.states[0]
            if now["winner"] == me or now["tricks"][me] > state["tricks"][me]:
                takes.add(env.action_text(action).removeprefix("play "))
        assert named["takes"] == takes
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("players", GAME.players)
def test_no_card_is_lost(players):
    """Hands, stock, community and played cards, and those just put aside, are the deck."""
    for env, _ in walk(players, 150, seed=2):
        state = env.states.view(np.recarray)[0]
        assert everywhere(state) == list(range(60 + int(state.wilds)))


def members(cards) -> list[int]:
    return [number for number in range(63) if int(cards) >> number & 1]


def everywhere(state) -> list[int]:
    """All cards of a state, sorted."""
    found = [number for held in state.hand for number in members(held)]
    found += members(state.community) + members(state.gone) + state.deck[state.top : state.end].tolist()
    if state.phase == 1:
        found += members(state.discarded[state.seat])
    return sorted(found)


@pytest.mark.parametrize("players", [3, 4, 8])
def test_resampled_states_are_consistent(players):
    """Every card once; hand sizes, shown voids and what was put aside hold; seen again, the view is the same; in every phase."""
    phases = set()
    words = np.array([players], np.uint64)
    for env, rng in walk(players, 350, seed=3):
        truth = env.states.view(np.recarray)[0]
        for seat in {int(rng.integers(players)), int(truth.seat)}:
            view, drawn, again = (new_states(GAME.state, 1) for _ in range(3))
            GAME.loops.view_one(env.states, seat, view)
            GAME.loops.resample_one(view, words, drawn)
            GAME.loops.view_one(drawn, seat, again)
            assert all((again[name] == view[name]).all() for name in FIELDS)
            state = drawn.view(np.recarray)[0]
            assert everywhere(state) == list(range(60 + int(state.wilds)))
            for other in range(players):
                assert state.hand[other].item().bit_count() == truth.hand[other].item().bit_count()
                assert state.discarded[other].item().bit_count() == truth.discarded[other].item().bit_count()
                assert not any(truth.void[other] >> min(number // 15, 4) & 1 for number in members(state.hand[other]))
            if seat == truth.seat:
                assert (state.seat, state.phase) == (truth.seat, truth.phase)
            phases.add((int(truth.phase), seat == truth.seat))
    assert {(0, True), (0, False), (1, True), (1, False), (3, True), (3, False)} <= phases


def test_resampling_in_the_window():
    """For the seat that is asked: it is asked in the drawn state too, and may be first or last; for others the tricks have begun."""
    env = table("oD oi on og b3", "yD yi yn yg b6", "bD bi bn bg b4", race="random", dealer=1)
    play(env, "in", "in", "in", "stand", "stand", "stand")
    asked = int(env.agent_selection[-1])
    words, drawn = np.array([1], np.uint64), new_states(GAME.state, 1)
    after = set()
    for seat in range(3):
        view = new_states(GAME.state, 1)
        GAME.loops.view_one(env.states, seat, view)
        for _ in range(60):
            GAME.loops.resample_one(view, words, drawn)
            state = drawn.view(np.recarray)[0]
            assert (state.phase, state.seat) == ((2, asked) if seat == asked else (3, 2))
            if seat == asked:
                after.add(int(state.num_racers - state.racer))
    assert 1 in after


def test_resampling_while_seats_choose():
    """Who is asked is drawn among the seats that may be, and what those before it chose."""
    env = table("", "", "", "", "", dealer=4)
    play(env, "in", "out", "in")
    words, drawn = np.array([1], np.uint64), new_states(GAME.state, 1)
    for seat, expected in ((0, {1, 2, 3, 4}), (2, {3, 4}), (3, {3}), (4, {0, 1, 2, 3})):
        view, asked, chosen = new_states(GAME.state, 1), set(), set()
        GAME.loops.view_one(env.states, seat, view)
        for _ in range(60):
            GAME.loops.resample_one(view, words, drawn)
            asked.add(int(drawn["seat"][0]))
            chosen.add(tuple(drawn["choice"][0, :3].tolist()))
        assert asked == expected
        assert len(chosen) > 3


def test_a_resampled_state_knows_who_drew_the_own_discards():
    """TI-08: with eight players, and the other discards that were drawn again lie among the cards of who drew them."""
    env = eight()
    for name in hand(env, 7)[:3]:
        env.step(env.action_id(f"discard {name}"))
    words, drawn, view = np.array([1], np.uint64), new_states(GAME.state, 1), new_states(GAME.state, 1)
    for seat in range(8):
        GAME.loops.view_one(env.states, seat, view)
        GAME.loops.resample_one(view, words, drawn)
        state = drawn.view(np.recarray)[0]
        assert state.discarded[0].item().bit_count() == 3
        assert int(state.discarded[0]) & ~int(state.hand[7]) == 0
        if seat == 0:
            assert int(state.discarded[0]) == 0b111


def test_every_fact_of_later_hands():
    """Hand number and `max_hands` are exact far beyond the default; `hands_left` stops at 8."""
    env = table("", "", "", max_hands=700_000)
    for number in range(3):
        facts = seen(env, 0)
        assert (facts["hand_number"], facts["max_hands"], facts["hands_left"]) == (number, 700_000, 8)
        play(env, "out", "out", "out")
    env = table("", "", "", max_hands=2)
    assert seen(env, 0)["hands_left"] == 1
