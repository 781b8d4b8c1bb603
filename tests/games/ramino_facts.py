"""The facts of the Ramino page, read from an agent's observation and checked against its view."""

import numpy as np

SUITS, POSITIONS = range(4), range(1, 15)
CARDS = [rank + suit for suit in "SHDC" for rank in ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")] + ["JK"]


def facts(env, agent) -> dict:
    """As the recorded games list them, with absolute seats and cards as type numbers."""
    seen = env.describe_observation(env.observe(agent)["observation"])
    view = env.view(agent)[0]
    seats, me = env.num_players, env.possible_agents.index(agent)

    def absolute(rows):
        return [rows[(seat - me) % seats] for seat in range(seats)]

    def seat(relative):
        return None if relative is None else (relative + me) % seats

    def plane(counts):
        return [[0, *row] for row in np.reshape(counts, (4, 14)).tolist()]

    def covered(lows, highs):
        """Cells between the ends of runs: a low end opens one, the place after a high end closes one."""
        return [[sum(low[: p + 1]) - sum(high[:p]) for p in range(15)] for low, high in zip(plane(lows), plane(highs), strict=True)]

    cover = np.add(seen["run_naturals"], seen["run_jokers"])
    assert plane(cover) == covered(seen["run_low"], seen["run_high"])
    pile = [type_of(code) for code in seen["pile"] if code][::-1]
    to_act = seat(seen["turn"])
    taken = None if seen["taken"] is None else CARDS.index(seen["taken"])
    result = {
        "seat": me,
        "hand": seen["hand"],
        "unseen": seen["unseen"],
        "to_act": to_act,
        "phase": seen["phase"],
        "dealer": seat(seen["dealer"]),
        "deal": seen["deal"],
        "turns": seen["turns"],
        "runs": {
            "cover": plane(cover),
            "low": plane(seen["run_low"]),
            "high": plane(seen["run_high"]),
            "jokers": plane(seen["run_jokers"]),
            "fresh": covered(seen["fresh_low"], seen["fresh_high"]),
            "fresh_low": plane(seen["fresh_low"]),
            "fresh_high": plane(seen["fresh_high"]),
        },
        "sets": [[entry for number in range(3) if (entry := set_of(seen, 3 * rank + number))] for rank in range(13)],
        "pile": pile,
        "top": None if seen["top"] is None else CARDS.index(seen["top"]),
        "stock_size": seen["stock_size"],
        "reshuffled": seen["reshuffled"],
        "reshuffles": seen["reshuffles"],
        "hand_sizes": absolute(seen["cards"]),
        "opened": absolute(seen["opened"]),
        "taken": taken,
        "taken_by": None if taken is None else to_act,
        "held": absolute(seen["held"]),
        "owed": seen["owed"],
        "laid_points": seen["laid"],
        "clean_possible": seen["clean"],
        "match_points": absolute(seen["points"]),
    }
    assert result["top"] == (pile[-1] if pile else None)
    assert pile == view.pile[: view.pile_size].tolist()
    assert result["hand"] == counts(view.hand[me])
    assert result["unseen"] == counts(view.unseen)
    assert result["held"] == [counts(pair) for pair in view.held[:seats]]
    assert result["hand_sizes"] == view.cards[:seats].tolist()
    assert result["match_points"] == view.points[:seats].tolist()
    check_what_helps(seen, result)
    assert seen["stock_steps"] == result["stock_size"] // 8 * 8
    return result


def melds_with(card: int) -> list[set[int]]:
    """The pairs of other types with which a type makes a meld of naturals."""
    suit, rank = divmod(card, 13)
    sets = [{13 * a + rank, 13 * b + rank} for a in SUITS for b in range(a) if suit not in (a, b)]
    runs = [[13 * suit + (low + i) % 13 for i in range(3)] for low in range(12)]
    return sets + [{*run} - {card} for run in runs if card in run]


MELDS_WITH = [melds_with(card) for card in range(52)]


def check_what_helps(seen: dict, result: dict) -> None:
    """What the observation says of cards that go together, counted out."""
    hand = {card for card in range(52) if result["hand"][card]}
    completes = [any(pair <= hand for pair in pairs) for pairs in MELDS_WITH]
    assert seen["completes"] == completes
    assert seen["melds"] == [card in hand and completes[card] for card in range(52)]
    assert seen["near"] == [card in hand and any(pair & hand for pair in MELDS_WITH[card]) for card in range(52)]
    ends = [(suit, p - 1) for suit in SUITS for p in POSITIONS[1:] if result["runs"]["low"][suit][p]]
    ends += [(suit, p + 1) for suit in SUITS for p in POSITIONS[:-1] if result["runs"]["high"][suit][p]]
    added = {13 * suit + (p - 1) % 13 for suit, p in ends}
    for rank, sets in enumerate(result["sets"]):
        added |= {13 * suit + rank for each in sets if each["open"] for suit in SUITS if suit not in each["suits"]}
    assert seen["fits"] == [card in added for card in range(52)]
    top = result["top"]
    assert seen["top_use"] == ([False, False] if top in (None, 52) else [completes[top], top in added])


def type_of(code: int) -> int:
    """The type of an entry of the section `pile`."""
    suit, rank = divmod(code, 16)
    return 52 if rank == 14 else 13 * suit + rank - 1


def set_of(seen: dict, number: int) -> dict | None:
    """A set of the table, None if there is none of that number."""
    suits = [suit for suit in SUITS if seen["set_suits"][4 * number + suit]]
    if not suits:
        return None
    jokers, is_open = seen["set_jokers"][number], seen["set_open"][number]
    assert is_open == (len(suits) + jokers == 3)
    return {"suits": suits, "jokers": jokers, "open": is_open, "fresh": seen["set_fresh"][number]}


def counts(pair) -> list[int]:
    """Copies of each type in a pair of words of a view."""
    bits = [56 if card == 52 else card // 13 * 14 + card % 13 for card in range(53)]
    return [(int(pair[0]) >> bit & 1) + (int(pair[1]) >> bit & 1) for bit in bits]
