"""The rules of Ding!, one by one (rule ids are those of its README)."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.errors import InvalidDeck, InvalidOption
from cardenvs.games.ding.cards import CARDS, COLOURS, CONDITIONS, condition_of
from tests.games.ding_facts import facts

MASK64 = (1 << 64) - 1


# Tables on fixed decks.


def table(*hands: str, starter: str, stock: str = "", seed: int = 0, **options) -> CardEnv:
    """A game in which player_0 begins with the first of `hands`; no events unless `social_percent` says so."""
    env = cardenvs.make("ding-v0", len(hands), hand_size=len(hands[0].split()), **{"social_percent": 0, **options})
    cards = deck(hands, f"{starter} {stock}")
    for number in range(seed, seed + 500):
        env.reset(seed=number, options={"deck": cards})
        if env.agent_selection == "player_0":
            return env
    raise AssertionError("player_0 never begins")


def deck(hands: Sequence[str], pile: str) -> list[str]:
    """The deck that deals these hands, in the order of turns, then turns the first card of `pile`; the others are drawn first."""
    dealt = [hand.split() for hand in hands]
    cards = [hand[place] for place in range(len(dealt[0])) for hand in dealt] + pile.split()
    return cards + [card for card in CARDS if card not in cards]


def play(env: CardEnv, *moves: str) -> None:
    """Moves as `0 play green-3`: the seat that is to act, and its action."""
    for move in moves:
        seat, action = move.split(" ", 1)
        assert env.agent_selection == f"player_{seat}", move
        env.step(env.action_id(action))


def legal(env: CardEnv) -> list[str]:
    return [env.action_text(action) for action in env.legal_actions()]


def seen(env: CardEnv, seat: int | None = None) -> dict:
    """The facts of a seat (None: the one to act), read from its view; `test_observations_hold_the_facts` reads them from observations."""
    agent = env.agent_selection if seat is None else f"player_{seat}"
    view = env.view(agent)[0]
    me, seats, holder = int(agent[-1]), env.num_players, view.holder.tolist()
    true_cards = view.true_cards[: view.num_true].tolist()
    hand = [card for card in range(81) if holder[card] == me]
    places = view.reshuffled.tolist()
    return {
        "discards": [CARDS[card] for card in view.discards[: view.num_discards].tolist()],
        "last_reshuffle": [CARDS[places.index(place)] for place in range(int(view.num_reshuffled), 0, -1)],
        "draw_pile": int(view.stock_size),
        "hand_sizes": view.hand_sizes[:seats].tolist(),
        "turn": int(view.turn),
        "event": int(view.event) if view.event >= 0 else None,
        "subject": int(view.subject) if view.event >= 0 else None,
        "hand_size": int(view.hand_size),
        "falsely_called": [[CARDS[card] for card in np.flatnonzero((view.called == 1) & (view.holder == other))] for other in range(seats)],
        "hand": [CARDS[card] for card in hand],
        "true_now": [card in true_cards for card in hand],
    }


def phase(env: CardEnv) -> str:
    """What the seat to act is asked."""
    return ("turn", "drawn card", "window")[env.view(env.agent_selection)[0].phase]


def over(env: CardEnv) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def random_games(count: int, seed: int = 0, **options) -> Iterator[tuple[CardEnv, np.random.Generator]]:
    """Tables at every decision of random games with 2-7 players, each with the generator of its players."""
    for game in range(count):
        env = cardenvs.make("ding-v0", 2 + game % 6, **{"hand_size": 4, "max_steps": 120, **options})
        env.reset(seed=seed + game)
        rng = np.random.default_rng([seed, game])
        while not over(env):
            yield env, rng
            env.step(rng.choice(env.legal_actions()))


MIXTURES = (
    {},
    {"false_dings": True},
    {"conditions": "pile_and_hand", "race": "random", "play_drawn": True},
    {"voluntary_pass": True, "starter_counts": False, "social_percent": 100},
    {
        "false_dings": True,
        "conditions": "pile_and_hand",
        "race": "random",
        "play_drawn": True,
        "voluntary_pass": True,
        "starter_counts": False,
    },
    {"conditions": "none", "false_dings": True},
)


# Cards and conditions.


def test_di_01_cards():
    assert len(CARDS) == len(set(CARDS)) == 81
    assert COLOURS == ("green", "yellow", "pink", "violet", "orange", "blue", "brown", "black", "grey")
    assert [CARDS[9 * c + number - 1] for c, number in ((0, 7), (8, 9), (4, 1))] == ["green-7", "grey-9", "orange-1"]
    game = cardenvs.find("ding-v0")
    assert game.cards == CARDS
    assert list(game.deck(4, {})) == list(range(81))


def test_di_02_every_card_prints_a_condition_of_its_own():
    printed = [condition_of(card, "v1") for card in range(81)]
    assert Counter(printed) == Counter(CONDITIONS)
    assert len({condition.label for condition in CONDITIONS}) == 81

    def label(card: str) -> str:
        return condition_of(CARDS.index(card), "v1").label

    assert label("green-1") == "the last card is higher by exactly 1 than the one before"
    assert label("grey-1") == "the last two cards are 4s"
    assert label("grey-2") == "the last two cards are green"
    assert label("green-2") == "the last two cards are yellow"
    assert [label(f"{colour}-4") for colour in COLOURS[:8]] == [f"the last two cards are {k}s" for k in (1, 2, 3, 5, 6, 7, 8, 9)]
    assert label("grey-4") == "the last three cards have the same number"
    assert label("green-3") == 'somebody answers a question with "yes"'
    assert label("green-5") == "somebody makes a mistake about the rules"
    assert label("grey-6") == "somebody counts aloud"
    assert label("green-7") == "somebody leans back in their chair"
    assert label("brown-8") == "somebody rolls up a sleeve"
    assert label("grey-9") == "somebody snaps their fingers"


def test_di_02_pile_and_hand_repeats_27_conditions():
    for card, text in enumerate(CARDS):
        colour, number = text.split("-")
        base = {"3": "1", "7": "1", "5": "2", "8": "2", "6": "4", "9": "4"}.get(number, number)
        assert condition_of(card, "pile_and_hand") is condition_of(CARDS.index(f"{colour}-{base}"), "v1")
        assert condition_of(card, "none") is None


NUMBERS_OF_4S = (1, 2, 3, 5, 6, 7, 8, 9)


def is_true(card: str, seat: int, table: dict, options: dict) -> bool:
    """Whether the condition of a card in the hand of a seat is true now: DI-02, DI-03, DI-11 and DI-12 read once more."""
    colour, number = COLOURS.index(card.split("-")[0]), int(card[-1])
    if options["conditions"] == "none":
        return False
    if options["conditions"] == "pile_and_hand":
        number = {3: 1, 7: 1, 5: 2, 8: 2, 6: 4, 9: 4}.get(number, number)
    pile = table["discards"]
    if not options["starter_counts"] and not table["last_reshuffle"]:
        pile = pile[1:]
    colours = [discard.split("-")[0] for discard in pile]
    numbers = [int(discard[-1]) for discard in pile]
    mine = table["hand_sizes"][seat]
    others = table["hand_sizes"][:seat] + table["hand_sizes"][seat + 1 :]
    two, three = len(pile) >= 2, len(pile) >= 3
    if number == 1:
        return [
            two and numbers[-1] == numbers[-2] + 1,
            two and numbers[-1] == numbers[-2] - 1,
            two and numbers[-1] == numbers[-2],
            two and colours[-1] == colours[-2],
            three and colours[-1] == colours[-2] == colours[-3],
            1 in others,
            mine == 1,
            max(others) > table["hand_size"],
            two and numbers[-2:] == [4, 4],
        ][colour]
    if number == 2:
        return two and colours[-2:] == [COLOURS[(colour + 1) % 9]] * 2
    if number == 4:
        if colour == 8:
            return three and numbers[-1] == numbers[-2] == numbers[-3]
        return two and numbers[-2:] == [NUMBERS_OF_4S[colour]] * 2
    return table["event"] == 9 * [3, 5, 6, 7, 8, 9].index(number) + colour and table["subject"] != seat


@pytest.mark.parametrize("options", MIXTURES, ids=range(len(MIXTURES)))
def test_di_02_di_03_di_10_di_11_di_12_conditions_are_true_by_the_page(options):
    """For every seat at every decision, in turns and in windows."""
    found: Counter = Counter()
    for env, _ in random_games(6, seed=1, **options):
        for seat in range(env.num_players):
            table = seen(env, seat)
            truth = [is_true(card, seat, table, env.options) for card in table["hand"]]
            assert table["true_now"] == truth
            found.update(card for card, true in zip(table["hand"], truth, strict=True) if true)
    assert len(found) > 10 or options.get("conditions") == "none"


@pytest.mark.parametrize(
    ("card", "starter", "played", "callable_now"),
    [
        ("green-1", "pink-6", "pink-7", True),
        ("green-1", "pink-6", "pink-8", False),
        ("green-1", "pink-9", "pink-1", False),  # DI-11: no step from 9 to 1
        ("yellow-1", "pink-6", "pink-5", True),
        ("yellow-1", "pink-6", "pink-7", False),
        ("yellow-1", "pink-1", "pink-9", False),
        ("pink-1", "blue-6", "grey-6", True),
        ("pink-1", "blue-6", "blue-7", False),
        ("violet-1", "blue-6", "blue-8", True),
        ("violet-1", "blue-6", "grey-6", False),
        ("grey-1", "blue-4", "grey-4", True),
        ("grey-1", "blue-5", "grey-5", False),
        ("green-2", "yellow-5", "yellow-8", True),
        ("green-2", "pink-5", "pink-8", False),
        ("grey-2", "green-5", "green-8", True),
        ("green-4", "blue-1", "grey-1", True),
        ("violet-4", "blue-5", "grey-5", True),
        ("violet-4", "blue-4", "grey-4", False),
        ("black-4", "blue-9", "grey-9", True),
    ],
)
def test_di_02_pile_conditions_of_two_cards(card, starter, played, callable_now):
    env = table(f"{played} brown-3", f"{card} brown-8", starter=starter)
    play(env, f"0 play {played}")
    assert env.agent_selection == "player_1"
    assert legal(env) == ([f"ding {card}", "decline"] if callable_now else legal(env))
    assert any(action.startswith("ding") for action in legal(env)) == callable_now


@pytest.mark.parametrize(
    ("card", "starter", "first", "second", "callable_now"),
    [
        ("orange-1", "blue-6", "blue-8", "blue-3", True),
        ("orange-1", "blue-6", "blue-8", "grey-8", False),
        ("grey-4", "blue-6", "grey-6", "pink-6", True),
        ("grey-4", "blue-6", "grey-6", "grey-8", False),
    ],
)
def test_di_02_pile_conditions_of_three_cards(card, starter, first, second, callable_now):
    env = table(f"{first} brown-3 brown-5", f"{second} brown-8 brown-9", f"{card} yellow-8 yellow-9", starter=starter)
    play(env, f"0 play {first}", f"1 play {second}")
    assert (f"ding {card}" in legal(env)) == callable_now


def test_di_02_di_03_somebody_else_has_one_card():
    """blue-1 needs another seat with one card; that its holder has one itself does not count."""
    env = table("green-3 brown-8", "green-8 blue-1", "green-5 grey-7", starter="green-6")
    play(env, "0 play green-3")
    assert (env.agent_selection, legal(env)) == ("player_1", ["ding blue-1", "decline"])
    alone = table("green-3 blue-1", "yellow-8 yellow-7", "yellow-5 grey-7", starter="green-6")
    play(alone, "0 play green-3")
    assert legal(alone) == ["draw"]
    assert seen(alone, 0)["true_now"] == [False]


def test_di_02_only_this_card():
    """brown-1 is callable, and wins, as soon as it is the last card."""
    env = table("green-3 brown-1", "yellow-8 yellow-7", starter="green-6")
    assert seen(env, 0)["true_now"] == [False, False]
    play(env, "0 play green-3", "0 ding brown-1")
    assert env.scores() == [0, -2]
    assert all(env.terminations.values())


def test_di_02_di_11_more_cards_than_were_dealt():
    """black-1 compares the others' hands with `hand_size`, whatever its holder has."""
    env = table("green-3 brown-8 black-1", "pink-7 pink-8 yellow-2", starter="green-6", stock="yellow-4")
    play(env, "0 play green-3")
    assert not any(seen(env, 0)["true_now"])
    play(env, "1 draw")
    assert seen(env, 0)["hand_sizes"] == [2, 4]
    assert (env.agent_selection, legal(env)) == ("player_0", ["ding black-1", "decline"])
    own = table("pink-8 brown-8 black-1", "pink-7 pink-9 yellow-2", starter="green-6", stock="yellow-4")
    play(own, "0 draw")  # the holder itself has four
    assert not any(seen(own, 0)["true_now"])


