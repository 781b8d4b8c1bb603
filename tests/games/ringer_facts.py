"""The facts of the Ringer page, read from an agent's observation and checked against its view."""

import itertools
from collections import Counter

from cardenvs.games.ringer.cards import COPIES, DECKS, NUMBER, SECOND, TEXTS, THIRD
from cardenvs.games.ringer.rules import OF, SURE

WHATS = ("1", "2", "3", "4", "5", "6", "pink", "blue", "green", "yellow")


class Unordered(list):
    """A list that equals any list of the same things."""

    def __eq__(self, other):
        return Counter(self) == Counter(other)

    __hash__ = None


def cards_of(features, deck) -> list[str]:
    """The cards of a set, as texts in kind order; `features` are its 105 features."""
    cards = []
    for kind, text in enumerate(TEXTS):
        copies = int(features[kind])
        if COPIES[DECKS.index(deck), kind] > 1:
            copies += int(features[SECOND[kind]])
        if NUMBER[kind] == 0:
            copies += int(features[THIRD[kind]])
        cards += [text] * copies
    return cards


def facts(env, agent) -> dict:
    """As the recorded games list them, with absolute seats."""
    seen = env.describe_observation(env.observe(agent)["observation"])
    view = env.view(agent)[0]
    seats, me = env.num_players, env.possible_agents.index(agent)

    def absolute(rows):
        return [rows[(seat - me) % seats] for seat in range(seats)]

    def seat(relative):
        return (relative + me) % seats

    def question():
        if seen["target"] is None:
            return None
        return {"by": seat(seen["turn"]), "of": seat(seen["target"]), "what": seen["question"]}

    def top():
        if seen["top_suit"] is None:
            return None
        number, power = seen["top_number"], seen["top_power"]
        return seen["top_suit"] + (number if number != "reroll" else "-reroll") + (f"-{power}" if power else "")

    def who(section, number):
        """The seat that has this flag of a section, None if no seat has it."""
        have = [seat for seat, flags in enumerate(absolute(seen[section])) if flags[number]]
        assert len(have) <= 1
        return have[0] if have else None

    asks = [
        {"by": who("asked", i), "of": who("was_asked", i), "what": seen["answers"][2 * i], "match": seen["answers"][2 * i + 1]}
        for i in range(12)
    ]
    steals = [{"by": who("stole", i), "of": who("was_robbed", i)} for i in range(12)]
    order, pile_size, draw_size = seen["order"], seen["pile_size"], seen["draw_size"]
    under = order[::-1][:draw_size]
    assert all(kind == 0 for kind in order[pile_size : len(order) - draw_size])
    hands = [cards_of(features, seen["deck"]) for features in absolute(seen["cards"])]
    result = {
        "pile": [TEXTS[kind - 1] for kind in order[:pile_size]],
        "top": top(),
        "die": int(seen["die"]),
        "draw_size": draw_size,
        "hand_sizes": absolute(seen["hand_size"]),
        "won": [Unordered(cards_of(features, seen["deck"])) for features in absolute(seen["won"])],
        "turn": seat(seen["turn"]),
        "played": seen["played"],
        "owed": absolute(seen["owed"]),
        "end_phase": seen["end_phase"],
        "passes": seen["passes"],
        "pending": seen["pending"] if seen["pending"] in ("ask", "steal", "give", "discard", "starter") else None,
        "question": question(),
        "asks": [{**ask, "what": WHATS[ask["what"]], "match": bool(ask["match"])} for ask in asks if ask["by"] is not None],
        "steals": [steal for steal in steals if steal["by"] is not None],
        "known": [[] if seat == me else hands[seat] for seat in range(seats)],
        "hand": hands[me],
        "bottom": [[place, TEXTS[kind - 1]] for place, kind in enumerate(under) if kind],
    }
    assert cards_of(seen["open"], seen["deck"]) == sorted(itertools.chain(result["pile"], *result["won"]), key=TEXTS.index)
    assert absolute(seen["won_size"]) == [len(cards) for cards in result["won"]]
    assert seen["draw_steps"] == draw_size // 4 * 4
    assert seen["pile_count"] == min(24, pile_size)
    check_view(view, me, result)
    return result


def check_view(view, me, result) -> None:
    """The fields of the view say the same."""
    seats, deck = int(view.num_seats), DECKS[view.deck]
    assert [TEXTS[kind] for kind in view.pile[: view.pile_size]] == result["pile"]
    assert (TEXTS[view.top] if view.top >= 0 else None) == result["top"]
    assert (view.die, view.stock_ends[1], view.turn, view.passes) == tuple(result[key] for key in ("die", "draw_size", "turn", "passes"))
    assert (bool(view.played), bool(view.end_phase)) == (result["played"], result["end_phase"])
    assert view.hand_size[:seats].tolist() == result["hand_sizes"]
    assert view.owed[:seats].astype(bool).tolist() == result["owed"]
    for seat in range(seats):
        assert cards_of(view.won[seat], deck) == result["won"][seat]
        assert cards_of(view.hand[seat], deck) == (result["hand"] if seat == me else result["known"][seat])
    assert (view.num_asks, view.num_steals) == (len(result["asks"]), len(result["steals"]))
    assert all(move[SURE] < 0 for move in view.moves[: view.num_moves] if move[OF] != me)
    stock = [view.stock[(view.stock_ends[0] + place) % 105] for place in range(view.stock_ends[1])]
    assert [[place, TEXTS[kind]] for place, kind in enumerate(stock) if kind >= 0] == result["bottom"]
