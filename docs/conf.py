"""Sphinx: `make docs` builds the site into docs/_build; warnings are errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cardenvs

project = "cardenvs"
author = "The cardenvs developers"
copyright = author
release = version = cardenvs.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"cardenvs {version}"
html_static_path: list[str] = []
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
nitpicky = False
suppress_warnings = ["myst.xref_missing", "myst.header"]  # pages that are included link to files of the repository
