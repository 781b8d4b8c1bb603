"""ReCURRRing rule by rule; ids are those of cardenvs/games/recurrring/README.md.

`Referee` is a second reading of the page in plain Python, with lists of card texts. `moments` plays seeded games under its
eyes and collects what happened around each decision, so that rare rules are shown where they really occur.
"""

import functools
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

import cardenvs
from cardenvs.errors import IllegalAction, InvalidDeck, InvalidOption
from tests.test_rng import SplitMix64

STRENGTH = "123456789R"
DECKS = {3: (7, 11), 4: (8, 12), 5: (9, 10)}


def full_deck(players: int) -> list[str]:
    """RC-02: number cards up to the highest, as many of each as its value, and R cards."""
    highest, num_r = DECKS[players]
    return [str(value) for value in range(1, highest + 1) for _ in range(value)] + ["R"] * num_r


def cards(text: str) -> list[str]:
    """`2 3x2 R` as a list of card texts."""
    pairs = [part.partition("x") for part in text.split()]
    return [value for value, _, count in pairs for _ in range(int(count or 1))]


def deal(*hands: str, **options):
    """A table where the seats hold these cards (the last hands are filled up from the rest of the deck)."""
    players = len(hands)
    rest = Counter(full_deck(players))
    dealt = [cards(hand) for hand in hands]
    for hand in dealt:
        rest -= Counter(hand)
    left = sorted(rest.elements())
    size = len(full_deck(players)) // players
    for hand in dealt:
        while len(hand) < size:
            hand.append(left.pop())
    env = cardenvs.make("recurrring-v0", players, **options)
    env.reset(seed=0, options={"deck": [hand[i] for i in range(size) for hand in dealt]})
    return env


def play(env, *texts: str) -> None:
    for text in texts:
        env.step(env.action_id(text))


def legal(env) -> list[str]:
    return [env.action_text(action) for action in env.legal_actions()]


def seen(env, seat: int) -> dict:
    """What a seat knows, by name; lists over seats begin with it."""
    return env.describe_observation(env.observe(f"player_{seat}")["observation"])


def hand(env, seat: int) -> str:
    """The hand of a seat as its owner sees it, like `2 3x2 R`."""
    counts = seen(env, seat)["hand"]
    return " ".join(f"{value}x{count}" if count > 1 else value for value, count in zip(STRENGTH, counts, strict=True) if count)


@dataclass
class Referee:
    """One game (RC-03 … RC-12), kept in lists of card texts."""

    hands: list[list[str]]
    table: list[str] = field(default_factory=list)
    owner: int | None = None
    turn: int = 0
    over: bool = False
    first_out: int | None = None
    notes: set[str] = field(default_factory=set)

    def __post_init__(self):
        self.players = len(self.hands)
        self.passed: set[int] = set()
        self.piles: list[list[str]] = [[] for _ in self.hands]
        self.face_down: list[list[str]] = [[] for _ in self.hands]
        self.known: list[Counter] = [Counter() for _ in self.hands]
        starter = next(seat for seat, held in enumerate(self.hands) if "1" in held)
        self.hands[starter].remove("1")
        self.table, self.owner, self.turn = ["1"], starter, (starter + 1) % self.players

    def legal(self) -> set[str]:
        counts = Counter(self.hands[self.turn])
        if not self.table:
            return {f"play {value}x1" for value in counts}
        same = {value for value in counts if STRENGTH.index(value) < STRENGTH.index(self.table[0]) and counts[value] >= len(self.table)}
        more = {value for value in counts if counts[value] > len(self.table)}
        return {"pass"} | {f"play {v}x{len(self.table)}" for v in same} | {f"play {v}x{len(self.table) + 1}" for v in more}

    def apply(self, text: str) -> None:
        self.notes = set()
        me = self.turn
        if text == "pass":
            self.passed.add(me)
        else:
            value, _, count = text.removeprefix("play ").partition("x")
            taken, robbed, led = self.table, self.owner, not self.table
            for _ in range(int(count)):
                self.hands[me].remove(value)
            self.known[me][value] = max(0, self.known[me][value] - int(count))
            self.table, self.owner = [value] * int(count), me
            if not led and not self.hands[robbed]:
                self.notes.add("took from a seat that is out")
            if not self.hands[me]:
                self.notes.add("emptied by leading" if led else "emptied by an exchange")
                if self.first_out is None:
                    self.first_out = me
                else:
                    self.notes.add("second seat out")
                self.face_down[me] = taken
            else:
                self.hands[me] += taken
                self.known[me].update(taken)
        others = [seat for seat in range(self.players) if seat != self.owner]
        if all(seat in self.passed or not self.hands[seat] for seat in others):
            self.notes.add("scored at once" if text != "pass" else "scored after passes")
            if not self.hands[self.owner]:
                self.notes.add("a seat that is out scored")
            self.piles[self.owner] += self.table
            self.turn, self.table, self.passed = self.owner, [], set()
            self.owner = None
            self.over = self.first_out is not None
        else:
            self.turn = (me + 1) % self.players
            while self.turn in self.passed or not self.hands[self.turn]:
                self.turn = (self.turn + 1) % self.players

    def points(self) -> list[int]:
        return [sum(card != "R" or seat == self.first_out for card in pile) for seat, pile in enumerate(self.piles)]


