"""Fixtures of the generic tests: every test with `game` or `case` runs for all games, or for all their numbers of players."""

import re

import pytest

import cardenvs
from cardenvs.core.game import Game
from tests.common import GAMES, Case, cases, some_players


@pytest.fixture(params=GAMES)
def game_id(request: pytest.FixtureRequest) -> str:
    """The id of each game."""
    return request.param


@pytest.fixture
def game(game_id: str) -> Game:
    """Each game."""
    return cardenvs.find(game_id)


@pytest.fixture(
    params=[pytest.param(case, marks=[] if case.num_players in some_players(case.game) else pytest.mark.slow) for case in cases()],
    ids=lambda case: f"{case.game_id}-{case.num_players}p",
)
def case(request: pytest.FixtureRequest) -> Case:
    """Each game with each of its numbers of players; the slow tests have those in between."""
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of a game together, so that few workers compile it; the others follow, when all is compiled."""
    patterns = [re.compile(rf"[\[_]{game_id.split('-v')[0]}[-._]") for game_id in GAMES]
    items.sort(key=lambda item: next((place for place, pattern in enumerate(patterns) if pattern.search(item.nodeid)), len(patterns)))
