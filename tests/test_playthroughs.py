"""Games recorded by `tests.playthroughs.generate`, played again: changed behaviour without a new version fails here."""

import json
from typing import Any

import pytest

import cardenvs
from tests.common import GAMES
from tests.playthroughs.generate import FOLDER, PARTS, record

RECORDED = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
ADVICE = (
    "{id} behaves differently from what it did. If that is meant, raise `version` in its GAME, name the new id in the registry, remove "
    "the old recording and run `python -m tests.playthroughs.generate {name}-v{next}` (no release has {id} yet? record it again); "
    "if not, it is a bug."
)


def name_of(game: dict[str, Any]) -> str:
    return "-".join([f"{game['num_players']}p", *(f"{name}={value}" for name, value in game["options"].items())])


GAMES_RECORDED = [
    pytest.param(game_id, game, id=f"{game_id}-{name_of(game)}") for game_id, recorded in RECORDED.items() for game in recorded
]


@pytest.mark.parametrize(("recorded_id", "game"), GAMES_RECORDED)
def test_behaviour_is_that_of_its_version(recorded_id: str, game: dict[str, Any]):
    assert recorded_id in GAMES, f"{recorded_id} is recorded, but this package plays {', '.join(GAMES)}: remove the recording"
    name, version = recorded_id.split("-v")
    advice = ADVICE.format(id=recorded_id, name=name, next=int(version) + 1)
    again = record(recorded_id, game["num_players"], game["options"], game["seed"])
    pairs = zip(game["beginning"].split(), again["beginning"].split(), strict=False)
    for number, (before, now) in enumerate(pairs, 1):
        (action, digits), (action_now, digits_now) = before.split(":"), now.split(":")
        assert action_now == action, f"decision {number}: other actions are legal. {advice}"
        changed = [part for place, part in enumerate(PARTS) if digits[2 * place :][:2] != digits_now[2 * place :][:2]]
        assert not changed, f"after decision {number}: changed {', '.join(changed)}. {advice}"
    for key in game:
        assert again[key] == game[key], f"{key} after {game['decisions']} decisions differ. {advice}"


def test_every_game_is_recorded():
    """With every number of players, and every choice of every option."""
    missing = set(GAMES) - set(RECORDED)
    assert not missing, f"run `python -m tests.playthroughs.generate {' '.join(sorted(missing))}`"


@pytest.mark.parametrize("game_id", GAMES)
def test_recordings_are_small_and_wide(game_id: str):
    game = cardenvs.find(game_id)
    recorded = RECORDED[game_id]
    assert {each["num_players"] for each in recorded} == set(game.players)
    assert {name for each in recorded for name in each["options"]} == set(game.options)
    assert any(each["terminated"] for each in recorded)
    assert (FOLDER / f"{game_id}.json").stat().st_size < 80_000
