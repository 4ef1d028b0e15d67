"""Sphinx configuration."""

from importlib.metadata import version as installed_version

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
