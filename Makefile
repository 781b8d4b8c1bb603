# Each target works as the first command on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test test-slow lint bench leaderboard tables docs clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /: /'

demo: .venv/ready  ## train ReCURRRing for two minutes, evaluate, show the table and where the plots lie
	$(BIN)/cardenvs demo

test: .venv/ready  ## all tests but the slow ones
	$(BIN)/python -m pytest

test-slow: .venv/ready  ## the slow tests: training to a strength, long series
	$(BIN)/python -m pytest -m slow -n 2

lint: .venv/ready  ## format, linter, type checker
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/peers  ## decisions per second, compile and import times, next to other suites
	$(BIN)/cardenvs benchmark

leaderboard: .venv/ready  ## measure the ladder of every game in about ten minutes (BUDGET=medium: with best responses, about 35; full: more than an hour)
	$(BIN)/cardenvs ladder --budget $(or $(BUDGET),small)

tables: .venv/ready  ## write the generated tables of the rule pages and the README
	$(BIN)/python -m tests.tables --write

docs: .venv/docs  ## build the site into docs/_build; warnings are errors
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q docs docs/_build
	@echo "docs/_build/index.html"

clean:  ## remove the virtual environment and all caches
	rm -rf .venv build dist docs/_build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[train,dev]'
	@touch $@

.venv/docs: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

.venv/peers: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[peers]' || echo "some peers cannot be installed here: measured without them"
	@touch $@
