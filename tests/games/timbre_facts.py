"""The facts of the Timbre page, read from an agent's observation and checked against its view."""

from cardenvs.games.timbre.cards import COLOURS, FACES, KINDS, NUM_CARDS, WILD


def facts(env, agent) -> dict:
    """As the recorded games list them, with absolute seats."""
    seen = env.describe_observation(env.observe(agent)["observation"])
    view = env.view(agent)[0]
    seats, me = env.num_players, env.possible_agents.index(agent)

    def absolute(rows):
        return [rows[(seat - me) % seats] for seat in range(seats)]

    def in_order(rows, trick):
        leader = next((seat for seat in range(seats) if seen["leads"][seat][trick]), None)
        if leader is None:
            return []
        places = [(leader + k) % seats for k in range(seats)]
        return [[(place + me) % seats, card_of(rows[place][trick])] for place in places if rows[place][trick]]

    revealed = seen["phase"] != "in or out"
    choices = absolute(seen["choice"])
    first = seen["hand_number"] == 0
    trick = in_order(seen["played"], seen["trick_number"])
    if seen["led"] is None:
        trick = []
    faces = absolute(seen["trick_face"])
    assert sorted(seat for seat, _ in trick) == [seat for seat in range(seats) if faces[seat]]
    for seat, card in trick:
        colour = absolute(seen["trick_colour"])[seat]
        assert card == ("wild" if colour is None else f"{colour}-{faces[seat]}")
    result = {
        "positions": absolute(seen["position"]),
        "dealer": absolute(seen["dealer"]).index(True),
        "trump": seen["trump"],
        "community": ["wild"] * seen["community_wilds"] + [f"{seen['trump']}-{seen['community_face']}"],
        "choices": choices if revealed else [None] * seats,
        "exchanged": absolute(seen["exchanged"]),
        "tricks_won": absolute(seen["tricks_won"]),
        "trick": trick,
        "played": [entry for number in range(5) for entry in in_order(seen["played"], number)],
        "void": [sorted(colour for colour, flag in zip(COLOURS, row, strict=False) if flag) for row in absolute(seen["void"])],
        "hand_number": seen["hand_number"],
        "max_hands": seen["max_hands"],
        "hand_before": None
        if first
        else {
            "choices": ["in" if flag else "out" for flag in absolute(seen["in_before"])],
            "ding": next((seat for seat, flag in enumerate(absolute(seen["ding_before"])) if flag), None),
            "tricks_won": absolute(seen["tricks_before"]),
        },
        "hand": texts(seen["hand"]),
        "discarded": texts(seen["discarded"]),
        "choice": choices[me],
    }
    assert result["positions"] == view.position[:seats].tolist()
    assert result["tricks_won"] == view.tricks[:seats].tolist()
    assert result["exchanged"] == view.exchanged[:seats].tolist()
    assert result["hand"] == held(view.hand[me])
    assert result["discarded"] == held(view.discarded[me])
    assert result["hand_number"] == view.hand_number
    assert [entry[1] for entry in result["played"]] == held_in_order(view, result["played"])
    assert texts(seen["shown"]) == held(view.community | view.gone)
    assert [entry[0] for entry in trick if seen["winning"][(entry[0] - me) % seats]] == [view.winner] * (len(trick) > 0)
    return result


def card_of(code: int) -> str:
    """The card of a number of the section `played`."""
    return "wild" if code == 16 else f"{COLOURS[code // 16]}-{FACES[code % 16 - 1]}"


def texts(counts) -> list[str]:
    """Cards of counts by kind."""
    return [kind for kind, count in zip(KINDS, counts, strict=True) for _ in range(count)]


def held(cards) -> list[str]:
    """Cards of a set in a view."""
    return [KINDS[min(card, WILD)] for card in range(NUM_CARDS) if int(cards) >> card & 1]


def held_in_order(view, entries) -> list[str]:
    """The cards of a view's `played`, in the order of `entries`."""
    tricks = {seat: iter(view.played[seat].tolist()) for seat in range(view.num_seats)}
    return [KINDS[min(next(tricks[seat]), WILD)] for seat, _ in entries]
