"""A function in LLVM's language, read from its text: its blocks, their instructions, and its loops.

Only what LLVM's optimiser leaves of kernels is known here. Anything else raises
`NotVectorisedError`, which says what it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

NAME = r'[-\w.$]+|"[^"]*"'
FLAGS = (
    r"(?:(?:nuw|nsw|nneg|exact|disjoint|inbounds|nusw|samesign|"
    r"fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
)
TYPE = r"\[.*?\](?= )|[a-z]\w*"

#: Instructions that change the type of a value.
CASTS = (
    *("trunc", "zext", "sext", "bitcast", "ptrtoint", "inttoptr"),
    *("fptosi", "fptoui", "sitofp", "uitofp", "fptrunc", "fpext"),
)


class NotVectorisedError(Exception):
    """A function cannot be made one of many runs at once; the message says why."""


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    `head` is what stands before the type: opcode, flags and predicate. `kind` is the type of the
    operands, `result` that of the value. Operands are names, `%...`, or constants; those of phis
    come from `blocks`, to which terminators may go.
    """

    name: str
    opcode: str
    head: str
    kind: str
    result: str
    operands: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    align: int = 8
    #: Types of what is stepped over by the operands of an address, or of those of a call.
    kinds: tuple[str, ...] = ()
    #: The function that is called.
    callee: str = ""


@dataclass
class Block:
    """Instructions without a branch; the last one says where it goes on."""

    name: str
    body: list[Instruction] = field(default_factory=list)

    @property
    def phis(self) -> list[Instruction]:
        """Those that tell where control came from."""
        return [each for each in self.body if each.opcode == "phi"]

    @property
    def rest(self) -> list[Instruction]:
        """All others but the last."""
        return [each for each in self.body[:-1] if each.opcode != "phi"]

    @property
    def end(self) -> Instruction:
        """The last one."""
        return self.body[-1]


@dataclass(eq=False)
class Loop:
    """A loop: its first block, all of its blocks, the one that goes back, and what is around it."""

    header: str
    blocks: set[str]
    latch: str
    parent: "Loop | None" = None


@dataclass(frozen=True, eq=False)
class Function:
    """A function: its parameters (type, name) and blocks, the first of which is entered."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    blocks: dict[str, Block]

    @cached_property
    def entry(self) -> str:
        """The first block."""
        return next(iter(self.blocks))

    @cached_property
    def before(self) -> dict[str, list[str]]:
        """The blocks from which each is reached."""
        found: dict[str, list[str]] = {name: [] for name in self.blocks}
        for name, block in self.blocks.items():
            for other in dict.fromkeys(block.end.blocks):
                found[other].append(name)
        return found

    @cached_property
    def order(self) -> list[str]:
        """Blocks, each after those on the way to it but for the ways back of loops."""
        seen, found = {self.entry}, list[str]()
        stack = [(self.entry, iter(self.blocks[self.entry].end.blocks))]
        while stack:
            name, following = stack[-1]
            for other in following:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(self.blocks[other].end.blocks)))
                    break
            else:
                found.append(name)
                stack.pop()
        return found[::-1]

    @cached_property
    def above(self) -> dict[str, str]:
        """The last block that is on every way to each: its immediate dominator."""
        place = {name: k for k, name in enumerate(self.order)}
        found = {self.entry: self.entry}
        changed = True
        while changed:
            changed = False
            for name in self.order[1:]:
                known = [each for each in self.before[name] if each in found]
                new = known[0]
                for other in known[1:]:
                    while new != other:
                        if place[new] > place[other]:
                            new = found[new]
                        else:
                            other = found[other]
                if found.get(name) != new:
                    found[name], changed = new, True
        return found

    def dominates(self, one: str, other: str) -> bool:
        """Tell whether every way to another block leads through one."""
        while other != one and other != self.entry:
            other = self.above[other]
        return other == one

    @cached_property
    def loops(self) -> dict[str, Loop]:
        """The loops by their headers, outer ones first."""
        place = {name: k for k, name in enumerate(self.order)}
        found: dict[str, Loop] = {}
        for name in self.order:
            latches = [each for each in self.before[name] if place[each] >= place[name]]
            if not latches:
                continue
            if len(latches) > 1 or not self.dominates(name, latches[0]):
                raise NotVectorisedError(f"a loop at '{name}' has several ways in or back")
            inside, waiting = {name}, [latches[0]]
            while waiting:
                each = waiting.pop()
                if each not in inside:
                    inside.add(each)
                    waiting += self.before[each]
            around = [loop for loop in found.values() if name in loop.blocks]
            found[name] = Loop(name, inside, latches[0], around[-1] if around else None)
        return found

    @cached_property
    def innermost(self) -> dict[str, Loop | None]:
        """The innermost loop of each block."""
        found: dict[str, Loop | None] = dict.fromkeys(self.blocks)
        for loop in self.loops.values():
            found.update(dict.fromkeys(loop.blocks, loop))
        return found

    def exits(self, loop: Loop) -> list[tuple[str, str]]:
        """Return the edges that leave a loop."""
        return [
            (name, other)
            for name in self.order
            if name in loop.blocks
            for other in dict.fromkeys(self.blocks[name].end.blocks)
            if other not in loop.blocks
        ]


# -- reading ---------------------------------------------------------------------------------------


def read_function(text: str, name: str) -> Function:
    """Return a function of a module, given as text; all of its values have names."""
    lines = iter(text.splitlines())
    for line in lines:
        head = re.match(rf"define .*@{re.escape(name)}\((.*)\)[^()]*\{{$", line)
        if head:
            break
    else:
        raise NotVectorisedError(f"there is no function '{name}'")
    parameters = tuple(_typed(each) for each in split(head[1]))
    blocks: dict[str, Block] = {}
    for line in _joined(lines):
        label = re.match(rf"({NAME}):", line)
        if label:
            block = blocks[label[1]] = Block(label[1])
        else:
            block.body.append(_instruction(line.strip()))
    function = Function(name, parameters, blocks)
    for other in set(blocks) - set(function.order):
        del blocks[other]
    return function


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a function, those of a switch as one; without remarks and metadata."""
    parts = list[str]()
    for line in lines:
        if line == "}":
            return
        text = re.sub(r"(, ![\w.]+ !\d+)+$|\s+;.*$| #\d+$", "", line)
        text = re.sub(r"(, ![\w.]+ !\d+)+$| #\d+$", "", text)
        if not text.strip():
            continue
        if parts or text.endswith("["):
            parts.append(text.strip())
            if not text.strip().startswith("]"):
                continue
            text, parts = " ".join(parts), []
        yield text


