"""Sphinx configuration."""

import json
from importlib.metadata import version as installed_version
from pathlib import Path

from poinsot.io import schema

project = "Poinsot"
author = "The Poinsot developers"
copyright = "2026, The Poinsot developers"
version = release = installed_version("poinsot")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # the pages open without a network
]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False

html_theme = "furo"
html_title = f"Poinsot {release}"


def write_schema(app, error):
    """Put the schema of model files next to the pages."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "model-file.schema.json").write_text(json.dumps(schema(), indent=1))


def setup(app):
    app.connect("build-finished", write_schema)
