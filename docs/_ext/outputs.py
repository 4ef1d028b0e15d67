"""Shows what the Python blocks of a page print: they run, one after the other, as it is read.

Only pages that a reader follows block by block; the tests run all pages.
"""

import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from tempfile import TemporaryDirectory

import matplotlib

SHOWN = ("tutorial/", "howto/")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def add_outputs(app, docname, source):
    """Insert the output of every block below it."""
    if docname.startswith(SHOWN):
        namespace = {"__name__": docname}
        with TemporaryDirectory() as folder, chdir(folder):
            source[0] = BLOCK.sub(lambda block: block[0] + output(block[1], namespace), source[0])


def output(code, namespace):
    """Run a block and return what it prints as a block of text, or nothing."""
    with redirect_stdout(StringIO()) as printed:
        exec(compile(code, namespace["__name__"], "exec"), namespace)
    text = printed.getvalue().rstrip()
    return f"\n```{{code-block}} text\n:class: output\n\n{text}\n```\n" if text else ""


def setup(app):
    """Register with Sphinx."""
    matplotlib.use("Agg")  # here, and not in the kernels of notebooks
    app.connect("source-read", add_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
