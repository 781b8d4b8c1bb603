"""Ringer rule by rule; ids are those of cardenvs/games/ringer/README.md.

`table` sets up a game with given hands, first card, draw pile and rolls; `drained` one in which the draw pile is nearly empty.
What a seat knows is read with `facts`, as in the recorded games, from its observation.
"""

import functools
from collections import Counter, deque
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.errors import IllegalAction, InvalidDeck, InvalidOption
from tests.games.ringer_facts import cards_of, facts
from tests.test_rng import SplitMix64

SUITS = "PBGYW"
POWERS = ("ask", "draw1", "draw2", "take", "steal")


def power_card(suit: str, number: int) -> str:
    """RI-02: the card of this suit and number that has a power."""
    return f"{suit}{number}-{POWERS[(number + SUITS.index(suit)) % 5]}"


def full_deck(deck: str = "default") -> list[str]:
    """RI-01, RI-02: all cards in kind order."""
    plain, power = (2, 1) if deck == "default" else (1, 2)
    cards = []
    for suit in SUITS:
        for number in range(1, 7):
            cards += [f"{suit}{number}"] * plain + [power_card(suit, number)] * power
        cards += [f"{suit}-reroll"] * 3
    return cards


KINDS = list(dict.fromkeys(full_deck()))


def streams(seed: int) -> list[SplitMix64]:
    """The four generators of the first game after `reset(seed)` (G-08)."""
    lane = SplitMix64(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
    words = SplitMix64(lane.next())
    return [SplitMix64(words.next()) for _ in range(4)]


@functools.cache
def seed_for(players: int, dice: tuple[int, ...], start: int = 0) -> int:
    """A seed with which seat `start` begins and the first rolls are these."""
    for seed in range(100_000):
        deals, events, _, _ = streams(seed)
        if deals.below(players) == start and all(1 + events.below(6) == number for number in dice):
            return seed
    raise AssertionError("no such seed")


def table(*hands: str, top: str, draw: str = "", dice: tuple[int, ...] = (6,), **options):
    """A game that seat 0 begins; hands are filled up to six with other cards, none of which takes the turn."""
    players = len(hands)
    rest = Counter(full_deck(options.get("deck", "default")))
    dealt, draws = [hand.split() for hand in hands], draw.split()
    rest.subtract([top, *draws, *(card for hand in dealt for card in hand)])
    assert min(rest.values()) >= 0, "no such cards"
    left = sorted(rest.elements(), key=lambda card: card.endswith("take"))
    for hand in dealt:
        while len(hand) < 6:
            hand.append(left.pop(0))
    env = cardenvs.make("ringer-v0", players, **options)
    env.reset(seed=seed_for(players, dice), options={"deck": [hand[i] for i in range(6) for hand in dealt] + [top, *draws, *left]})
    return env


def drained(hand_0: str, hand_1: str, top: str, *, left: int = 0, dice: tuple[int, ...] = (6,), **options):
    """Two seats have passed until `left` cards are in the draw pile and seat 0 is on turn, each with these ten cards.

    Every pass with a full hand puts the card drawn last under the draw pile, and every two passes turn a card (RI-11, RI-25).
    """
    hands, stock, turned = [list(range(0, 12, 2)), list(range(1, 12, 2))], deque(range(13, 105)), 12
    discards = []
    while len(stock) != left or len(hands[0]) < 10:
        for hand in hands:
            if len(hand) == 10:
                discards.append(hand.pop())
                stock.append(discards[-1])
            hand.append(stock.popleft())
        turned = stock.popleft()
    places = dict(zip([*hands[0], *hands[1], turned], [*hand_0.split(), *hand_1.split(), top], strict=True))
    rest = list((Counter(full_deck(options.get("deck", "default"))) - Counter(places.values())).elements())
    deck = [places[place] if place in places else rest.pop() for place in range(105)]
    env = cardenvs.make("ringer-v0", 2, stall_limit=1, **options)
    env.reset(seed=seed_for(2, dice), options={"deck": deck})
    for place in discards:
        while "end" in legal(env):
            play(env, "end")
        play(env, f"discard {deck[place]}")
    while actor(env) != 0 or seen(env)["draw_size"] != left:
        play(env, "end")
    return env


def play(env, *texts: str) -> None:
    for text in texts:
        env.step(env.action_id(text))


def legal(env) -> list[str]:
    return [env.action_text(action) for action in env.legal_actions()]


def actor(env) -> int:
    return env.possible_agents.index(env.agent_selection)


def seen(env, seat: int | None = None) -> dict:
    """What a seat (None: the one to act) knows."""
    return facts(env, env.agent_selection if seat is None else f"player_{seat}")


def over(env) -> bool:
    return all(env.terminations.values()) or all(env.truncations.values())


def random_game(env, seed: int):
    """Play a game to its end at random; a pass is taken rarely, so that cards come on the table. Yields before each decision."""
    generator = np.random.default_rng(seed)
    while not over(env):
        yield
        actions = env.legal_actions()
        if len(actions) > 1 and env.game.actions.id("end") in actions and generator.random() < 0.6:
            actions.remove(env.game.actions.id("end"))
        env.step(int(generator.choice(actions)))


# Cards and start


@pytest.mark.parametrize("deck", ["default", "powers"])
def test_ri_01_ri_02_the_deck(deck):
    game = cardenvs.find("ringer-v0")
    cards = [game.cards[card] for card in game.deck(4, {"deck": deck})]
    assert cards == full_deck(deck)
    assert list(game.cards) == KINDS
    assert len(cards) == 105
    assert len(KINDS) == 65
    assert Counter(card[0] for card in cards) == dict.fromkeys(SUITS, 21)
    assert sum(card.endswith("reroll") for card in cards) == 15
    copies = 6 if deck == "default" else 12
    assert all(sum(card.endswith(f"-{power}") for card in cards) == copies for power in POWERS)
    assert [power_card("P", 1), power_card("P", 6), power_card("W", 4)] == ["P1-draw1", "P6-draw1", "W4-take"]


def test_ri_01_a_deck_must_be_the_whole_deck():
    env = cardenvs.make("ringer-v0", 2)
    env.reset(seed=0, options={"deck": full_deck()})
    for wrong in (full_deck("powers"), full_deck()[:-1], [*full_deck()[:-1], "P7"]):
        with pytest.raises(InvalidDeck):
            env.reset(options={"deck": wrong})


def test_ri_03_two_to_five_players():
    for players in (2, 3, 4, 5):
        env = cardenvs.make("ringer-v0", players)
        env.reset(seed=1)
        assert seen(env)["hand_sizes"] == [6] * players
    wrong: Any
    for wrong in (0, 1, 6, "2", 2.0, True):
        with pytest.raises(InvalidOption):
            cardenvs.make("ringer-v0", wrong)


@pytest.mark.parametrize(
    "options",
    [
        {"deck": "none"},
        {"wrap": 1},
        {"wrap": None},
        {"race": "fair"},
        {"starter_power": "yes"},
        {"stall_limit": 0},
        {"stall_limit": None},
        {"max_steps": 0},
        {"max_steps": 2.5},
        {"reward": "points"},
        {"hand_size": 6},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        cardenvs.make("ringer-v0", **options)


@pytest.mark.parametrize("start", [0, 1, 2])
def test_ri_04_the_deal(start):
    deck = full_deck()
    np.random.default_rng(start).shuffle(deck)
    env = cardenvs.make("ringer-v0", 3)
    env.reset(seed=seed_for(3, (4,), start), options={"deck": deck})
    assert actor(env) == start
    for seat in range(3):
        now = seen(env, seat)
        assert now["hand"] == sorted(deck[(seat - start) % 3 : 18 : 3], key=KINDS.index)
        assert (now["pile"], now["die"], now["draw_size"]) == (deck[18:19], 4, 86)
        assert (now["turn"], now["played"], now["won"]) == (start, False, [[], [], []])


def test_ri_04_the_first_card_has_no_power_and_is_no_ringer():
    env = table("", "", top="P2-draw2", dice=(2,))
    now = seen(env, 0)
    assert (now["pile"], now["won"], now["hand_sizes"], now["pending"]) == (["P2-draw2"], [[], []], [6, 6], None)


def test_ri_04_no_window_at_the_start():
    env = table("", "P3-take", top="P4")
    assert actor(env) == 0
    assert "end" in legal(env)


# What may be played


def parse(card: str) -> tuple[str, int | None]:
    """Suit, and number if it has one."""
    return card[0], None if card.endswith("reroll") else int(card[1])


def follows(card: str, top: str, wrap: bool) -> bool:
    """RI-05 … RI-09 and RI-20, read once more."""
    (suit, number), (top_suit, top_number) = parse(card), parse(top)
    wild = "W" in (suit, top_suit)
    if (suit, number) == (top_suit, top_number):  # RI-06
        return False
    if card.endswith("take") and top == "W-reroll":  # RI-20
        return False
    if number is None or top_number is None:  # RI-08
        return wild or (suit == top_suit and (number is None) != (top_number is None))
    near = abs(number - top_number) == 1 or (wrap and {number, top_number} == {1, 6})  # RI-09
    if suit == top_suit:  # RI-05, RI-07
        return near
    return number == top_number or (wild and near)


@pytest.mark.parametrize("wrap", [False, True])
def test_ri_05_to_ri_09_and_ri_20_cell_by_cell(wrap):
    """Every kind on every top card; a second card of a kind lies on top in the deck that has two."""
    envs = {deck: cardenvs.make("ringer-v0", 2, wrap=wrap, deck=deck) for deck in ("default", "powers")}
    allowed = 0
    for top in KINDS:
        twice = [deck for deck in envs if full_deck(deck).count(top) > 1]
        others = [kind for kind in KINDS if kind != top]
        for cards, deck in [([top, *others[:5]], twice[0]), *((others[at : at + 6], "default") for at in range(5, len(others), 6))]:
            rest = list((Counter(full_deck(deck)) - Counter([*cards, top])).elements())
            hands = [card for pair in zip(cards, rest, strict=False) for card in pair]
            hands += rest[len(cards) : len(cards) + 12 - len(hands)]
            rest = list((Counter(full_deck(deck)) - Counter([*hands, top])).elements())
            envs[deck].reset(seed=seed_for(2, (6,)), options={"deck": [*hands, top, *rest]})
            may = legal(envs[deck])
            for card in cards:
                assert (f"play {card}" in may) == follows(card, top, wrap), (card, top)
                allowed += follows(card, top, wrap)
    assert allowed == sum(follows(card, top, wrap) for card in KINDS for top in KINDS)


def test_ri_05_to_ri_08_examples():
    env = table("P3 P5 B4 B5 W3 W5", "", top="P4")
    assert legal(env) == ["play P3", "play P5", "play B4", "play W3", "play W5", "end"]
    env = table("P4-steal P-reroll B-reroll W-reroll W4 W6", "", top="P4")
    assert legal(env) == ["play P-reroll", "play W4", "play W-reroll", "end"]
    env = table("P3 P4 P5 W3 W4-take W6", "", top="W4")
    assert legal(env) == ["play P3", "play P4", "play P5", "play W3", "end"]
    env = table("P1 B1 P-reroll B-reroll W-reroll W6", "", top="P-reroll")
    assert legal(env) == ["play P1", "play W6", "play W-reroll", "end"]
    env = table("P1 B2-take P-reroll W4-take W-reroll W6", "", top="W-reroll")
    assert legal(env) == ["play P1", "play P-reroll", "play W6", "end"]


@pytest.mark.parametrize("wrap", [False, True])
def test_ri_09_six_and_one(wrap):
    env = table("P6 W6 B6 B1 P2 B2", "", top="P1", dice=(3,), wrap=wrap)
    assert legal(env) == (["play P2", "play P6", "play B1", "play W6", "end"] if wrap else ["play P2", "play B1", "end"])


# Turns


def test_ri_10_placed_then_power_then_window_then_on():
    env = table("P1-draw1 P2", "G1-take", top="B1", draw="Y6")
    play(env, "play P1-draw1")
    assert actor(env) == 1
    assert legal(env) == ["play G1-take", "decline"]
    assert seen(env, 0)["hand_sizes"] == [6, 6]
    assert "Y6" in seen(env, 0)["hand"]
    play(env, "decline")
    assert actor(env) == 0
    assert (seen(env)["played"], seen(env)["pile"]) == (True, ["B1", "P1-draw1"])
    play(env, "play P2", "end")
    assert actor(env) == 1
    assert not seen(env)["played"]


def test_ri_11_a_pass_draws_one_card():
    env = table("", "", "", top="P1", draw="W2 W3")
    play(env, "end")
    assert (seen(env, 0)["hand_sizes"], seen(env, 0)["draw_size"], seen(env, 0)["turn"]) == ([7, 6, 6], 85, 1)
    assert "W2" in seen(env, 0)["hand"]
    assert seen(env, 0)["passes"] == 1


def test_ri_11_with_ten_cards_one_goes_under_the_draw_pile_first():
    env = table("P1 P2", "", top="Y5", stall_limit=100)
    play(env, *["end"] * 8)
    assert seen(env, 0)["hand_sizes"] == [10, 10]
    play(env, "end")
    assert (actor(env), seen(env)["pending"]) == (0, "discard")
    assert legal(env) == [f"discard {card}" for card in dict.fromkeys(seen(env)["hand"])]
    size = seen(env)["draw_size"]
    play(env, "discard P2")
    now = seen(env, 0)
    assert (now["hand_sizes"], now["draw_size"], now["turn"]) == ([10, 10], size, 1)
    assert now["bottom"] == [[size - 1, "P2"]]
    assert seen(env, 1)["bottom"] == []


def test_ri_12_a_ringer_takes_the_pile_and_the_turn_goes_on():
    env = table("P2 P3 B5", "", top="P1", draw="W5 Y1", dice=(3, 5))
    play(env, "play P2", "play P3")
    now = seen(env)
    assert (actor(env), now["won"], now["die"], now["pile"]) == (0, [["P1", "P2", "P3"], []], 5, ["W5"])
    assert (now["played"], now["hand_sizes"], now["draw_size"]) == (True, [4, 6], 91)
    play(env, "play B5")  # a Ringer again: the turned W5 was none, though it showed the die
    assert seen(env)["won"][0] == ["P1", "P2", "P3", "W5", "B5"]


@pytest.mark.parametrize(("card", "top"), [("P2-draw2", "P1"), ("P5-ask", "P4"), ("P4-steal", "P5"), ("P3-take", "P2")])
def test_ri_12_ri_20_a_ringer_has_no_power(card, top):
    env = table(card, "", top=top, dice=(int(card[1]), 6), draw="Y1")
    play(env, f"play {card}")
    now = seen(env)
    assert (actor(env), now["won"][0], now["pending"], now["hand_sizes"]) == (0, [top, card], None, [5, 6])


@pytest.mark.parametrize(("card", "top", "words"), [("P5-ask", "P4", "ask"), ("P4-steal", "P5", "steal")])
def test_ri_13_a_power_must_be_used(card, top, words):
    env = table(card, "", top=top)
    play(env, f"play {card}")
    assert actor(env) == 0
    assert all(text.startswith(words) for text in legal(env))


def test_ri_14_a_streak_draws_six_and_the_turn_goes_on():
    env = table("P1 P2 P3 B3 B4 B5", "", top="G1", draw="W1 W2 W3 W4 W5 W6")
    play(env, "play P1", "play P2", "play P3", "play B3", "play B4")
    assert seen(env, 0)["hand_sizes"][0] == 1
    play(env, "play B5")
    assert (actor(env), seen(env)["hand"]) == (0, ["W1", "W2", "W3", "W4", "W5", "W6"])
    assert seen(env)["played"]


def test_ri_14_a_streak_follows_the_ringer():
    env = table("P1 P2 P3 B3 B4 B5", "", top="G1", draw="Y6 W1 W2 W3 W4 W5", dice=(5, 6))
    play(env, "play P1", "play P2", "play P3", "play B3", "play B4", "play B5")
    now = seen(env)
    assert (now["pile"], {"W1", "W2", "W3", "W4", "W5"} <= set(now["hand"])) == (["Y6"], True)
    assert (len(now["won"][0]), now["hand_sizes"]) == (7, [6, 6])


def test_ri_14_a_streak_follows_the_power_whatever_it_brought():
    env = table("P1 P1 P2 P2 P3 B3-steal", "", top="G1")
    play(env, "play P1", "play P2", "play P1", "play P2", "play P3", "play B3-steal")
    assert (seen(env)["hand_sizes"], seen(env)["pending"]) == ([0, 6], "steal")
    size = seen(env)["draw_size"]
    play(env, "steal +1")
    assert (seen(env)["hand_sizes"], seen(env)["draw_size"]) == ([6, 5], size - 5)


def test_ri_14_ri_21_a_hand_emptied_by_others_is_no_streak():
    """Seat 1 takes the turn and steals the last card of seat 0, which gets six cards when its own turn starts."""
    env = table("P1 P1 P2 P2 P3 Y6", "W4-take B3-steal", top="G1")
    play(env, "play P1", "play P2", "play P1", "play P2", "play P3")
    assert (actor(env), legal(env)) == (1, ["play W4-take", "decline"])
    play(env, "play W4-take", "play B3-steal", "steal +1")
    assert (seen(env)["hand_sizes"], seen(env)["owed"]) == ([0, 5], [True, False])
    play(env, "end")
    assert (actor(env), seen(env)["hand_sizes"], seen(env)["owed"]) == (0, [6, 6], [False, False])


def test_ri_15_a_turn_ends_with_six_cards():
    env = table("P1 P2 P3", "", top="B1")
    play(env, "play P1", "play P2", "end")
    assert (seen(env, 0)["hand_sizes"], actor(env)) == ([6, 6], 1)


def test_ri_11_ri_15_a_pass_with_few_cards():
    """Robbed of three cards, seat 1 passes: one card, and two more to six."""
    env = table("P4-steal W5-steal Y6-steal", "", top="P5", dice=(1,))
    play(env, "play P4-steal", "steal +1", "play W5-steal", "steal +1", "play Y6-steal", "steal +1", "end")
    assert (actor(env), seen(env)["hand_sizes"]) == (1, [6, 3])
    size = seen(env)["draw_size"]
    play(env, "end")
    assert (seen(env, 1)["hand_sizes"], seen(env, 1)["draw_size"], seen(env, 1)["passes"]) == ([6, 6], size - 3, 1)


# Powers


@pytest.mark.parametrize(
    ("what", "gives"),
    [
        ("3", ["W3"]),
        ("pink", ["P5", "P-reroll"]),
        ("5", ["P5"]),
        ("blue", ["B1"]),
        ("1", ["B1"]),
        ("yellow", []),
        ("6", []),
    ],
)
def test_ri_16_what_answers_an_ask(what, gives):
    env = table("P5-ask", "B1 P5 P-reroll W3 W-reroll W3", "P6 B6", top="P4")
    play(env, "play P5-ask")
    assert len(legal(env)) == 20
    play(env, f"ask +1 {what}")
    if not gives:
        assert actor(env) == 0
        assert seen(env, 2)["asks"] == [{"by": 0, "of": 1, "what": what, "match": False}]
        return
    for seat in range(3):
        now = seen(env, seat)
        assert (now["pending"], now["question"], now["asks"]) == ("give", {"by": 0, "of": 1, "what": what}, [])
    assert (actor(env), legal(env)) == (1, [f"give {card}" for card in gives])
    play(env, f"give {gives[-1]}")
    assert (actor(env), seen(env)["hand_sizes"]) == (0, [6, 5, 6])
    assert gives[-1] in seen(env)["hand"]
    assert [seen(env, seat)["known"] for seat in range(3)] == [[[], [], []], [[gives[-1]], [], []], [[], [], []]]
    assert seen(env, 2)["asks"] == [{"by": 0, "of": 1, "what": what, "match": True}]


def test_ri_16_steal_draws_in_kind_order_and_two_seats_see_the_card():
    for seed in range(12):
        env = cardenvs.make("ringer-v0", 3)
        hands = [
            ["P4-steal", "B1", "B2", "B3", "B4", "B5"],
            ["Y4", "P1", "W3", "P1", "G-reroll", "W3"],
            ["G1", "G2", "G3", "G4", "G5", "G6"],
        ]
        rest = list((Counter(full_deck()) - Counter(["P5", *(card for hand in hands for card in hand)])).elements())
        deals, events, blind, _ = streams(seed)
        if deals.below(3) != 0 or events.below(6) == 3:
            continue
        env.reset(seed=seed, options={"deck": [hand[i] for i in range(6) for hand in hands] + ["P5", *rest]})
        play(env, "play P4-steal")
        assert legal(env) == ["steal +1", "steal +2"]
        play(env, "steal +1")
        stolen = sorted(hands[1], key=KINDS.index)[blind.below(6)]
        assert seen(env, 0)["hand"] == sorted([*hands[0][1:], stolen], key=KINDS.index)
        assert seen(env, 1)["known"] == [[stolen], [], []]
        assert seen(env, 2)["known"] == [[], [], []]
        assert seen(env, 2)["steals"] == [{"by": 0, "of": 1}]


def test_ri_16_what_is_known_of_a_hand_that_loses_cards():
    """Seat 1 gave B3 and W3. It is sure of neither once a card went under the draw pile unseen."""
    env = table("P5-ask W6-ask P6", "B3 W3", top="P4", dice=(1,), stall_limit=100)
    play(env, "play P5-ask", "ask +1 3", "give W3", "play W6-ask", "ask +1 3", "give B3")
    assert seen(env, 1)["known"][0] == ["B3", "W3"]
    play(env, "end", "end")
    while "discard W3" not in legal(env):
        assert seen(env, 1)["known"][0] == ["B3", "W3"]
        play(env, "end" if "end" in legal(env) else legal(env)[0])
    play(env, "discard W3")
    assert seen(env, 1)["known"][0] == []


def test_ri_16_a_known_card_that_is_played_is_known_no_more():
    env = table("P5-ask", "B3 W4", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 4", "give W4")
    assert seen(env, 1)["known"][0] == ["W4"]
    play(env, "play W4")
    assert seen(env, 1)["known"][0] == []


def test_ri_17_draw_one_draw_two_and_reroll():
    env = table("P1-draw1 P2-draw2 P-reroll", "", top="B1", draw="W1 W2 W3", dice=(6, 4))
    play(env, "play P1-draw1")
    assert (seen(env)["hand_sizes"][0], "W1" in seen(env)["hand"]) == (6, True)
    play(env, "play P2-draw2")
    assert (seen(env)["hand_sizes"][0], seen(env)["hand"][-3:]) == (7, ["W1", "W2", "W3"])
    play(env, "play P-reroll")
    assert (seen(env)["die"], seen(env)["hand_sizes"][0]) == (4, 6)


def test_ri_17_more_than_ten_cards_are_put_back_before_the_window():
    env = table("P2-draw2 B6", "B2-take", top="P1", stall_limit=100)
    play(env, *["end"] * 8, "play P2-draw2")
    assert (actor(env), seen(env)["pending"], seen(env)["hand_sizes"]) == (0, "discard", [11, 10])
    size = seen(env)["draw_size"]
    play(env, "discard B6")
    assert (actor(env), legal(env)) == (1, ["play B2-take", "decline"])
    assert (seen(env, 0)["hand_sizes"], seen(env, 0)["bottom"]) == ([10, 10], [[size, "B6"]])


def window_table(**options):
    """Seat 0 plays W5, on which the other three may take the turn."""
    env = table("W5 P6", "G6-take", "Y5-take", "W4-take", top="P5", **options)
    play(env, "play W5")
    return env


def test_ri_18_they_are_asked_clockwise_and_once():
    env = window_table()
    for seat, card in ((1, "G6-take"), (2, "Y5-take"), (3, "W4-take")):
        assert (actor(env), legal(env)) == (seat, [f"play {card}", "decline"])
        play(env, "decline")
    assert (actor(env), seen(env)["passes"], "end" in legal(env)) == (0, 0, True)


def test_ri_18_the_first_to_play_closes_the_window():
    env = window_table()
    play(env, "decline", "play Y5-take")
    assert seen(env, 0)["turn"] == 2
    assert (actor(env), legal(env)) == (3, ["play W4-take", "decline"])  # the window on Y5-take


def test_ri_18_random_race():
    orders = set()
    for seed in range(200):
        deals, events, _, races = streams(seed)
        if deals.below(4) != 0 or events.below(6) == 4:
            continue
        env = cardenvs.make("ringer-v0", 4, race="random")
        hands = [["W5"], ["G6-take"], ["Y5-take"], ["W4-take"]]
        rest = Counter(full_deck()) - Counter(["P5", *(card for hand in hands for card in hand)])
        left = sorted(rest.elements(), key=lambda card: card.endswith("take"))
        for hand in hands:
            hand += [left.pop(0) for _ in range(5)]
        env.reset(seed=seed, options={"deck": [hand[i] for i in range(6) for hand in hands] + ["P5", *left]})
        play(env, "play W5")
        expected = [1, 2, 3]
        races.shuffle(expected)
        asked = []
        for _ in range(3):
            asked.append(actor(env))
            play(env, "decline")
        assert asked == expected
        assert int(env.states["rng"][0, 3]) == races.word
        orders.add(tuple(asked))
    assert len(orders) > 3


def test_ri_18_one_claimant_is_not_shuffled():
    env = table("P3", "W4-take", top="P2", race="random")
    before = int(env.states["rng"][0, 3])
    play(env, "play P3")
    assert actor(env) == 1
    assert int(env.states["rng"][0, 3]) == before


def test_ri_18_after_a_ringer_the_new_card_counts():
    env = table("P3", "G1-take", top="P2", dice=(3, 6), draw="B1")
    play(env, "play P3")
    assert (actor(env), legal(env)) == (1, ["play G1-take", "decline"])


def test_ri_18_no_window_after_a_pass_or_at_the_start_of_a_turn():
    env = table("", "", "P3-take", top="P4")
    play(env, "end")
    assert (actor(env), "end" in legal(env)) == (1, True)


def test_ri_19_a_taken_turn():
    """The card is no Ringer, the old turn ends without refill, and after the taker its left neighbour plays."""
    env = table("P1 P2 P3", "", "W4-take", top="B1", dice=(4,))
    play(env, "play P1", "play P2", "play P3", "play W4-take")
    now = seen(env)
    assert (actor(env), now["turn"], now["played"], now["won"]) == (2, 2, True, [[], [], []])
    assert (now["pile"][-1], now["hand_sizes"], now["owed"]) == ("W4-take", [3, 6, 5], [True, False, False])
    play(env, "end")
    assert (actor(env), seen(env)["hand_sizes"]) == (0, [6, 6, 6])


def test_ri_19_ri_21_the_turn_may_be_taken_back():
    """What is owed to the robbed seat is drawn as soon as its own card is placed."""
    env = table("P1 P2 P3 Y5-take", "W4-take", "", top="B1")
    play(env, "play P1", "play P2", "play P3", "play W4-take")
    assert (actor(env), legal(env)) == (0, ["play Y5-take", "decline"])
    assert (seen(env)["hand_sizes"], seen(env)["turn"]) == ([3, 5, 6], 1)
    play(env, "play Y5-take")
    assert (actor(env), seen(env)["hand_sizes"], seen(env)["owed"]) == (0, [6, 5, 6], [False, True, False])
    play(env, "end")
    assert (actor(env), seen(env)["hand_sizes"], seen(env)["owed"]) == (1, [6, 6, 6], [False] * 3)


def test_ri_14_ri_19_a_taker_may_have_a_streak():
    """Seat 1 lost its turn with one card left, takes it back with this, and holds six again."""
    env = table("W4-take", "P1 P1 P2 P2 P3 Y5-take", "", top="G1")
    play(env, "end", "play P1", "play P2", "play P1", "play P2", "play P3", "play W4-take")
    assert (actor(env), seen(env)["hand_sizes"]) == (1, [6, 1, 6])
    play(env, "play Y5-take")
    assert (actor(env), seen(env)["hand_sizes"]) == (1, [6, 6, 6])


def test_ri_20_in_the_own_turn_it_has_no_power():
    env = table("P3-take", "", "", top="P2")
    play(env, "play P3-take")
    assert (actor(env), seen(env)["turn"], seen(env)["pile"]) == (0, 0, ["P2", "P3-take"])


def test_ri_20_never_on_a_wild_reroll():
    env = table("W-reroll", "G1-take W4-take", top="P2", dice=(6, 5))
    play(env, "play W-reroll")
    assert actor(env) == 0


def test_ri_21_a_full_hand_is_owed_a_refill_as_well():
    env = table("P3", "", "W4-take", top="P2", stall_limit=100)
    play(env, "end", "end", "end", "end", "end", "end", "play P3", "play W4-take")
    assert (seen(env)["hand_sizes"], seen(env)["owed"]) == ([7, 8, 7], [True, False, False])
    play(env, "end")
    assert (actor(env), seen(env)["hand_sizes"], seen(env)["owed"]) == (0, [7, 8, 7], [False] * 3)


# The end

CHAIN = "P1 P2 P3 P4 P5 B5 B4 G4 G5"
"""Played on B1 in this order, with no 6 among them."""
PLAIN = "Y1 Y2 Y3 Y4 Y5 W5 W4 W3 W2 W1"


def plays(cards: str) -> list[str]:
    return [f"play {card}" for card in cards.split()]


def test_ri_22_the_end_phase():
    """No draw, no refill, no discard: a pass only passes, Draw 2 does nothing."""
    env = drained("P2-draw2 P1 B1 Y1 G1 W1 P3 P4 P5 P6", PLAIN.replace("Y1", "Y6").replace("W1", "W6"), "P1-draw1", dice=(6,))
    now = seen(env)
    assert (now["end_phase"], now["draw_size"], now["hand_sizes"], now["passes"]) == (True, 0, [10, 10], 0)
    play(env, "play P2-draw2")
    assert (actor(env), seen(env)["hand_sizes"]) == (0, [9, 10])
    play(env, *plays("P3 P4 P5"), "end")
    assert seen(env)["hand_sizes"] == [6, 10]
    play(env, "end")
    assert (actor(env), seen(env)["hand_sizes"], seen(env)["passes"]) == (0, [6, 10], 1)


def test_ri_22_cards_put_back_keep_the_draw_pile():
    env = drained("P2-draw2 P1 B1 Y1 G1 W1 P3 P4 P5 P6", PLAIN.replace("Y1", "Y6").replace("W1", "W6"), "P1-draw1", left=2)
    play(env, "play P2-draw2")
    assert (seen(env)["pending"], seen(env)["draw_size"], seen(env)["end_phase"]) == ("discard", 0, False)
    play(env, "discard B1")
    assert (seen(env)["draw_size"], seen(env)["end_phase"]) == (1, False)


def test_ri_22_the_last_card_drawn_by_a_power():
    env = drained("P1-draw1 P1 B1 Y1 G1 W1 P3 P4 P5 P6", PLAIN.replace("Y1", "Y6").replace("W1", "W6"), "P2", left=1)
    assert not seen(env)["end_phase"]
    play(env, "play P1-draw1")
    assert (seen(env)["hand_sizes"], seen(env)["draw_size"], seen(env)["end_phase"]) == ([10, 10], 0, True)


def test_ri_22_the_new_first_card_is_a_draw():
    """The Ringer takes 85 cards and turns the last one."""
    env = drained("P2 P1 B1 Y1 G1 W1 P3 P4 P5 P6", PLAIN.replace("Y1", "Y6").replace("W1", "W6"), "P1-draw1", left=1, dice=(2, 6))
    play(env, "play P2")
    now = seen(env)
    assert (now["draw_size"], now["end_phase"], len(now["pile"]), len(now["won"][0])) == (0, True, 1, 85)


def test_ri_21_nothing_is_owed_in_the_end_phase():
    env = drained("P3 P1 B1 Y1 G1 W1 P4 P5 P6 B6", "W4-take Y2 Y3 Y4 Y5 W5 W4 W3 W2 W1", "P2")
    play(env, "play P3", "play W4-take")
    assert (actor(env), seen(env)["owed"], seen(env)["hand_sizes"]) == (1, [False, False], [9, 9])


def test_ri_23_after_a_ringer_a_first_card_must_be_played():
    """It may be any card and is no Ringer; its power acts, and then the turn goes on."""
    env = drained("P6 P-reroll B2 Y1 G1 W1 P3 P4 P2 B1", PLAIN.replace("Y1", "Y6"), "P5", dice=(6, 2, 1))
    play(env, "play P6")
    now = seen(env)
    assert (now["pending"], now["top"], now["die"], len(now["won"][0])) == ("starter", None, 2, 86)
    assert legal(env) == [f"play {card}" for card in now["hand"]]
    twin = env.clone()
    play(env, "play B2")
    assert (actor(env), seen(env)["pile"], len(seen(env)["won"][0])) == (0, ["B2"], 86)
    assert "end" in legal(env)
    play(twin, "play P-reroll")
    assert (seen(twin)["pile"], seen(twin)["die"]) == (["P-reroll"], 1)


@pytest.mark.parametrize("starter_power", [False, True])
def test_ri_23_starter_power(starter_power):
    env = drained("P6 P4-steal B2 Y1 G1 W1 P3 P4 P2 B1", PLAIN, "P5", dice=(6, 2), starter_power=starter_power)
    play(env, "play P6", "play P4-steal")
    assert seen(env)["pending"] == ("steal" if starter_power else None)


def test_ri_23_a_window_opens_on_the_first_card():
    env = drained("P6 P3 B2 Y1 G1 W1 P3 P4 P2 B1", "W4-take Y2 Y3 Y4 Y5 W5 W4 W3 W2 W1", "P5", dice=(6, 2))
    play(env, "play P6", "play P3")
    assert (actor(env), legal(env)) == (1, ["play W4-take", "decline"])


def test_ri_23_a_take_the_turn_as_first_card_has_no_power():
    env = drained("P6 P3-take B2 Y1 G1 W1 P3 P4 P2 B1", PLAIN, "P5", dice=(6, 2))
    play(env, "play P6", "play P3-take")
    assert (actor(env), seen(env)["turn"], seen(env)["pile"]) == (0, 0, ["P3-take"])


def test_ri_23_ri_24_a_ringer_with_the_last_card():
    """The pile stays empty. Seat 1 passes, seat 0 has no cards and passes by itself, and the game is over."""
    env = drained(f"{CHAIN} G6", PLAIN, "B1", dice=(6, 3))
    play(env, *plays(CHAIN), "play G6")
    now = seen(env)
    assert (actor(env), now["turn"], now["top"], now["die"], now["hand_sizes"]) == (1, 1, None, 3, [0, 10])
    assert legal(env) == [*(f"play {card}" for card in now["hand"]), "end"]
    play(env, "end")
    assert over(env)
    assert env.scores() == [95, -10]
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}


def test_ri_23_any_card_begins_an_empty_pile():
    """A first card is no Ringer, the next one may be."""
    env = drained(f"{CHAIN} G6", PLAIN, "B1", dice=(6, 3))
    play(env, *plays(CHAIN), "play G6", "play W3")
    assert (actor(env), seen(env)["pile"], seen(env)["won"][1]) == (1, ["W3"], [])
    assert "play Y3" in legal(env)
    play(env, "play Y3")
    assert (seen(env)["won"][1], seen(env)["pending"]) == (["W3", "Y3"], "starter")


def test_ri_16_ri_24_steal_lapses_and_the_game_ends_without_cards():
    env = drained(f"{CHAIN} G6", PLAIN.replace("Y1 ", "Y1-steal "), "B1", dice=(6, 6))
    play(env, *plays(CHAIN), "play G6", "play Y1-steal")
    assert (actor(env), seen(env)["pending"]) == (1, None)
    play(env, *plays("Y2 Y3 Y4 Y5 W5 W4 W3 W2"))
    assert not over(env)
    play(env, "play W1")
    assert over(env)
    assert env.scores() == [95, 0]


def test_ri_24_a_seat_that_runs_out_of_cards_is_asked():
    env = drained(f"{CHAIN} Y5", PLAIN.replace("Y5", "Y6"), "B1", dice=(6,))
    play(env, *plays(CHAIN), "play Y5")
    assert (actor(env), legal(env), seen(env)["passes"]) == (0, ["end"], 0)
    play(env, "end")
    assert (actor(env), seen(env)["passes"]) == (1, 0)
    play(env, "end")
    assert over(env)
    assert env.scores() == [0, -10]


def test_ri_24_the_pass_that_takes_the_last_card_does_not_count():
    env = drained("P3 P1 B1 Y1 G1 W1 P4 P5 P6 B6", PLAIN.replace("W3", "W6").replace("Y1", "Y6"), "P2", left=1)
    play(env, "play P3", "end", "end", "discard Y6")
    assert (actor(env), seen(env)["passes"], seen(env)["draw_size"]) == (0, 1, 1)
    play(env, "end")
    now = seen(env)
    assert (actor(env), now["end_phase"], now["passes"], now["hand_sizes"]) == (1, True, 0, [10, 10])
    play(env, "end")
    assert not over(env)
    play(env, "end")
    assert over(env)


def test_ri_24_a_card_played_sets_the_count_to_zero():
    env = table("", "", "P2", top="P1", stall_limit=100)
    play(env, "end", "end")
    assert seen(env)["passes"] == 2
    play(env, "play P2")
    assert seen(env)["passes"] == 0


@pytest.mark.parametrize("stall_limit", [1, 2, 3])
def test_ri_25_passes_turn_a_card(stall_limit):
    """It shows the die and does not go on the top card; seat 1 could take the turn on it. Nothing of that matters."""
    draws = ["Y6"] * 2 + ["B6"] * 2 + ["P6"] * 2
    turned = "Y5-take"
    cards = [*draws[: 2 * stall_limit], turned]
    env = table("", "W4-take", top="P1", dice=(5,), draw=" ".join(cards), stall_limit=stall_limit)
    for count in range(2 * stall_limit):
        assert seen(env)["passes"] == count
        play(env, "end")
    now = seen(env)
    assert (actor(env), now["pile"], now["won"], now["passes"]) == (0, ["P1", turned], [[], []], 0)
    assert not now["played"]


@pytest.mark.parametrize("reward", ["win", "score"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_ri_26_scores_and_rewards(players, reward):
    env = cardenvs.make("ringer-v0", players, reward=reward)
    env.reset(seed=players)
    for _ in random_game(env, players):
        assert not any(env.rewards.values())
        last = env.clone()
        now = seen(env)
        assert env.scores() == [len(won) - size for won, size in zip(now["won"], now["hand_sizes"], strict=True)]
    assert all(env.terminations.values())
    scores = np.array(env.scores())
    if reward == "score":
        expected = (scores - scores.mean()) / 20
    else:
        winners = scores == scores.max()
        expected = np.where(winners, (players - winners.sum()) / (winners.sum() * (players - 1)), -1 / (players - 1))
    assert list(env.rewards.values()) == pytest.approx(expected)
    assert not over(last)


def test_ri_26_max_steps_truncates():
    env = cardenvs.make("ringer-v0", 3, max_steps=40, reward="score")
    env.reset(seed=3)
    decisions = sum(1 for _ in random_game(env, 3))
    assert decisions == 40
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    scores = np.array(env.scores())
    assert list(env.rewards.values()) == pytest.approx((scores - scores.mean()) / 20)


def test_illegal_actions_change_nothing():
    env = table("P3", "", top="P4")
    before = env.states.copy()
    for text in ("play W-reroll", "decline", "steal +1", "give P3", "ask +1 3", "discard P3"):
        with pytest.raises(IllegalAction):
            play(env, text)
    assert (env.states == before).all()


# Over whole games


def next_game(env, number: int):
    """The environment, in its next game."""
    if number > 0:
        env.reset()
    return env


def legal_by_page(now: dict, players: int, me: int, asked_in_window: bool, wrap: bool) -> set[str]:
    """The legal actions, from what the page lets the seat to act know."""
    hand, top = now["hand"], now["top"]
    if asked_in_window:
        return {f"play {card}" for card in hand if card.endswith("take") and follows(card, top, wrap)} | {"decline"}
    others = [d for d in range(1, players) if now["hand_sizes"][(me + d) % players] > 0]
    match now["pending"]:
        case "ask":
            whats = ["1", "2", "3", "4", "5", "6", "pink", "blue", "green", "yellow"]
            return {f"ask +{d} {what}" for d in others for what in whats}
        case "steal":
            return {f"steal +{d}" for d in others}
        case "give":
            what = now["question"]["what"]
            if what.isdigit():
                return {f"give {card}" for card in hand if parse(card)[1] == int(what)}
            return {f"give {card}" for card in hand if card[0] == what[0].upper()}
        case "discard":
            return {f"discard {card}" for card in hand}
        case "starter":
            return {f"play {card}" for card in hand}
    return {f"play {card}" for card in hand if top is None or follows(card, top, wrap)} | {"end"}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("options", [{}, {"deck": "powers", "wrap": True, "race": "random", "starter_power": False, "stall_limit": 1}])
def test_masks_cards_and_knowledge_in_random_games(players, options):
    """Legal actions are those of the page; the 105 cards stay 105; what is known of a hand is true."""
    env = cardenvs.make("ringer-v0", players, **options)
    env.reset(seed=players)
    deck = Counter(full_deck(options.get("deck", "default")))
    kinds: set[str] = set()
    met: Counter[str] = Counter()
    for number, _ in enumerate(decision for game in range(2) for decision in random_game(next_game(env, game), game)):
        me = actor(env)
        now = seen(env)
        in_window = now["turn"] != me and now["pending"] != "give"
        assert set(legal(env)) == legal_by_page(now, players, me, in_window, options.get("wrap", False))
        met["window" if in_window else now["pending"] or "play"] += 1
        if number % 7 == 0:
            state = env.states[0]
            hands = [Counter(cards_of(hand, env.options["deck"])) for hand in state["hand"][:players]]
            stock = [KINDS[state["stock"][(state["stock_ends"][0] + i) % 105]] for i in range(state["stock_ends"][1])]
            assert sum(hands, Counter(now["pile"]) + Counter(stock) + sum(map(Counter, now["won"]), Counter())) == deck
            assert [hand.total() for hand in hands] == now["hand_sizes"]
            assert max(now["hand_sizes"]) <= 11
            for seat, known in enumerate(now["known"]):
                assert not Counter(known) - hands[seat]
            kinds.add(now["top"])
    assert {"play", "window", "ask", "steal", "give"} <= set(met)
    assert len(kinds) > 10


def windows(players: int, count: int, **options):
    """Tables at the moment at which a seat is asked whether it takes the turn."""
    env = cardenvs.make("ringer-v0", players, **options)
    env.reset(seed=10 + players)
    found = 0
    while found < count:
        if over(env):
            env.reset()
        for _ in random_game(env, found):
            if "decline" in legal(env):
                found += 1
                yield env.clone()


def shown(env, seat: int) -> tuple:
    """All that a seat is shown (its mask apart: only the seat to act has one)."""
    agent = f"player_{seat}"
    view = env.view(agent)
    fields = [view[name].tolist() for name in view.dtype.names]
    return fields, env.observe(agent)["observation"].tobytes(), env.text(agent), env.infos[agent]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("race", ["clockwise", "random"])
def test_g_05_ri_18_a_window_shows_only_to_the_seat_that_is_asked(players, race):
    """All others are shown what they would be shown if it were over, and nothing is left of it when it is."""
    several = 0
    three_asked = [window_table(race=race)] if players == 4 else []
    for env in [*windows(players, 15, race=race, deck="powers"), *three_asked]:
        asked = actor(env)
        after = env.clone()
        while "decline" in legal(after):
            several += actor(after) != asked
            play(after, "decline")
        assert actor(after) == seen(after)["turn"]
        for seat in range(players):
            if seat != asked:
                assert shown(env, seat) == shown(after, seat)
                assert not env.observe(f"player_{seat}")["action_mask"].any()
            assert seen(after, seat)["pending"] is None
    assert several > 0 or players < 4


@pytest.mark.parametrize("players", [2, 4])
def test_g_05_a_window_without_anybody_to_ask_looks_the_same(players):
    """Without the cards that take the turn nobody is asked: the others see the same as before."""
    for env in windows(players, 15):
        asked, twin = actor(env), env.clone()
        words = np.array([7], np.uint64)
        for seat in set(range(players)) - {asked}:
            world = new_states(env.game.state, 1)
            env.game.loops.resample_one(env.view(f"player_{seat}"), words, world)
            twin.states[:] = world
            assert world["seat"][0] == world["turn"][0] == seen(env, seat)["turn"]
            assert shown(twin, seat) == shown(env, seat)


def test_g_05_ri_16_a_steal_shows_its_card_to_two_seats():
    """Whichever card is drawn, the two others are shown the same."""
    env = table("P4-steal", "P1 B2 G3 Y4 W5 W6", "", "", top="P5", dice=(1,))
    play(env, "play P4-steal")
    stolen: Counter[str] = Counter()
    views: dict[int, set[str]] = {seat: set() for seat in range(4)}
    for word in range(40):
        twin = env.clone()
        twin.states["rng"][0, 2] = word
        play(twin, "steal +1")
        stolen.update(Counter(seen(twin, 0)["hand"]) - Counter(seen(env, 0)["hand"]))
        for seat in range(4):
            views[seat].add(str(shown(twin, seat)))
    assert set(stolen) == {"P1", "B2", "G3", "Y4", "W5", "W6"}
    assert [len(views[seat]) for seat in range(4)] == [6, 6, 1, 1]


def test_g_05_ri_16_a_gift_shows_its_card_to_two_seats():
    env = table("P5-ask", "B1 B2 B-reroll", "", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 blue")
    views: dict[int, set[str]] = {seat: set() for seat in range(3)}
    for text in legal(env):
        twin = env.clone()
        play(twin, text)
        for seat in range(3):
            views[seat].add(str(shown(twin, seat)))
    assert [len(views[seat]) for seat in range(3)] == [len(legal(env)), len(legal(env)), 1]
    assert len(legal(env)) >= 3


def test_g_05_ri_11_a_card_put_under_the_draw_pile_shows_to_its_owner():
    env = table("P1 P2", "", "", top="Y5", stall_limit=100)
    play(env, *["end"] * 13)
    views: dict[int, set[str]] = {seat: set() for seat in range(3)}
    for text in legal(env):
        twin = env.clone()
        play(twin, text)
        for seat in range(3):
            views[seat].add(str(shown(twin, seat)))
    assert [len(views[seat]) for seat in range(3)] == [len(legal(env)), 1, 1]
    assert len(legal(env)) > 5


def worlds(env, seat: int, count: int):
    """States drawn from the view of a seat."""
    generator = np.random.default_rng(seat)
    for _ in range(count):
        world = new_states(env.game.state, 1)
        env.game.loops.resample_one(env.view(f"player_{seat}"), generator.integers(2**63, size=1, dtype=np.uint64), world)
        yield world[0]


def hand_in(world, seat: int) -> Counter:
    return Counter(cards_of(world["hand"][seat], "default"))


def test_resample_keeps_what_is_known():
    """A card that was given, a colour that was denied, an own card under the draw pile; a seat about to give can give."""
    env = table("P5-ask W6-ask P6", "B3 W3 B1 B2 B4 B5", "P1", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 yellow", "play W6-ask", "ask +1 3", "give W3")
    hands = set()
    for world in worlds(env, 2, 60):
        other = hand_in(world, 1)
        assert other.total() == 5
        assert not any(card.startswith("Y") for card in other)
        hands.add(tuple(sorted(other.elements())))
        assert hand_in(world, 0).total() == 5
        assert sum((hand_in(world, seat) for seat in range(3)), Counter()).total() == 16
    assert len(hands) > 50
    for world in worlds(env, 1, 20):
        assert hand_in(world, 0)["W3"] >= 1


def test_resample_while_a_seat_must_give():
    env = table("P5-ask", "W3 P1 P2 P3 P4 P5", "", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 blue")
    assert actor(env) == 0
    env = table("P5-ask", "W3 P1 P2 P3 P4 B5", "", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 blue")
    for seat in (0, 2):
        for world in worlds(env, seat, 40):
            assert any(card.startswith("B") for card in hand_in(world, 1))
            assert world["seat"] == 1


@pytest.mark.parametrize("race", ["clockwise", "random"])
def test_resample_in_a_window_draws_who_is_asked_next(race):
    """Seats between the one on turn and the viewer may hold the card too: they declined."""
    env = window_table(race=race)
    while actor(env) != 2:
        play(env, "decline")
    later, holders = set(), 0
    for world in worlds(env, 2, 300):
        claims = [int(seat) for seat in world["claims"] if seat >= 0]
        later.add(tuple(claims))
        holders += any(card.endswith("take") for card in hand_in(world, 1))
        if race == "clockwise":
            assert claims in ([], [3])
        assert (world["seat"], world["turn"]) == (2, 0)
    assert () in later
    assert len(later) > 1
    assert holders > 5