def split(text: str) -> list[str]:
    """Return what stands between commas outside of brackets."""
    parts, depth, quoted, start = list[str](), 0, False, 0
    for k, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:k].strip())
            start = k + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _typed(text: str) -> tuple[str, str]:
    """Return the type and the value of an operand, which may have attributes between."""
    kind = re.match(TYPE, text)
    if kind is None:
        raise NotVectorisedError(f"an operand of an unknown type: '{text}'")
    rest = text[kind.end() :].strip()
    if rest.startswith("getelementptr "):
        return kind[0], rest
    value = re.search(rf"(%(?:{NAME})|@(?:{NAME})|\S+)$", rest)
    if value is None or text.endswith(")"):
        raise NotVectorisedError(f"an operand that is no name and no number: '{text}'")
    return kind[0], value[1]


def _pair(text: str) -> tuple[str, str, str]:
    """Return the type and both values of `type a, b`."""
    first, second = split(text)
    kind, value = _typed(first)
    return kind, value, second


def _label(text: str) -> str:
    return text.removeprefix("label ").strip().removeprefix("%")


def _instruction(text: str) -> Instruction:
    """Return an instruction."""
    named = re.match(rf"(%(?:{NAME})) = (.*)", text)
    name, text = (named[1], named[2]) if named else ("", text)
    text = re.sub(r"^(tail|musttail|notail) ", "", text)
    opcode, _, rest = text.partition(" ")
    if opcode in READERS:
        return READERS[opcode](name, opcode, rest)
    raise NotVectorisedError(f"instruction '{opcode}'")


def _flags(rest: str) -> tuple[str, str]:
    found = re.match(FLAGS, rest)
    assert found is not None
    return found[0], rest[found.end() :]


