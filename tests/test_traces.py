"""Games that an independent engine recorded from the rule pages (FC-71): replayed, and compared decision by decision.

Each file is a test. What a game's recordings list under `facts`, `tests/games/<game>_facts.py` reads from observation and view.
"""

import importlib
from pathlib import Path

import pytest

from tests.common import GAMES
from tests.traces.replayer import recorded_games, replay_file

FILES = sorted((Path(__file__).parent / "traces").glob("*.jsonl.gz"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_recorded_games(path: Path):
    game = next(recorded_games(path))["game"]
    facts = importlib.import_module(f"tests.games.{game}_facts").facts
    assert replay_file(path, facts) > 500


def test_every_game_is_recorded():
    """No game of the package without recordings, nor recordings without their game."""
    ours = {game_id.split("-v")[0] for game_id in GAMES} - {"kuhn"}
    assert {path.name.split("-")[0] for path in FILES} == ours
    for game in ours:
        assert any(path.name == f"{game}-default.jsonl.gz" for path in FILES)