# Setup and turns.


def test_di_04_deal():
    """One card at a time from the start seat; one is turned; no event, no window."""
    for seed in range(20):
        env = cardenvs.make("ding-v0", 5, hand_size=3, social_percent=100)
        env.reset(seed=seed, options={"deck": CARDS})
        start = int(env.agent_selection[-1])
        for k in range(5):
            table = seen(env, (start + k) % 5)
            assert table["hand"] == [CARDS[k], CARDS[5 + k], CARDS[10 + k]]
            assert (table["discards"], table["draw_pile"]) == ([CARDS[15]], 81 - 16)
            assert (table["turn"], table["event"], table["hand_size"]) == (start, None, 3)
    assert seen(cardenvs_started(4))["hand_sizes"] == [8] * 4


def cardenvs_started(num_players: int, seed: int = 0, **options) -> CardEnv:
    env = cardenvs.make("ding-v0", num_players, **options)
    env.reset(seed=seed)
    return env


def test_di_04_start_seats_are_drawn():
    starts = Counter(cardenvs_started(3, seed).agent_selection for seed in range(150))
    assert set(starts) == {"player_0", "player_1", "player_2"}
    assert min(starts.values()) > 25


def test_di_04_what_fits_the_deck():
    for num_players in range(2, 8):
        for hand_size in range(2, 14):
            if num_players * hand_size + 3 <= 81:
                env = cardenvs_started(num_players, hand_size=hand_size)
                assert seen(env)["hand_sizes"] == [hand_size] * num_players
            else:
                with pytest.raises(
                    InvalidOption, match=f"hand_size={hand_size} is not allowed with {num_players} players: .* at most 1[12]"
                ):
                    cardenvs.make("ding-v0", num_players, hand_size=hand_size)


