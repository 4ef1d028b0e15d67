"""A short reference: citation keys lead to the bibliography, and names to what they name; NumPy's
types go by their own names, a method has one signature, and nothing is said twice.
"""

import re

import numpy as np
from docutils import nodes
from numpy.typing import ArrayLike, NDArray
from sphinx.addnodes import desc, desc_annotation, desc_name, literal_strong, pending_xref
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import stringify_annotation

#: [KB24] or [KB24, eq. (72)]; the keys are headings of the bibliography.
CITED = re.compile(r"\[([A-Z]+\d\d)(?:, [^\[\]]+)?\]")


def written_out(alias, mode):
    """Return a type as Sphinx writes it; "short" is without modules."""
    long = stringify_annotation(alias, "smart" if mode == "short" else mode)
    return re.sub(r"~(\w+\.)+", "", long) if mode == "short" else long


#: What types are written out to, and the name that a reader knows.
TYPES = {
    written_out(alias, mode): name
    for mode in ("smart", "fully-qualified-except-typing", "short")
    for alias, name in (
        (ArrayLike, "ArrayLike"),
        (NDArray[np.float64], "NDArray"),
        (NDArray[np.bool_], "NDArray"),
        (NDArray[np.intp], "NDArray"),
    )
} | {
    "~collections.abc.Callable": "Callable",
    "collections.abc.Callable": "Callable",
    "collections.abc.Sequence": "Sequence",
    "~poinsot.so3.Rotation |": "Rotation |",
    "poinsot.so3.Rotation |": "Rotation |",
}
#: An array of other numbers, and how a type begins that has to be shortened.
ARRAY = re.compile(r"ndarray\[tuple\[Any, (?:\.\.\.|…)\], dtype\[\w+\]\]")
LONG = re.compile(r"_Buffer|ndarray\[")
DASH = " \N{EN DASH} "  # between a parameter and its description


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


class SayOnce(SphinxPostTransform):
    """Give parameters with one description one line; leave out those that are attributes, too.

    "start, end (float) - Interval [s]" instead of two lines with the same words.
    """

    default_priority = 4  # before references are resolved

    def run(self):
        for items in list(self.document.findall(nodes.bullet_list)):
            if isinstance(items.parent, nodes.field_body):
                self._leave_out(items, items.parent.parent)
                self._join(items)
        for annotation in list(self.document.findall(desc_annotation)):
            if LONG.search(annotation.astext()):
                annotation.children = [nodes.Text(shortened(annotation.astext()))]
        for paragraph in list(self.document.findall(nodes.paragraph)):
            head, words = _halves(paragraph)
            if LONG.search("".join(part.astext() for part in head)):
                first = [part for part in head[:1] if isinstance(part, literal_strong)]
                kind = "".join(part.astext() for part in head[len(first) :])
                paragraph.children = []
                paragraph += [*first, nodes.Text(shortened(kind))]
                paragraph += [nodes.Text(DASH), *words] if words else []

    def _leave_out(self, items, field):
        own = [part for part in field.parent.parent if isinstance(part, desc)]
        names = {name.astext() for part in own for name in part[0].findall(desc_name)}
        described = {name.strip() for several in names for name in several.split(",")}
        for item in list(items):
            head, words = _halves(item[0])
            name = head[0].astext()
            if name.startswith("_") or (not words and name in described):
                items.remove(item)
        if not items.children:
            field.parent.remove(field)

    def _join(self, items):
        said, types, kept = "", "", None
        for item in list(items):
            head, words = _halves(item[0])
            description = "".join(word.astext() for word in words)
            kind = "".join(part.astext() for part in head[1:])
            if kept is None or not words or description != said:
                said, types, kept = description, kind, item[0]
                continue
            items.remove(item)
            before, after = _halves(kept)
            if kind == types:
                names = [part for part in before if isinstance(part, literal_strong)]
                at = before.index(names[-1]) + 1
                before[at:at] = [nodes.Text(", "), head[0]]
            else:
                before += [nodes.Text(", "), *head]
                types = kind
            kept.children = []
            kept += [*before, nodes.Text(DASH), *after]


def _halves(paragraph):
    """Return what names a parameter, with its type, and its description."""
    parts = list(paragraph)
    for at, part in enumerate(parts):
        if isinstance(part, nodes.Text) and part == DASH:
            return parts[:at], parts[at + 1 :]
    return parts, []


def _is_prose(node):
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.literal | nodes.literal_block | nodes.reference | nodes.title):
            return False
    return True


def shortened(written):
    """Return a type as a reader would write it."""
    for long, short in TYPES.items():
        written = written.replace(long, short)
    return ARRAY.sub("NDArray", written)


def shorten_types(app, domain, kind, content):
    """Write NumPy's types short, before they are merged into the description of parameters."""
    for annotations in app.env.current_document.autodoc_annotations.values():
        for name, written in annotations.items():
            annotations[name] = shortened(written)


def find_name(app, env, node, contnode):
    """Find what a docstring names without its module: `Result.stress` in a function of `viz`."""
    name = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not re.fullmatch(r"[A-Z]\w+(\.\w+)?", name):
        return None
    objects = env.domains.python_domain.objects
    found = [one for one in objects if one.endswith(f".{name}")]
    best = (
        f"poinsot.{name}" if f"poinsot.{name}" in objects else found[0] if len(found) == 1 else ""
    )
    if not best:
        return None
    page, anchor = objects[best].docname, objects[best].node_id
    return make_refnode(app.builder, node["refdoc"], page, anchor, contnode, best)


def one_signature():
    """Leave out overloads, which are for type checkers and have long types."""
    analyze = ModuleAnalyzer.analyze

    def without_overloads(self):
        analyze(self)
        self.overloads = {}

    ModuleAnalyzer.analyze = without_overloads


def whole_sentences():
    """Take the first words of a property for what they are, not for a type before a colon."""
    GoogleDocstring._parse_attribute_docstring = lambda self: self._dedent(self._consume_to_end())


def setup(app):
    """Register with Sphinx."""
    one_signature()
    whole_sentences()
    app.add_post_transform(SayOnce)
    app.add_post_transform(LeaveWords)
    app.add_post_transform(LinkCitations)
    app.connect("missing-reference", find_name)
    app.connect("object-description-transform", shorten_types, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