def counts(held) -> list[int]:
    counter = Counter(held)
    return [counter[value] for value in STRENGTH]


def compare(env, referee: Referee, finished: list[int]) -> None:
    """Everything that can be seen at the table equals what the referee noted."""
    assert env.agent_selection == f"player_{referee.turn}"
    assert set(legal(env)) == referee.legal()
    assert env.scores() == [a + b for a, b in zip(finished, referee.points(), strict=True)]
    for seat in range(referee.players):
        facts = seen(env, seat)

        def rotated(rows, seat=seat):
            return [rows[(seat + k) % referee.players] for k in range(referee.players)]

        def relative(other, seat=seat):
            return None if other is None else (other - seat) % referee.players

        assert facts["hand"] == counts(referee.hands[seat])
        assert facts["table_value"] == (referee.table[0] if referee.table else None)
        assert facts["table_count"] == len(referee.table)
        assert facts["owner"] == relative(referee.owner)
        assert facts["turn"] == relative(referee.turn)
        assert facts["first_out"] == relative(referee.first_out)
        for name, rows in {
            "passed": [other in referee.passed for other in range(referee.players)],
            "hand_size": [len(held) for held in referee.hands],
            "pile": [counts(pile) for pile in referee.piles],
            "known": [counts(known) for known in referee.known],
            "won": referee.points(),
            "points": finished,
            "face_down_count": [len(pile) for pile in referee.face_down],
            "face_down_value": [pile[0] if pile else None for pile in referee.face_down],
        }.items():
            assert facts[name][: referee.players] == rotated(rows), name
        elsewhere = sum((Counter(known) for other, known in enumerate(referee.known) if other != seat), Counter())
        others = sum((Counter(held) for other, held in enumerate(referee.hands) if other != seat), Counter())
        assert facts["unseen"] == counts((others - elsewhere).elements())


@dataclass
class Moment:
    """A decision: who took it, what it was, how the table stood after it."""

    seat: int
    text: str
    notes: set[str]
    after: dict
    ended: bool
    scores: list[int]
    first_out: int | None


@functools.cache
def moments(players: int) -> list[Moment]:
    """Seeded games of one match each, in which seats like to shed many cards, all compared with the referee."""
    rng = np.random.default_rng(players)
    env = cardenvs.make("recurrring-v0", players, num_games=1)
    found = []
    for seed in range(12):
        env.reset(seed=seed)
        view = [seen(env, seat) for seat in range(players)]
        hands = [[value for value, count in zip(STRENGTH, facts["hand"], strict=True) for _ in range(count)] for facts in view]
        hands[int(env.agent_selection[-1]) - 1].append("1")  # it has just been laid
        referee = Referee(hands)
        while not referee.over:
            if seed < 4 or referee.notes:
                compare(env, referee, [0] * players)
            assert set(legal(env)) == referee.legal()
            options = sorted(referee.legal(), key=lambda text: (int(text.rpartition("x")[2]) if "x" in text else 0, text))
            text = options[-1] if rng.random() < 0.6 else options[rng.integers(len(options))]
            seat = referee.turn
            play(env, text)
            referee.apply(text)
            found.append(Moment(seat, text, referee.notes, seen(env, seat), referee.over, env.scores(), referee.first_out))
        assert all(env.terminations.values())
        assert env.scores() == referee.points()
    return found


