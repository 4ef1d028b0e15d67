"""Shows what the Python blocks of a page print, and the 3D pages that they write.

The blocks run, one after the other, as a page is read. Only pages that a reader follows block by
block; the tests run all pages.
The directive ``{motion} NAME`` shows an example of the gallery in 3D.
"""

import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

SHOWN = ("index", "start", "tutorial/", "howto/")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
#: Where the 3D pages are, in the folder of the HTML pages.
MOTIONS = "motions"


def add_outputs(app, docname, source):
    """Insert the output of every block below it."""
    if docname.startswith(SHOWN):
        namespace = {"__name__": docname}
        with TemporaryDirectory() as folder, chdir(folder):
            source[0] = BLOCK.sub(
                lambda block: block[0] + output(app, docname, block[1], namespace), source[0]
            )


def output(app, docname, code, namespace):
    """Run a block and return what it prints as a block of text, and the 3D pages that it writes."""
    before = set(Path().glob("*.html"))
    with redirect_stdout(StringIO()) as printed:
        exec(compile(code, namespace["__name__"], "exec"), namespace)
    text = printed.getvalue().rstrip()
    shown = f"\n```{{code-block}} text\n:class: output\n\n{text}\n```\n" if text else ""
    for page in sorted(set(Path().glob("*.html")) - before):
        text = page.read_text(encoding="utf-8")
        if 'id="picture"' in text:
            html = embed(app, docname, f"{docname.replace('/', '-')}-{page.stem}", text)
            shown += f"\n```{{raw}} html\n{html}\n```\n"
    return shown


def embed(app, docname, name, text):
    """Keep a 3D page beside the pages, and return the frame that shows it in one of them."""
    folder = Path(app.outdir, MOTIONS)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.html").write_text(text, encoding="utf-8")
    address = "../" * docname.count("/") + f"{MOTIONS}/{name}.html"
    return f'<iframe class="motion" src="{address}" title="Motion in 3D" loading="lazy"></iframe>'


def setup(app):
    """Register with Sphinx."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    from poinsot.gallery import find_example
    from poinsot.viz import page

    class MotionDirective(SphinxDirective):
        """``{motion} NAME``: an example of the gallery in 3D."""

        required_arguments = 1

        def run(self):
            (name,) = self.arguments
            example = find_example(name)
            text = page(example.seen(example.run(progress=False)), frames=400)
            return [nodes.raw("", embed(self.env.app, self.env.docname, name, text), format="html")]

    matplotlib.use("Agg")  # here, and not in the kernels of notebooks
    app.add_directive("motion", MotionDirective)
    app.connect("source-read", add_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
