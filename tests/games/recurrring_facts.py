"""The facts of the ReCURRRing page, read from an agent's observation and checked against its view."""


def facts(env, agent) -> dict:
    """As the recorded games list them, with absolute seats."""
    seen = env.describe_observation(env.observe(agent)["observation"])
    view = env.view(agent)[0]
    seats, me = env.num_players, env.possible_agents.index(agent)

    def absolute(rows):
        return [rows[(seat - me) % seats] for seat in range(seats)]

    def seat(relative):
        return None if relative is None else (relative + me) % seats

    def face_down(value, count):
        return [count if value is not None and value == text else 0 for text in "123456789R"]

    result = {
        "table_value": seen["table_value"],
        "table_count": seen["table_count"],
        "owner": seat(seen["owner"]),
        "passed": absolute(seen["passed"]),
        "hand_sizes": absolute(seen["hand_size"]),
        "piles": absolute(seen["pile"]),
        "face_down": [face_down(*pair) for pair in zip(absolute(seen["face_down_value"]), absolute(seen["face_down_count"]), strict=True)],
        "first_out": seat(seen["first_out"]),
        "known": absolute(seen["known"]),
        "game": seen["game"],
        "points": absolute(seen["points"]),
        "hand": seen["hand"],
        "unseen": seen["unseen"],
    }
    assert result["piles"] == view.pile[:seats].tolist()
    assert result["known"] == view.known[:seats].tolist()
    assert result["hand_sizes"] == view.hand_size[:seats].tolist()
    assert result["points"] == view.points[:seats].tolist()
    assert result["hand"] == view.hand[me].tolist()
    assert result["unseen"] == view.unseen.tolist()
    return result