def moments_with(*notes: str) -> list[Moment]:
    """The moments of 3, 4 and 5 players with all of these notes; there must be some."""
    found = [moment for players in (3, 4, 5) for moment in moments(players) if set(notes) <= moment.notes]
    assert found, notes
    return found


def test_rc_01_rc_02_cards_by_number_of_players():
    """RC-01, RC-02: as many copies as the value; 39, 48 and 55 cards."""
    for players, size in ((3, 39), (4, 48), (5, 55)):
        env = cardenvs.make("recurrring-v0", players)
        env.reset(seed=1)
        dealt = Counter({"1": 1})
        for seat in range(players):
            dealt.update({value: count for value, count in zip(STRENGTH, seen(env, seat)["hand"], strict=True) if count})
        assert dealt == Counter(full_deck(players))
        assert dealt.total() == size
    for wrong in (1, 2, 6):
        with pytest.raises(InvalidOption, match="3 to 5"):
            cardenvs.make("recurrring-v0", wrong)


def test_rc_01_lower_is_stronger_and_r_is_weakest():
    """RC-01: the 6 takes a 7 but no 5; an R takes nothing as a single card, every number takes an R."""
    env = deal("1 7x7 Rx5", "2x2 3x2 6 4x4 Rx4", "")
    play(env, "play 2x2", "pass", "pass")  # seat 1 scores the pair of 2s and leads
    play(env, "play 6x1")
    assert "play 7x1" not in legal(env)
    env = deal("1", "7x7 6 4x2 3 Rx2", "2x2 5x5 Rx4")
    play(env, "play 7x2", "pass", "pass", "play Rx1")
    assert {f"play {value}x1" for value in "25"} <= set(legal(env))
    assert "play Rx1" not in legal(env)


def test_rc_03_dealt_one_at_a_time_from_the_shuffled_deck():
    """RC-03: card i of the shuffled deck goes to seat i mod N; before the shuffle values ascend, R last."""
    for players in (3, 4, 5):
        env = cardenvs.make("recurrring-v0", players)
        env.reset(seed=players)
        lane = SplitMix64(int(np.random.SeedSequence(players).generate_state(1, np.uint64)[0]))
        stream = SplitMix64(SplitMix64(lane.next()).next())
        deck = full_deck(players)
        stream.shuffle(deck)
        for seat in range(players):
            expected = Counter(deck[seat::players]) - Counter(["1"])
            assert seen(env, seat)["hand"] == counts(expected.elements())


def test_rc_04_the_one_is_laid_and_the_next_seat_begins():
    env = deal("2x2 3x3", "1 4x4", "5x5")
    assert env.agent_selection == "player_2"
    facts = seen(env, 2)
    assert (facts["table_value"], facts["table_count"], facts["owner"]) == ("1", 1, 2)  # seat 1 is two places to the left of seat 2
    assert facts["hand_size"][:3] == [13, 13, 12]


def test_rc_05_method_a_and_method_b():
    """RC-05: as many and stronger, or exactly one more of any value; what lay there comes into the hand."""
    env = deal("1 6x6 Rx6", "4x4 5x5 2 3x2 R", "2 3 7x7 Rx4")
    assert legal(env) == ["pass", "play 3x2", "play 4x2", "play 5x2"]  # nothing is stronger than the 1
    play(env, "play 5x2")
    assert hand(env, 1) == "1 2 3x2 4x4 5x3 R"
    assert legal(env) == ["pass", "play 7x3", "play Rx3"]  # no pair of seat 2 is stronger; any three do
    play(env, "play Rx3")
    assert hand(env, 2) == "2 3 5x2 7x7 R"
    assert legal(env) == ["pass", "play 6x3", "play 6x4", "play Rx4"]  # three 6s are stronger than three R; four R are one more
    play(env, "pass")
    assert legal(env) == ["pass", "play 4x3", "play 4x4", "play 5x3"]
    with pytest.raises(IllegalAction):
        play(env, "play 3x2")
    with pytest.raises(IllegalAction):
        play(env, "play 1x1")