def test_di_05_a_card_with_the_number_or_the_colour_must_be_played():
    env = table("green-3 pink-6 blue-7", "brown-8 yellow-6 pink-9", starter="green-6")
    assert legal(env) == ["play green-3", "play pink-6"]
    play(env, "0 play pink-6")
    assert legal(env) == ["play yellow-6", "play pink-9"]


def test_di_05_with_none_a_card_is_drawn_and_the_turn_ends():
    env = table("yellow-3 pink-7 blue-7", "brown-8 yellow-6 pink-9", starter="green-6", stock="green-8")
    assert legal(env) == ["draw"]
    play(env, "0 draw")
    assert env.agent_selection == "player_1"
    assert seen(env, 0)["hand"] == ["green-8", "yellow-3", "pink-7", "blue-7"]
    assert seen(env, 1)["draw_pile"] == 81 - 6 - 2


def test_di_05_voluntary_pass():
    env = table("green-3 pink-6 blue-7", "brown-8 yellow-6 pink-9", starter="green-6", stock="green-8", voluntary_pass=True)
    assert legal(env) == ["play green-3", "play pink-6", "draw"]
    play(env, "0 draw")
    assert env.agent_selection == "player_1"
    assert seen(env, 0)["hand_sizes"] == [4, 3]


def test_di_05_play_drawn():
    """Drawing and playing the card are one turn action; in between, the next in turn is the drawer's left."""
    hands = ("yellow-3 pink-7 blue-7", "brown-8 yellow-6 pink-8", "orange-1 orange-2 orange-3")
    env = table(*hands, starter="green-6", stock="green-8", play_drawn=True)
    play(env, "0 draw")
    assert (env.agent_selection, legal(env)) == ("player_0", ["play green-8", "decline"])
    assert [seen(env, seat)["turn"] for seat in range(3)] == [1, 1, 1]
    assert "green-8" in env.text("player_0")
    assert "green-8" not in env.text("player_1")
    declined = env.clone()
    play(env, "0 play green-8")
    assert legal(env) == ["play pink-8", "play brown-8"]
    assert seen(env)["hand_sizes"] == [3, 3, 3]
    play(declined, "0 decline")
    assert legal(declined) == ["play yellow-6"]
    assert seen(declined)["hand_sizes"] == [4, 3, 3]


def test_di_05_a_drawn_card_that_does_not_fit_is_kept():
    env = table("yellow-3 pink-7", "brown-8 yellow-6", starter="green-6", stock="violet-9", play_drawn=True)
    play(env, "0 draw")
    assert env.agent_selection == "player_1"


def test_di_05_di_12_play_drawn_has_one_event_and_one_window():
    """No event while the drawn card is asked about, one after it."""
    env = table("yellow-3 pink-7", "brown-8 yellow-6", starter="green-6", stock="green-8", play_drawn=True, social_percent=100)
    words = env.states["rng"].copy()
    play(env, "0 draw")
    assert seen(env, 1)["event"] is None
    assert (env.states["rng"] == words).all()
    play(env, "0 decline")
    assert seen(env, 1)["event"] is not None


def test_di_06_nothing_to_draw():
    """The pile is not refilled when its last card goes; two discards stay, so that a draw may bring nothing."""
    first = [card for card in CARDS if not card.startswith("green") and not card.endswith("-1")]
    hands = [" ".join(first[13 * k : 13 * k + 13]) for k in range(4)]
    rest = [card for card in CARDS if card not in " ".join(hands).split() and card != "green-1"]
    hands += [" ".join(rest[:13]), " ".join(rest[13:26])]
    env = table(*hands, starter="green-1", conditions="none")
    assert seen(env)["draw_pile"] == 2
    play(env, "0 draw", "1 draw")
    assert seen(env)["draw_pile"] == 0
    assert seen(env)["last_reshuffle"] == []
    sizes = seen(env)["hand_sizes"]
    play(env, "2 draw")
    assert seen(env, 2)["hand_sizes"] == sizes
    assert seen(env, 2)["last_reshuffle"] == []
    assert seen(env, 2)["turn"] == 3


