"""The facts of the Ding! page, read from an agent's observation and checked against its view."""

import numpy as np

from cardenvs.games.ding.cards import CARDS, COLOURS, EVENT_NUMBERS


def facts(env, agent) -> dict:
    """As the recorded games list them, with absolute seats."""
    seen = env.describe_observation(env.observe(agent)["observation"])
    view = env.view(agent)[0]
    seats, me = env.num_players, env.possible_agents.index(agent)

    def pile(codes):
        """Cards with odd codes, those with most cards on them first."""
        return [CARDS[card] for card in sorted(range(81), key=lambda card: -codes[card]) if codes[card] % 2]

    event, subject = None, None
    if seen["event_number"] is not None:
        event = 9 * EVENT_NUMBERS.index(int(seen["event_number"])) + COLOURS.index(seen["event_colour"])
        subject = (seen["subject"] + me) % seats
    called = [[] for _ in range(seats)]
    for card, code in enumerate(seen["discards"]):
        if code and code % 2 == 0:
            called[(code.bit_length() - 2 + me) % seats].append(CARDS[card])
    hand = np.flatnonzero(seen["hand"])
    result = {
        "discards": pile(seen["discards"]),
        "last_reshuffle": pile(seen["reshuffled"]),
        "draw_pile": seen["stock"],
        "hand_sizes": [seen["hand_sizes"][(seat - me) % seats] for seat in range(seats)],
        "turn": (seen["turn"] + me) % seats,
        "event": event,
        "subject": subject,
        "hand_size": seen["hand_size"],
        "falsely_called": called,
        "hand": [CARDS[card] for card in hand],
        "true_now": [seen["true_now"][card] for card in hand],
    }
    assert result["discards"] == [CARDS[card] for card in view.discards[: view.num_discards]]
    assert result["hand_sizes"] == view.hand_sizes[:seats].tolist()
    assert result["turn"] == view.turn
    assert result["hand"] == [CARDS[card] for card in np.flatnonzero(view.holder == me)]
    assert {card for card, true in zip(hand, result["true_now"], strict=True) if true} == set(view.true_cards[: view.num_true].tolist())
    top, second = [*result["discards"][::-1], None][:2]
    assert f"{seen['top_colour']}-{seen['top_number']}" == top
    assert second is None or f"{seen['second_colour']}-{seen['second_number']}" == second
    assert seen["cards"] == [min(12, size) for size in seen["hand_sizes"]]
    assert seen["stock_steps"] == view.stock_size // 4 * 4
    return result