def test_rc_06_rc_07_passed_seats_are_skipped_until_all_others_have_passed():
    """RC-06, RC-07: the owner scores without another turn, RC-08: and leads one card; RC-12: a point for each number card."""
    env = deal("1 6x6 Rx6", "4x4 5x5 2 3x2 R", "2 3 7x7 Rx4")
    play(env, "play 5x2", "pass")  # seats 1 and 2
    assert env.agent_selection == "player_0"
    play(env, "play Rx3")
    assert env.agent_selection == "player_1"  # owns nothing now, and has not passed
    assert seen(env, 1)["passed"][:3] == [False, True, False]
    play(env, "play 4x3")
    assert env.agent_selection == "player_0"  # seat 2 is skipped
    play(env, "pass")
    assert env.scores() == [0, 3, 0]
    assert env.agent_selection == "player_1"
    facts = seen(env, 1)
    assert (facts["table_value"], facts["owner"], facts["passed"][:3]) == (None, None, [False] * 3)
    assert facts["pile"][0] == counts(["4"] * 3)
    assert legal(env) == ["play 1x1", "play 2x1", "play 3x1", "play 4x1", "play 5x1", "play Rx1"]  # no pass, no set
    play(env, "play Rx1")
    assert env.agent_selection == "player_2"  # may play again
    assert "play 2x1" in legal(env)


def test_rc_07_a_seat_that_exchanges_as_the_last_one_in_scores_at_once():
    """RC-07: judged after an exchange too."""
    for moment in moments_with("scored at once"):
        assert moment.text != "pass"
        assert moment.after["table_value"] is None


def test_rc_09_a_hand_emptied_by_an_exchange_is_the_last_round():
    """RC-09: what was taken lies face down and counts nothing."""
    for moment in moments_with("emptied by an exchange"):
        assert moment.after["hand"] == [0] * 10
        assert moment.after["hand_size"][0] == 0
        assert moment.after["face_down_count"][0] >= 1
        assert moment.after["known"][0] == [0] * 10
        assert moment.after["first_out"] is not None


def test_rc_09_a_hand_emptied_by_leading_takes_nothing():
    for moment in moments_with("emptied by leading"):
        assert moment.after["face_down_count"][0] == 0
        assert moment.after["first_out"] == 0
        assert not moment.ended  # the others may still exchange that card


def test_rc_10_a_seat_that_is_out_stays_owner_and_scores_if_all_pass():
    for moment in moments_with("a seat that is out scored"):
        assert moment.ended
        assert moment.scores[moment.first_out] >= 0
    assert any(moment.text == "pass" for moment in moments_with("a seat that is out scored"))


def test_rc_10_its_cards_are_taken_into_the_hand_as_usual():
    taken = [moment for moment in moments_with("took from a seat that is out") if "second seat out" not in moment.notes]
    assert taken
    for moment in taken:
        assert sum(moment.after["known"][0]) > 0
    assert any(moment.ended for moment in taken)  # the last seat still in scores at once


def test_rc_11_a_second_seat_that_empties_its_hand_is_treated_the_same():
    for moment in moments_with("second seat out"):
        assert moment.after["hand"] == [0] * 10
        assert moment.after["face_down_count"][0] >= 1
        assert moment.after["first_out"] not in (0, None)
    assert moments_with("second seat out", "took from a seat that is out")


