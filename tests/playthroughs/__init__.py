"""Recorded games of every game and version, as this package played them; see `generate.py`."""