def test_di_06_reshuffle():
    """All discards but the top two, shuffled from oldest to newest with stream 1, are the new draw pile."""
    env = cardenvs.make("ding-v0", 6, hand_size=13, social_percent=0, conditions="none")
    reshuffles = 0
    for seed in range(12):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not over(env) and reshuffles <= seed:
            actor, before, word = int(env.agent_selection[-1]), seen(env), int(env.states["rng"][0, 1])
            action = int(rng.choice(env.legal_actions()))
            env.step(action)
            after = seen(env, actor)
            if after["last_reshuffle"] != before["last_reshuffle"]:
                reshuffles += 1
                assert (env.action_text(action), before["draw_pile"]) == ("draw", 0)
                assert after["last_reshuffle"] == before["discards"]
                assert after["discards"] == before["discards"][-2:]
                pile = Splitmix(word).shuffled(before["discards"][:-2])
                assert set(after["hand"]) - set(before["hand"]) == {pile[0]}
                assert after["draw_pile"] == len(pile) - 1
            elif env.action_text(action) == "draw":
                assert after["draw_pile"] == max(0, before["draw_pile"] - 1)
    assert reshuffles >= 8


class Splitmix:
    """G-06 and G-07, in whole numbers."""

    def __init__(self, word: int):
        self.word = word

    def next(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) & MASK64
        z = self.word
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK64
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return ((self.next() >> 32) * n) >> 32

    def shuffled(self, items) -> list:
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def test_di_04_di_12_chance_in_order():
    """Stream 0: the start seat, the shuffle. Stream 1, after each turn action: whether, what, whose. None after the last one."""
    env = cardenvs.make("ding-v0", 4, conditions="none", social_percent=60)
    env.reset(seed=3)
    lane = Splitmix(int(np.random.SeedSequence(3).generate_state(1, np.uint64)[0]))
    game = Splitmix(lane.next())
    streams = [Splitmix(game.next()) for _ in range(4)]
    start = streams[0].below(4)
    deck = streams[0].shuffled(CARDS)
    assert env.agent_selection == f"player_{start}"
    for k in range(4):
        assert seen(env, (start + k) % 4)["hand"] == sorted(deck[k:32:4], key=CARDS.index)
    assert seen(env)["discards"] == [deck[32]]
    events = set()
    while not over(env):
        before = seen(env)
        env.step(env.legal_actions()[0])
        if seen(env, 0)["last_reshuffle"] != before["last_reshuffle"]:
            streams[1].shuffled(before["discards"][:-2])
        if not over(env):
            event, subject = (streams[1].below(54), streams[1].below(4)) if streams[1].below(100) < 60 else (None, None)
            assert (seen(env)["event"], seen(env)["subject"]) == (event, subject)
            events.add(event)
    assert len(events) > 5
    assert env.states["rng"][0].tolist() == [stream.word for stream in streams]


def test_di_07_win_by_a_play():
    """At once: no event is drawn, no window opens."""
    env = table("green-3 green-8", "blue-7 yellow-5", "orange-2 pink-9", starter="green-6", social_percent=100, conditions="none")
    play(env, "0 play green-3", "1 draw", "2 draw")
    words = env.states["rng"].copy()
    play(env, "0 play green-8")
    assert list(env.rewards.values()) == [1, -0.5, -0.5]
    assert all(env.terminations.values())
    assert (env.states["rng"] == words).all()
    assert seen(env, 1)["event"] is None
    assert "player_0 has won" in env.text("player_2")


def test_di_07_win_by_a_ding():
    env = table("green-3 violet-1", "blue-7 yellow-5", starter="green-6", social_percent=100)
    play(env, "0 play green-3")
    words = env.states["rng"].copy()
    play(env, "0 ding violet-1")
    assert list(env.rewards.values()) == [1, -1]
    assert all(env.terminations.values())
    assert (env.states["rng"] == words).all()
    assert seen(env, 1)["event"] is None


# DING.


FOUR = ("green-7 green-1 brown-9", "grey-2 brown-8 pink-5", "violet-1 yellow-3 blue-5", "pink-9 pink-8 orange-3")


def test_di_08_a_window_asks_clockwise_and_ends_with_the_seat_that_acted():
    env = table(*FOUR, starter="green-6")
    play(env, "0 play green-7")
    for seat, action in ((1, "ding grey-2"), (2, "ding violet-1"), (0, "ding green-1")):
        assert (env.agent_selection, legal(env)) == (f"player_{seat}", [action, "decline"])
        env.step(env.action_id("decline"))
    assert (env.agent_selection, legal(env)) == ("player_1", ["draw"])


def test_di_08_the_first_ding_closes_the_window():
    env = table(*FOUR, starter="green-6")
    play(env, "0 play green-7", "1 decline", "2 ding violet-1")
    assert env.agent_selection == "player_3"  # nothing is true now: violet-1 on green-7
    assert seen(env)["discards"] == ["green-6", "green-7", "violet-1"]
    assert seen(env)["hand_sizes"] == [2, 3, 2, 3]


def test_di_08_several_true_cards():
    env = table("green-7 brown-9", "violet-1 green-1", starter="green-6")
    play(env, "0 play green-7")
    assert legal(env) == ["ding green-1", "ding violet-1", "decline"]


def test_di_08_after_a_draw_too():
    """The pile is as the play left it, so player_2 is asked again; the drawer is asked last."""
    env = table(*FOUR, starter="green-6", stock="pink-4")
    play(env, "0 play green-7", "1 decline", "2 decline", "0 decline", "1 draw")
    assert env.agent_selection == "player_2"
    play(env, "2 decline", "0 decline", "1 decline")
    assert env.agent_selection == "player_2"
    assert legal(env) == ["draw"]