def test_rc_12_r_cards_count_for_the_first_seat_out_alone():
    """RC-12: from the moment its hand is empty, over all its piles of this game."""
    ended = [moment for players in (3, 4, 5) for moment in moments(players) if moment.ended]
    with_r = 0
    for moment in ended:
        piles, won = moment.after["pile"][: len(moment.scores)], moment.after["won"]
        for k, pile in enumerate(piles):
            seat = (moment.seat + k) % len(piles)
            worth = sum(pile[:9]) + (pile[9] if seat == moment.first_out else 0)
            assert moment.scores[seat] == worth
            with_r += seat == moment.first_out and pile[9] > 0
        assert won[: len(piles)] == [0] * len(piles)  # the match is over: all is in the points
    assert with_r > 3


@pytest.mark.parametrize("num_games", [1, 2, 3, 5])
def test_rc_13_games_of_a_match_are_added_up(num_games):
    """RC-13: each is dealt anew with the generator going on; the match winner has the most points, ties share."""
    rng = np.random.default_rng(num_games)
    env = cardenvs.make("recurrring-v0", 3, num_games=num_games)
    env.reset(seed=num_games)
    finished, games, firsts = [0, 0, 0], 0, set()
    firsts.add(tuple(seen(env, 0)["hand"]))
    while not any(env.terminations.values()):
        before = env.scores()
        env.step(int(rng.choice(env.legal_actions())))
        facts = seen(env, 0)
        if facts["game"] != games:
            games += 1
            assert facts["game"] == games
            assert facts["games_left"] == min(4, num_games - games - 1)
            finished = facts["points"][:3]
            assert all(now >= old for now, old in zip(finished, before, strict=True))
            assert sum(map(sum, facts["pile"])) == sum(map(sum, facts["known"])) == 0
            assert sum(facts["hand_size"]) == 38
            firsts.add(tuple(facts["hand"]))
            assert not any(env.rewards.values())  # the win is paid after the last game
    assert games == num_games - 1
    assert len(firsts) == num_games
    scores = env.scores()
    winners = [score == max(scores) for score in scores]
    share = (3 - sum(winners)) / (sum(winners) * 2)
    expected = [0.0] * 3 if all(winners) else [share if won else -0.5 for won in winners]
    assert [env.rewards[agent] for agent in env.possible_agents] == pytest.approx(expected)


def test_reward_score_is_paid_after_each_game():
    """End of the page: (own points of this game - mean) / 10, whatever num_games; adds up to zero."""
    rng = np.random.default_rng(0)
    env = cardenvs.make("recurrring-v0", 4, reward="score", num_games=2)
    env.reset(seed=3)
    finished, payments = np.zeros(4), 0
    while not any(env.terminations.values()):
        env.step(int(rng.choice(env.legal_actions())))
        rewards = [env.rewards[agent] for agent in env.possible_agents]
        if seen(env, 0)["game"] == payments + 1 or any(env.terminations.values()):
            payments += 1
            won = np.array(env.scores()) - finished
            finished = np.array(env.scores())
            assert rewards == pytest.approx(((won - won.mean()) / 10).tolist())
        else:
            assert rewards == [0.0] * 4
    assert payments == 2


def test_options_and_decks_are_checked():
    for options in ({"num_games": 0}, {"num_games": 1.5}, {"num_games": "3"}, {"reward": "points"}, {"rounds": 3}):
        with pytest.raises(InvalidOption):
            cardenvs.make("recurrring-v0", 3, **options)
    env = cardenvs.make("recurrring-v0", 3)
    for deck in (full_deck(4), full_deck(3)[1:], ["1", *full_deck(3)[1:-1], "2"], "1234567"):
        with pytest.raises(InvalidDeck):
            env.reset(options={"deck": deck})


def test_the_page_says_how_long_a_game_can_be():
    """End of the page: at most 390 / 576 / 770 decisions; played ones are far shorter."""
    for players, most in ((3, 390), (4, 576), (5, 770)):
        ends = [number for number, moment in enumerate(moments(players)) if moment.ended]
        assert np.diff([-1, *ends]).max() <= most


def test_action_texts():
    env = cardenvs.make("recurrring-v0", 3)
    assert env.action_text(0) == "pass"
    assert [env.action_text(action) for action in (1, 2, 3, 45, 46, 57)] == [
        "play 1x1",
        "play 2x1",
        "play 2x2",
        "play 9x9",
        "play Rx1",
        "play Rx12",
    ]