def _binary(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    kind, a, b = _pair(rest)
    return Instruction(name, opcode, f"{opcode} {flags}", kind, kind, (a, b))


def _unary(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    kind, a = _typed(rest)
    return Instruction(name, opcode, f"{opcode} {flags}", kind, kind, (a,))


def _compare(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    predicate, _, rest = rest.partition(" ")
    kind, a, b = _pair(rest)
    return Instruction(name, opcode, f"{opcode} {flags}{predicate} ", kind, "i1", (a, b))


def _select(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    (_, condition), (kind, a), (_, b) = map(_typed, split(rest))
    return Instruction(name, opcode, f"{opcode} {flags}", kind, kind, (condition, a, b))


def _cast(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    value, _, result = rest.rpartition(" to ")
    kind, a = _typed(value)
    return Instruction(name, opcode, f"{opcode} {flags}", kind, result, (a,))


def _aligned(parts: Sequence[str]) -> int:
    return next((int(each.split()[1]) for each in parts if each.startswith("align ")), 1)


def _load(name: str, opcode: str, rest: str) -> Instruction:
    kind, place, *more = split(rest)
    _refuse_special(opcode, kind)
    operands = (_typed(place)[1],)
    return Instruction(name, opcode, opcode, kind, kind, operands, align=_aligned(more))


def _store(name: str, opcode: str, rest: str) -> Instruction:
    value, place, *more = split(rest)
    _refuse_special(opcode, value.split()[0])
    kind, a = _typed(value)
    operands = a, _typed(place)[1]
    return Instruction("", opcode, opcode, kind, "void", operands, align=_aligned(more))


def _refuse_special(opcode: str, word: str) -> None:
    if word.startswith(("atomic", "volatile", "<", "{")):
        raise NotVectorisedError(f"'{opcode} {word}'")


def _address(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    of, base, *steps = split(rest)
    pairs = [_typed(each) for each in steps]
    operands = _typed(base)[1], *(value for _, value in pairs)
    kinds = of, *(kind for kind, _ in pairs)
    return Instruction(name, opcode, f"{opcode} {flags}", "ptr", "ptr", operands, kinds=kinds)


def _phi(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    found = re.match(TYPE, rest)
    assert found is not None
    pairs = [split(each[1:-1]) for each in split(rest[found.end() :])]
    values, blocks = zip(*pairs, strict=True)
    labels = tuple(map(_label, blocks))
    return Instruction(name, opcode, f"phi {flags}", found[0], found[0], values, labels)


def _call(name: str, opcode: str, rest: str) -> Instruction:
    flags, rest = _flags(rest)
    found = re.match(rf"(?:noundef |noalias |nonnull )*({TYPE}) @({NAME})\((.*)\)$", rest)
    if found is None:
        raise NotVectorisedError(f"'call {rest[:60]}'")
    arguments = [_typed(each) for each in split(found[3]) if not each.startswith("metadata")]
    operands, kinds = tuple(value for _, value in arguments), tuple(kind for kind, _ in arguments)
    return Instruction(
        name, opcode, f"call {flags}", found[1], found[1], operands, kinds=kinds, callee=found[2]
    )


def _alloca(name: str, opcode: str, rest: str) -> Instruction:
    kind, *more = split(rest)
    return Instruction(name, opcode, opcode, kind, "ptr", (), align=_aligned(more))


def _branch(name: str, opcode: str, rest: str) -> Instruction:
    condition, *labels = split(rest)
    if not labels:
        return Instruction("", opcode, opcode, "", "void", (), (_label(condition),))
    operands = (_typed(condition)[1],)
    return Instruction("", opcode, opcode, "i1", "void", operands, tuple(map(_label, labels)))


def _switch(name: str, opcode: str, rest: str) -> Instruction:
    head, _, cases = rest.partition("[")
    value, default = split(head)
    kind, a = _typed(value)
    found = re.findall(rf"{TYPE} (-?\w+), label (%(?:{NAME}))", cases)
    numbers, labels = tuple(n for n, _ in found), (default, *(label for _, label in found))
    return Instruction("", opcode, opcode, kind, "void", (a, *numbers), tuple(map(_label, labels)))


def _no_more(name: str, opcode: str, rest: str) -> Instruction:
    if rest not in ("", "void"):
        raise NotVectorisedError(f"'{opcode} {rest}'")
    return Instruction("", opcode, opcode, "", "void", ())


READERS = {
    **dict.fromkeys(("add", "sub", "mul", "sdiv", "udiv", "srem", "urem"), _binary),
    **dict.fromkeys(("shl", "lshr", "ashr", "and", "or", "xor"), _binary),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem"), _binary),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("fneg", "freeze"), _unary),
    **dict.fromkeys(("fcmp", "icmp"), _compare),
    "select": _select,
    "load": _load,
    "store": _store,
    "getelementptr": _address,
    "phi": _phi,
    "call": _call,
    "alloca": _alloca,
    "br": _branch,
    "switch": _switch,
    **dict.fromkeys(("ret", "unreachable"), _no_more),
}


def size_of(kind: str) -> int:
    """Return how many bytes a type takes in memory."""
    known = {"double": 8, "ptr": 8, "float": 4}
    if kind in known:
        return known[kind]
    array = re.fullmatch(r"\[(\d+) x (.*)\]", kind)
    if array:
        return int(array[1]) * size_of(array[2])
    if re.fullmatch(r"i(8|16|32|64)", kind):
        return int(kind[1:]) // 8
    raise NotVectorisedError(f"a type of unknown size: '{kind}'")


def inside_of(kind: str) -> str:
    """Return the type of the entries of an array."""
    array = re.fullmatch(r"\[(\d+) x (.*)\]", kind)
    if array is None:
        raise NotVectorisedError(f"an address inside of '{kind}'")
    return array[2]
