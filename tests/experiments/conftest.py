"""The toy game, which plays fast."""

import pytest

import cardenvs
from cardenvs.core.game import Game


@pytest.fixture
def kuhn() -> Game:
    """Kuhn poker."""
    return cardenvs.find("kuhn-v0")
