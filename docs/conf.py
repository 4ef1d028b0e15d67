"""Sphinx configuration."""

import json
import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

# Before NumPy is imported: small matrices gain nothing from threads, and wait for them a lot.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from poinsot.io import schema

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Poinsot"
author = "The Poinsot developers"
copyright = "2026, The Poinsot developers"
version = release = installed_version("poinsot")

extensions = [
    "gallery",  # docs/_ext: facts and checks of the examples
    "outputs",  # docs/_ext: what the blocks of a page print, motions in 3D
    "names",  # docs/_ext: links of citations, short names of types
    "packages",  # docs/_ext: the picture of the packages
    "myst_nb",  # pages in MyST Markdown, and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",  # code is copied without the prompt
    "sphinx-mathjax-offline",  # the pages open without a network
]
exclude_patterns = ["_build", "jupyter_execute"]
default_role = "py:obj"  # code in docstrings, which leads to what it names

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Notebooks are kept without outputs and run here: what they show is what this version computes.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_render_image_options = {"alt": "What the code above draws"}

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
napoleon_google_docstring = False

copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.output) > div.highlight > pre"

html_theme = "furo"
html_title = f"Poinsot {release}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["poinsot.css"]


def write_schema(app, error):
    """Put the schema of model files next to the pages."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "model-file.schema.json").write_text(json.dumps(schema(), indent=1))


def setup(app):
    app.connect("build-finished", write_schema)
