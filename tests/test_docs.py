"""The documents tell the truth: code runs as written, tables are those of the code, links lead somewhere (FC-91)."""

import re
from pathlib import Path

import pytest

import cardenvs
from cardenvs.core.game import Game
from tests.common import GAMES, ROOT, run_python
from tests.tables import TABLES, readme, refreshed

COMMON = ROOT / "cardenvs" / "games" / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    COMMON,
    *(readme(cardenvs.find(game_id)) for game_id in GAMES),
]
BLOCKS = [
    pytest.param(code, id=f"{page.parent.name}-{page.stem}-{number}")
    for page in PAGES
    if page.exists()
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE), 1)
]


@pytest.mark.parametrize("code", BLOCKS)
def test_code_runs_as_written(code: str, tmp_path: Path):
    """FC-91: every block on its own, in an empty folder, with warnings as errors."""
    run_python("-W", "error", "-c", code, cwd=tmp_path)


def test_the_readme_shows_code():
    assert "cardenvs.make(" in (ROOT / "README.md").read_text()
    assert BLOCKS


def test_tables_are_up_to_date(game: Game):
    """Every game has a page, named like the game, with all generated tables; `python -m tests.tables --write` brings them up to date."""
    page = readme(game).read_text()
    first = page.splitlines()[0]
    assert game.title in first
    assert f"(`{game.id}`)" in first
    for name in TABLES:
        assert page.count(f"<!-- {name} -->") == page.count(f"<!-- /{name} -->") == 1
    assert refreshed(game, page) == page, "run `python -m tests.tables --write`"


def test_common_rules_are_defined_and_tested():
    """G-01 and all others: what any page, kernel or test refers to is on the common page, and every rule there is named in a test."""
    defined = re.findall(r"^\* \*\*(G-\d\d)\*\*", COMMON.read_text(), flags=re.MULTILINE)
    assert defined == [f"G-{number:02}" for number in range(1, 15)]
    sources = [*PAGES, *ROOT.glob("cardenvs/**/*.py"), *ROOT.glob("experiments/*.py"), *ROOT.glob("tests/**/*.py")]
    assert set(re.findall(r"\bG-\d\d\b", "\n".join(path.read_text() for path in sources))) <= set(defined)
    tests = "\n".join(path.read_text() for path in ROOT.glob("tests/**/test_*.py"))
    named = set(re.findall(r"\bG-\d\d\b", tests))
    for first, last in re.findall(r"\bG-(\d\d) … G-(\d\d)", tests):
        named |= {f"G-{number:02}" for number in range(int(first), int(last) + 1)}
    assert sorted(set(defined) - named) == []


def test_every_rule_is_tested(game: Game):
    """Each numbered rule of a game's page is named in a test of it."""
    numbered = re.findall(r"^\* \*\*([A-Z]{2}-\d\d)\*\*", readme(game).read_text(), flags=re.MULTILINE)
    assert numbered
    assert len(set(numbered)) == len(numbered)
    tests = "\n".join(path.read_text() for path in ROOT.glob(f"tests/**/test_{game.name}*.py"))
    named = {f"{letters.upper()}-{number}" for letters, number in re.findall(r"(?i)(?<![a-z])([a-z]{2})[-_]?(\d\d)(?!\d)", tests)}
    for letters, first, last in re.findall(r"\b([A-Z]{2})-(\d\d) … (?:[A-Z]{2}-)?(\d\d)", tests):
        named |= {f"{letters}-{number:02}" for number in range(int(first), int(last) + 1)}
    assert sorted(set(numbered) - named) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