def test_di_08_race_random():
    """The asked seats, listed clockwise, are shuffled with stream 3, anew in each window; one asked seat takes no draw."""
    orders = Counter()
    env = table(*FOUR, starter="green-6", race="random")
    for _ in range(30):
        word = int(env.states["rng"][0, 3])
        expected = Splitmix(word)
        order = expected.shuffled([1, 2, 0])
        play(env, "0 play green-7")
        assert int(env.states["rng"][0, 3]) == expected.word
        orders[tuple(order)] += 1
        for seat in order:
            play(env, f"{seat} decline")
        again = expected.shuffled([2, 0, 1])
        play(env, "1 draw")
        assert env.agent_selection == f"player_{again[0]}"
        env = table(*FOUR, starter="green-6", race="random", seed=env.seed + 1)
    assert len(orders) == 6
    alone = table("green-7 brown-9", "violet-1 blue-8", starter="green-6", race="random")
    word = int(alone.states["rng"][0, 3])
    play(alone, "0 play green-7")
    assert alone.agent_selection == "player_1"
    assert int(alone.states["rng"][0, 3]) == word


def test_di_09_a_ding_skips_to_the_left_of_the_caller():
    skip = table(*FOUR, starter="green-6")
    play(skip, "0 play green-7", "1 decline", "2 ding violet-1")
    assert seen(skip)["turn"] == 3
    own_turn = table(*FOUR, starter="green-6")
    play(own_turn, "0 play green-7", "1 ding grey-2")  # its own turn would have come next
    assert (own_turn.agent_selection, seen(own_turn)["turn"]) == ("player_2", 2)
    free = table(*FOUR, starter="green-6")
    play(free, "0 play green-7", "1 decline", "2 decline", "0 ding green-1")
    assert (free.agent_selection, seen(free)["turn"]) == ("player_1", 1)


def test_di_09_of_several_callers_the_last_counts():
    """player_3's violet-1 on green-1 makes player_1's pink-1 true."""
    env = table("green-1 brown-9 brown-5", "pink-1 blue-8 blue-3", "grey-9 orange-5 orange-3", "violet-1 grey-3 grey-5", starter="green-6")
    play(env, "0 play green-1", "3 ding violet-1")
    assert (env.agent_selection, legal(env)) == ("player_1", ["ding pink-1", "decline"])
    play(env, "1 ding pink-1")
    assert (env.agent_selection, seen(env)["turn"]) == ("player_2", 2)
    assert seen(env)["discards"] == ["green-6", "green-1", "violet-1", "pink-1"]


def test_di_10_a_condition_that_is_no_longer_true_is_lost():
    """player_2 is not asked for its violet-1 after player_1's DING."""
    env = table(*FOUR, starter="green-6")
    play(env, "0 play green-7", "1 ding grey-2")
    assert env.agent_selection == "player_2"
    assert "ding violet-1" not in legal(env)
    assert seen(env)["true_now"] == [False, False, False]


def test_di_10_judged_anew_after_a_ding():
    env = table("green-1 brown-9 brown-5", "green-4 blue-8 blue-3", "grey-9 orange-5 orange-3", "violet-1 grey-3 grey-5", starter="green-6")
    play(env, "0 play green-1")
    assert env.agent_selection == "player_3"
    play(env, "3 ding violet-1")
    assert (env.agent_selection, legal(env)) == ("player_1", ["ding green-4", "decline"])


def test_di_11_starter_counts():
    """With starter_counts=False, one counted card is too few."""
    hands = ("green-7 brown-9 brown-5", "violet-1 green-8 blue-3")
    assert table(*hands, starter="green-6").options["starter_counts"] is True
    env = table(*hands, starter="green-6", starter_counts=False)
    play(env, "0 play green-7")
    assert legal(env) == ["play green-8"]
    play(env, "1 play green-8")
    assert legal(env) == ["ding violet-1", "decline"]


def test_di_11_the_starter_counts_again_after_a_reshuffle():
    """Taken from the pile by the reshuffle: from then on every card counts; checked with `is_true` over long games."""
    checked = 0
    for env, _ in random_games(12, seed=7, hand_size=9, starter_counts=False, max_steps=400):
        table = seen(env)
        if table["last_reshuffle"]:
            checked += 1
            assert table["true_now"] == [is_true(card, int(env.agent_selection[-1]), table, env.options) for card in table["hand"]]
    assert checked > 50


EVENT_NUMBERS = (3, 5, 6, 7, 8, 9)


def test_di_12_events():
    """Anyone but the subject may call the card of the event, in the window that opens then."""
    asked = Counter()
    for seed in range(60):
        env = cardenvs.make("ding-v0", 3, hand_size=3, social_percent=100)
        hands = ["green-2 brown-2 brown-4", "blue-2 blue-4 black-4", "orange-2 orange-4 pink-4"]
        env.reset(seed=seed, options={"deck": deck(hands, "green-4")})
        if env.agent_selection != "player_0":
            continue
        play(env, "0 play green-2")
        happened = seen(env, 0)
        card = f"{COLOURS[happened['event'] % 9]}-{EVENT_NUMBERS[happened['event'] // 9]}"
        assert env.text("player_0").count(f"player_{happened['subject']} ") >= 1
        for holder in range(3):
            given = hands.copy()
            given[holder] = given[holder].rsplit(" ", 1)[0] + " " + card
            env.reset(seed=seed, options={"deck": deck(given, "green-4")})
            play(env, "0 play green-2")
            assert (seen(env)["event"], seen(env)["subject"]) == (happened["event"], happened["subject"])
            if holder == happened["subject"]:
                assert env.agent_selection == "player_1"
                assert f"ding {card}" not in legal(env)
                asked["subject"] += 1
            else:
                assert (env.agent_selection, legal(env)) == (f"player_{holder}", [f"ding {card}", "decline"])
                declined = env.clone()
                play(env, f"{holder} ding {card}")
                assert seen(env)["event"] is None  # gone with the call
                play(declined, f"{holder} decline")
                assert seen(declined)["event"] == happened["event"]  # until the next turn action
                asked["other"] += 1
    assert asked["subject"] > 5
    assert asked["other"] > 10


def test_di_12_how_often():
    """social_percent is the share of turn actions that are followed by an event; each event and each seat comes about."""
    for percent, low, high in ((0, 0, 0), (100, 1, 1), (30, 0.24, 0.36)):
        happened, subjects, turns = 0, set(), 0
        for env, _ in random_games(6, seed=3, social_percent=percent, conditions="none"):
            if len(env.record()["actions"]):
                turns += 1
                happened += seen(env)["event"] is not None
                subjects.add(seen(env)["subject"])
        assert low <= happened / turns <= high
        assert len(subjects) >= (5 if percent else 1)


