"""Short names: citation keys lead to the bibliography, NumPy's types go by their own names, words
in shapes are not linked, and a method has one signature.
"""

import re

import numpy as np
from docutils import nodes
from numpy.typing import ArrayLike, NDArray
from sphinx.addnodes import pending_xref
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import stringify_annotation

#: [KB24] or [KB24, eq. (72)]; the keys are headings of the bibliography.
CITED = re.compile(r"\[([A-Z]+\d\d)(?:, [^\[\]]+)?\]")
#: What NumPy's aliases are written out to, and the name that a reader knows.
TYPES = {
    stringify_annotation(alias, "smart"): name
    for alias, name in (
        (ArrayLike, "ArrayLike"),
        (NDArray[np.float64], "NDArray"),
        (NDArray[np.bool_], "NDArray"),
        (NDArray[np.intp], "NDArray"),
    )
}


class LinkCitations(SphinxPostTransform):
    """Turn every key of the bibliography into a link."""

    default_priority = 20

    def run(self):
        page = "bibliography"
        if self.env.docname == page:
            return
        sections = self.env.get_doctree(page).findall(nodes.section)
        anchors = {
            section.next_node(nodes.title).astext(): section["ids"][0] for section in sections
        }
        for text in list(self.document.findall(nodes.Text)):
            if _is_prose(text):
                pieces = self._pieces(text.astext(), anchors)
                if len(pieces) > 1:
                    text.parent.replace(text, pieces)

    def _pieces(self, text, anchors):
        pieces, end, build = [], 0, self.app.builder
        for match in CITED.finditer(text):
            anchor = anchors.get(f"[{match[1]}]")
            if anchor is not None:
                pieces.append(nodes.Text(text[end : match.start()]))
                words = nodes.inline("", match[0])
                here = self.env.docname
                pieces.append(make_refnode(build, here, "bibliography", anchor, words))
                end = match.end()
        return [*pieces, nodes.Text(text[end:])]


class LeaveWords(SphinxPostTransform):
    """Keep the n of a shape (n, 3), where a type is expected, from linking to an attribute n."""

    default_priority = 5  # before references are resolved

    def run(self):
        for link in list(self.document.findall(pending_xref)):
            if link["refdomain"] == "py" and re.fullmatch("[a-z]+", link["reftarget"]):
                link.parent.replace(link, link.children)


def _is_prose(node):
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.literal | nodes.literal_block | nodes.reference | nodes.title):
            return False
    return True


def shorten_types(app, domain, kind, content):
    """Write NumPy's types short, before they are merged into the description of parameters."""
    for annotations in app.env.current_document.autodoc_annotations.values():
        for name, written in annotations.items():
            for long, short in TYPES.items():
                written = written.replace(long, short)
            annotations[name] = written


def one_signature():
    """Leave out overloads, which are for type checkers and have long types."""
    analyze = ModuleAnalyzer.analyze

    def without_overloads(self):
        analyze(self)
        self.overloads = {}

    ModuleAnalyzer.analyze = without_overloads


def setup(app):
    """Register with Sphinx."""
    one_signature()
    app.add_post_transform(LeaveWords)
    app.add_post_transform(LinkCitations)
    app.connect("object-description-transform", shorten_types, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