THREE = ("green-7 brown-4 blue-4", "grey-9 pink-4 orange-4", "green-5 yellow-4 yellow-2")


def test_di_13_every_seat_may_call_any_card():
    env = table(*THREE, starter="green-6", false_dings=True)
    play(env, "0 play green-7")
    assert (env.agent_selection, legal(env)) == ("player_1", ["ding pink-4", "ding orange-4", "ding grey-9", "decline"])
    play(env, "1 decline")
    assert legal(env) == ["ding green-5", "ding yellow-2", "ding yellow-4", "decline"]
    play(env, "2 decline")
    assert legal(env) == ["ding blue-4", "ding brown-4", "decline"]
    play(env, "0 decline")
    assert seen(env)["turn"] == 1
    assert env.agent_selection == "player_1"


def test_di_13_a_false_call():
    """The card stays, one is drawn, all know the card; the mistake is the event; a new window; the turn stays where it was."""
    env = table(*THREE, starter="green-6", stock="violet-9", false_dings=True)
    play(env, "0 play green-7", "1 ding grey-9")
    public = seen(env, 0)
    assert public["hand_sizes"] == [2, 4, 3]
    assert public["falsely_called"] == [[], ["grey-9"], []]
    assert (public["event"], public["subject"]) == (9, 1)
    assert public["turn"] == 1
    assert seen(env, 1)["hand"] == ["pink-4", "violet-9", "orange-4", "grey-9"]
    assert "player_1 makes a mistake about the rules." in env.text("player_0")
    assert "falsely called grey-9" in env.text("player_0")
    assert env.agent_selection == "player_2"  # the left of the caller
    assert seen(env)["true_now"] == [True, False, False]  # green-5
    play(env, "2 decline", "0 decline")
    assert (env.agent_selection, legal(env)) == ("player_1", ["decline"])  # once false in this stretch
    play(env, "1 decline")
    assert env.agent_selection == "player_1"
    assert legal(env) == ["draw"]
    play(env, "1 draw")
    play(env, "2 decline", "0 decline")
    assert "ding pink-4" in legal(env)  # a new stretch


def test_di_13_true_calls_stay_true_calls():
    """green-5 is true by the mistake; its DING takes the event away and the turn to the caller's left."""
    env = table(*THREE, starter="green-6", stock="violet-9", false_dings=True)
    play(env, "0 play green-7", "1 ding grey-9", "2 ding green-5")
    public = seen(env, 1)
    assert (public["event"], public["turn"], public["hand_sizes"]) == (None, 0, [2, 4, 2])
    assert env.agent_selection == "player_0"  # all are asked again, from the left of player_2
    play(env, "0 decline")
    assert (env.agent_selection, legal(env)) == ("player_1", ["decline"])


def test_di_13_after_a_false_call_only_true_cards():
    """player_1 was false; when its violet-1 becomes true in the same stretch, it may call that one."""
    hands = ("green-7 brown-4 blue-4", "grey-9 violet-1 orange-4", "pink-5 yellow-4 yellow-2")
    env = table(*hands, starter="green-6", stock="violet-9", false_dings=True)
    play(env, "0 play green-7", "1 ding grey-9", "2 decline", "0 decline")
    assert legal(env) == ["ding violet-1", "decline"]


def test_di_13_a_called_card_is_known_until_it_is_played():
    env = table("grey-9 brown-4 blue-4", "grey-4 pink-3 orange-3", starter="grey-6", false_dings=True)
    play(env, "0 play grey-9", "1 decline", "0 ding blue-4", "1 decline", "0 decline", "1 play grey-4", "0 decline", "1 decline")
    assert [seen(env, seat)["falsely_called"] for seat in range(2)] == [[["blue-4"], []]] * 2
    play(env, "0 play blue-4")
    assert [seen(env, seat)["falsely_called"] for seat in range(2)] == [[[], []]] * 2


def test_di_14_truncation():
    """The decision that reaches the limit is resolved, event and window included; all returns are 0."""
    env = cardenvs.make("ding-v0", 3, max_steps=6, social_percent=100)
    for seed in range(20):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not over(env):
            words = env.states["rng"][0].tolist()
            env.step(rng.choice(env.legal_actions()))
        if len(env.record()["actions"]) == 6 and all(env.truncations.values()):
            assert not any(env.terminations.values())
            assert set(env.rewards.values()) == {0}
            assert env.scores() == [-size for size in seen(env, 0)["hand_sizes"]]
            if env.record()["actions"][-1] != "decline" and "ding" not in env.record()["actions"][-1]:
                assert env.states["rng"][0, 1] != words[1]
                assert seen(env, 0)["event"] is not None


def test_di_14_scores():
    env = table("green-3 green-8", "blue-7 yellow-5", "orange-2 pink-9", starter="green-6", conditions="none", reward="score")
    play(env, "0 play green-3")
    assert env.scores() == [-1, -2, -2]
    play(env, "1 draw", "2 draw", "0 play green-8")
    assert env.scores() == [0, -3, -3]
    assert list(env.rewards.values()) == pytest.approx([0.2, -0.1, -0.1])


# Whole games.


@pytest.mark.parametrize("options", MIXTURES, ids=range(len(MIXTURES)))
def test_di_05_di_08_di_13_brute_force_legality(options):
    """Who is asked, and what is legal, written from the page once more and compared at every decision."""
    phases: Counter = Counter()
    hand_before: list[str] = []
    for env, _ in random_games(6, seed=11, **options):
        history = env.record()["actions"]
        me, table = int(env.agent_selection[-1]), seen(env)
        top = table["discards"][-1]
        fitting = [card for card in table["hand"] if card[-1] == top[-1] or card[:-1] == top[:-1]]
        asked = phase(env)
        phases[asked] += 1
        if asked == "turn":
            assert me == table["turn"]
            expected = [f"play {card}" for card in fitting]
            if not fitting or env.options["voluntary_pass"]:
                expected.append("draw")
        elif asked == "drawn card":
            assert history[-1] == "draw"
            assert table["turn"] == (me + 1) % env.num_players
            new = [card for card in table["hand"] if card not in hand_before]
            assert set(new) <= set(fitting)
            expected = [f"play {card}" for card in new] + ["decline"]
        else:
            callable_now = table["hand"]
            if not env.options["false_dings"] or env.view(env.agent_selection)[0].was_false[me]:
                callable_now = [card for card, true in zip(table["hand"], table["true_now"], strict=True) if true]
                assert callable_now or env.options["false_dings"]
            expected = [f"ding {card}" for card in callable_now] + ["decline"]
        assert legal(env) == expected
        hand_before = table["hand"]
    assert phases["turn"] > 50
    assert phases["window"] > 50
    assert ("drawn card" in phases) == bool(options.get("play_drawn"))


@pytest.mark.parametrize("options", MIXTURES, ids=range(len(MIXTURES)))
def test_di_08_di_09_di_13_who_is_asked_and_who_is_next(options):
    """After each play, draw or call: those with true cards, clockwise from the actor's left; the rest of them after a decline."""
    windows = 0
    for game in range(8):
        env = cardenvs.make("ding-v0", 2 + game % 6, **{"hand_size": 4, **options, "race": "clockwise"})
        env.reset(seed=100 + game)
        rng = np.random.default_rng(game)
        asked: list[int] = []
        turn = seen(env)["turn"]
        for _ in range(120):
            seats, me, was = env.num_players, int(env.agent_selection[-1]), phase(env)
            false_before = sum(map(len, seen(env)["falsely_called"]))
            action = env.action_text(int(rng.choice(env.legal_actions())))
            size = seen(env)["hand_sizes"][me]
            env.step(env.action_id(action))
            if over(env):
                break
            if phase(env) == "drawn card":
                assert (action, env.agent_selection) == ("draw", f"player_{me}")
                continue
            if was == "window" and action == "decline":
                pass
            else:
                false_call = was == "window" and seen(env, me)["hand_sizes"][me] >= size
                assert false_call == (sum(map(len, seen(env)["falsely_called"])) > false_before) or false_call
                if not false_call:
                    turn = (me + 1) % seats
                order = [(me + k) % seats for k in range(1, seats + 1)]
                asked = [seat for seat in order if env.options["false_dings"] or any(seen(env, seat)["true_now"])]
            assert seen(env)["turn"] == turn
            if asked:
                windows += 1
                assert (phase(env), env.agent_selection) == ("window", f"player_{asked.pop(0)}")
            else:
                assert (phase(env), env.agent_selection) == ("turn", f"player_{turn}")
    assert windows > 40


def test_cards_are_conserved():
    """Every card is in one hand, in the draw pile or in the discard pile, at every moment; public numbers are the true ones."""
    for options in MIXTURES:
        for env, rng in random_games(6, seed=13, **options):
            state = env.states[0]
            stock = state["stock"][state["stock_top"] : state["stock_top"] + state["stock_size"]].tolist()
            discards = state["discards"][: state["num_discards"]].tolist()
            held = np.flatnonzero(state["holder"] >= 0).tolist()
            assert sorted(stock + discards + held) == list(range(81))
            if rng.random() > 0.1:
                continue
            tables = [seen(env, seat) for seat in range(env.num_players)]
            assert [len(table["hand"]) for table in tables] == tables[0]["hand_sizes"]
            assert all(table["draw_pile"] == len(stock) for table in tables)


# What a seat is shown.


@pytest.mark.parametrize("options", MIXTURES, ids=range(len(MIXTURES)))
def test_observations_hold_the_facts(options):
    """All that the page lists, and what the viewer is asked, of every seat."""
    for env, rng in random_games(6, seed=16, **options):
        if rng.random() > 0.05:
            continue
        for seat, agent in enumerate(env.possible_agents):
            assert facts(env, agent) == seen(env, seat)
            described = env.describe_observation(env.observe(agent)["observation"])
            assert described["phase"] == (phase(env) if agent == env.agent_selection else "turn" if seen(env)["turn"] == seat else None)
            view = env.view(agent)[0]
            assert described["was_false"] == [bool(view.was_false[(seat + k) % env.num_players]) for k in range(env.num_players)] + [
                False
            ] * (7 - env.num_players)
            assert described["players"] == str(env.num_players)
            assert described["rules"] == [
                env.options["voluntary_pass"],
                env.options["play_drawn"],
                env.options["race"] == "random",
                env.options["starter_counts"],
                env.options["false_dings"],
            ]


def shown(env: CardEnv, seat: int) -> tuple:
    """View, observation and text of a seat."""
    agent = f"player_{seat}"
    view = env.view(agent)
    return {name: view[name].tolist() for name in view.dtype.names}, env.observe(agent)["observation"].tolist(), env.text(agent)


@pytest.mark.parametrize("options", MIXTURES[:5], ids=range(5))
def test_g_05_windows_do_not_show(options):
    """For seats that are not asked everything is as if the window were over, and stays so when it is; nobody sees who declined."""
    windows = 0
    for env, rng in random_games(6, seed=14, **options):
        me = int(env.agent_selection[-1])
        if phase(env) != "window" or rng.random() > 0.2:
            continue
        windows += 1
        before = [shown(env, seat) for seat in range(env.num_players)]
        done = env.clone()
        while phase(done) == "window":
            acting = int(done.agent_selection[-1])
            for seat in set(range(env.num_players)) - {acting}:
                assert not done.observe(f"player_{seat}")["action_mask"].any()
            done.step(done.action_id("decline"))
            if over(done):
                break
            for seat in set(range(env.num_players)) - {me, int(done.agent_selection[-1])}:
                assert shown(done, seat) == before[seat]
        for seat in set(range(env.num_players)) - {me}:
            assert over(done) or shown(done, seat) == before[seat]
    assert windows > 10


def test_g_05_a_window_without_anybody_to_ask_looks_the_same():
    """player_2, which holds nothing true, cannot tell whether player_1 holds violet-1, is being asked, or was asked."""
    asked = table("green-7 brown-9", "violet-1 pink-5", "yellow-3 blue-5", starter="green-6")
    nobody = table("green-7 brown-9", "orange-3 pink-5", "yellow-3 blue-5", starter="green-6")
    for env in (asked, nobody):
        play(env, "0 play green-7")
    assert (phase(asked), phase(nobody)) == ("window", "turn")
    assert shown(asked, 2) == shown(nobody, 2)
    play(asked, "1 decline")
    assert shown(asked, 2) == shown(nobody, 2)


def test_g_05_views_of_seats_that_are_not_asked_hold_no_window():
    env = table(*THREE, starter="green-6", false_dings=True)
    play(env, "0 play green-7")
    for seat, expected in ((1, "window"), (0, None), (2, None)):
        observation = env.observe(f"player_{seat}")["observation"]
        assert env.describe_observation(observation)["phase"] == expected
        view = env.view(f"player_{seat}")[0]
        assert (view.steps, view.queue.any(), view.queue_next, view.queue_end) == (0, False, 0, 0)
    assert "player_1 may call" in env.text("player_1")
    assert env.text("player_0").count("It is the turn of player_1.") == 1


@pytest.mark.parametrize("options", MIXTURES, ids=range(len(MIXTURES)))
def test_drawn_states_agree_with_all_that_was_seen(options):
    """Known cards, hand sizes, cards that can only be in hands since a reshuffle, and what seats lacked when they drew."""
    words = np.array([1], np.uint64)
    lacked = 0
    for env, rng in random_games(6, seed=15, **{**options, "max_steps": 300}):
        if rng.random() > 0.03:
            continue
        for seat in range(env.num_players):
            view = env.view(f"player_{seat}")
            drawn = new_states(env.game.state, 1)
            env.game.loops.resample_one(view, words, drawn)
            again = new_states(env.game.state, 1)
            env.game.loops.view_one(drawn, seat, again)
            assert all((again[name] == view[name]).all() for name in view.dtype.names)
            for state in (drawn[0], env.states[0]):  # the truth agrees with what can be told of it, too
                for other in range(env.num_players):
                    hand = np.flatnonzero(state["holder"] == other)
                    assert len(hand) == view["hand_sizes"][0, other]
                    kinds = Counter([card // 9 for card in hand] + [9 + card % 9 for card in hand])
                    most = view["most"][0, other]
                    assert all(count <= most[kind] for kind, count in kinds.items())
                    lacked += (most < len(hand)).any()
                    places = view["reshuffled"][0]
                    fresh = sum(places[card] > 2 or not places.any() for card in hand)
                    assert fresh == view["fresh"][0, other]
    assert lacked or env.options["voluntary_pass"]


def test_a_seat_that_declined_may_hold_anything():
    """Worlds drawn from player_2's view give player_1 violet-1 as often as any other unseen card."""
    env = table("green-7 brown-9", "violet-1 pink-5", "yellow-3 blue-5", starter="green-6")
    play(env, "0 play green-7", "1 decline")
    assert phase(env) == "turn"
    held = Counter()
    words = np.array([5], np.uint64)
    drawn = new_states(env.game.state, 1)
    view = env.view("player_2")
    for _ in range(2000):
        env.game.loops.resample_one(view, words, drawn)
        held[int(drawn["holder"][0, CARDS.index("violet-1")])] += 1
    assert 2000 * 2 / 77 * 0.5 < held[1] < 2000 * 2 / 77 * 1.7


def test_drawn_states_in_a_window_ask_the_seats_that_would_be_asked():
    """Whoever comes after the viewer and holds a true card in the drawn world; with race="random" in any order."""
    for race in ("clockwise", "random"):
        env = table(*FOUR, starter="green-6", race=race)
        play(env, "0 play green-7")
        me = int(env.agent_selection[-1])
        queues = set()
        words = np.array([5], np.uint64)
        for _ in range(300):
            drawn = new_states(env.game.state, 1)
            env.game.loops.resample_one(env.view(f"player_{me}"), words, drawn)
            state = drawn[0]
            order = state["queue"][: state["queue_end"]].tolist()
            assert order[state["queue_next"] - 1] == me
            holders = {int(state["holder"][card]) for card in state["true_cards"][: state["num_true"]]}
            assert sorted(order) == sorted(holders)
            if race == "clockwise":
                assert order == [seat for seat in (1, 2, 3, 0) if seat in holders]
            queues.add(tuple(order))
        assert len(queues) >= 5


def test_texts_of_a_table():
    env = table(*THREE, starter="green-6", stock="violet-9", false_dings=True)
    play(env, "0 play green-7", "1 ding grey-9")
    text = env.text("player_2")
    assert "Discard pile, newest first: green-7 green-6" in text
    assert "player_1: 4 cards, falsely called grey-9, was false since the last turn action" in text
    assert "player_2 (you): 3 cards" in text
    assert "green-5: somebody makes a mistake about the rules (true now)" in text
    assert "violet-9" not in text


# Bad input.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hand_size": 1}, "hand_size=1 is not allowed: it must be a whole number from 2 to 13"),
        ({"hand_size": 14}, "whole number from 2 to 13"),
        ({"conditions": "v2"}, "'v1' or 'pile_and_hand' or 'none'"),
        ({"race": "left"}, "'clockwise' or 'random'"),
        ({"social_percent": 101}, "whole number from 0 to 100"),
        ({"social_percent": -1}, "whole number from 0 to 100"),
        ({"false_dings": 1}, "False or True"),
        ({"voluntary_pass": "yes"}, "False or True"),
        ({"play_drawn": None}, "False or True"),
        ({"starter_counts": 0}, "False or True"),
        ({"max_steps": 0}, "whole number from 1"),
        ({"jokers": 2}, "no option 'jokers'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InvalidOption, match=message):
        cardenvs.make("ding-v0", 4, **options)


@pytest.mark.parametrize("num_players", [1, 8, "4", 4.0])
def test_bad_numbers_of_players_are_refused(num_players):
    with pytest.raises(InvalidOption, match="2 to 7 players"):
        cardenvs.make("ding-v0", num_players)


@pytest.mark.parametrize("cards", [list(CARDS[:80]), [*CARDS[:80], "green-1"], [*CARDS[:80], "grey-10"], list(range(81))])
def test_bad_decks_are_refused(cards):
    with pytest.raises(InvalidDeck):
        cardenvs.make("ding-v0", 4).reset(options={"deck": cards})
