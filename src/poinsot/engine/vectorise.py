"""From a function that takes one run to one that takes several at once, in vector registers.

Every value that differs between runs becomes a vector with an entry for each. Branches at which
runs part become masks: all blocks follow each other in one line, a block is skipped where no run
is in it, a loop goes on as long as any run stays, and what comes out of it is kept for each run
from when it leaves. Every run meets the same instructions whoever is beside it, so that its numbers
are the same bit by bit [KH11, MH18].
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poinsot.engine.divergence import Divergence
from poinsot.engine.function_text import (
    CASTS,
    Block,
    Function,
    Instruction,
    Loop,
    NotVectorisedError,
    inside_of,
    read_function,
    size_of,
    split,
)

#: Functions that LLVM has for vectors, too.
ALSO_FOR_VECTORS = (
    *("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"),
    *("copysign", "fma", "fmuladd", "minnum", "maxnum", "minimum", "maximum", "minimumnum"),
    *("maximumnum", "smin", "smax", "umin", "umax", "abs", "fshl", "fshr", "ctpop"),
)
#: Those that do nothing.
NOTHING = ("llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias.scope", "llvm.dbg.")
#: A block of so few instructions without memory is not worth a branch around it.
SHORT = 12
#: Instructions that must not be met where no run is.
GUARDED = ("load", "store", "call", "sdiv", "udiv", "srem", "urem")
#: So many words of private room are cleared one by one.
CLEARED = 4096


@dataclass(frozen=True, eq=False)
class Mask:
    """Which runs are there: those of `of` where a condition holds, or does not."""

    name: str
    of: "Mask | None" = None
    condition: str = ""
    holds: bool = True


@dataclass(frozen=True)
class Carried:
    """A value that a loop hands from round to round, and what it begins with."""

    name: str
    kind: str
    start: str
    following: str

    def phi(self, outside: str, last: str) -> str:
        """Return it as an instruction of the first block, which comes from outside or the last."""
        pairs = f"[ {self.start}, %{outside} ], [ {self.following}, %{last} ]"
        return f"  {self.name} = phi {self.kind} {pairs}"


Edge = tuple[str, str]
#: Types and names of values that leave loops, by the phi that takes them and the block they leave.
Left = dict[tuple[str, str], tuple[str, str]]


def vectorised(text: str, name: str, lane: str, lanes: int) -> str:
    """Return the text of a module whose function takes so many runs instead of one.

    All values of the function have names, its loops are simple and their values leave them through
    phis (LLVM's passes `instnamer`, `loop-simplify` and `lcssa`). `lane` is the parameter that
    numbers the run among those that go together; the function that is returned has none. Raises
    `NotVectorisedError`.
    """
    function = read_function(text, name)
    return _Writer(function, Divergence(function, f"%{lane}"), lanes).module(text)


class _Writer:
    """Writes the function, from its first block on to the last."""

    def __init__(self, function: Function, divergence: Divergence, lanes: int) -> None:
        self.function, self.divergence, self.lanes = function, divergence, lanes
        self.lines: list[str] = []
        self.number, self.label = 0, "entry"
        self.known: dict[str, str] = {}  # what stands for values; of the first run, or of all
        self.masks: dict[Edge, Mask] = {}
        self.left: dict[tuple[str, str], str] = {}  # values on edges out of loops, by phi and block
        self.declared: dict[str, str] = {}
        self.all = Mask("splat (i1 true)")
        self.there = {self.all.name}  # masks in which there is some run
        self.used = self._used()

    def _used(self) -> dict[str, set[str]]:
        """Return the blocks that use each value; a phi's are those that it comes from."""
        found: dict[str, set[str]] = {}
        for name, block in self.function.blocks.items():
            for each in block.body:
                for k, operand in enumerate(each.operands):
                    where = each.blocks[k] + "'s end" if each.opcode == "phi" else name
                    found.setdefault(operand, set()).add(where)
        return found

    # -- text --------------------------------------------------------------------------------------

    def module(self, text: str) -> str:
        """Return the module with this function instead of the one that it has."""
        head = re.search(
            rf"^define .*@{re.escape(self.function.name)}\(.*\n", text, flags=re.MULTILINE
        )
        assert head is not None
        end = text.index("\n}\n", head.end()) + 3
        lane = self.divergence.lane
        self.known[lane] = "0"
        for _, each in self.function.parameters:
            self.known.setdefault(each, each)
        self._nodes(None, self.all)
        pairs = [f"{kind} {name}" for kind, name in self._parameters(head[0]) if name != lane]
        width = 64 * self.lanes
        attributes = f'"min-legal-vector-width"="{width}" "prefer-vector-width"="{width}"'
        written = [
            f"define void @{self.function.name}({', '.join(pairs)}) nounwind {attributes} {{",
            "entry:",
            *self.lines,
            "  ret void",
            "}",
            *(each for name, each in self.declared.items() if f"@{name}(" not in text),
        ]
        rest = text[: head.start()] + text[end:]
        return "\n".join([rest, *written, ""])

    @staticmethod
    def _parameters(head: str) -> list[tuple[str, str]]:
        """Return parameters with what is known of them."""
        inside = head[head.index("(") + 1 : head.rindex(")")]
        return [(each.rpartition(" ")[0], each.rpartition(" ")[2]) for each in split(inside)]

    def _say(self, what: str) -> None:
        self.lines.append(f"  {what}")

    def _new(self, what: str) -> str:
        """Write an instruction; return the name of its value."""
        self.number += 1
        self._say(f"%v{self.number} = {what}")
        return f"%v{self.number}"

    def _labels(self, *names: str) -> list[str]:
        self.number += 1
        return [f"{name}{self.number}" for name in names]

    def _begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def _declare(self, result: str, name: str, *kinds: str) -> str:
        self.declared[name] = f"declare {result} @{name}({', '.join(kinds)})"
        return name

    def _wide(self, kind: str) -> str:
        return f"<{self.lanes} x {kind}>"

    @property
    def _flags(self) -> str:
        return self._wide("i1")

    # -- values ------------------------------------------------------------------------------------

    def _one(self, operand: str) -> str:
        """Return an operand of the first run, which tells that of all others."""
        return self.known.get(operand, operand)

    def _vector(self, kind: str, operand: str) -> str:
        """Return an operand of all runs."""
        shape, value = self.divergence.of(operand), self._one(operand)
        if not shape.single:
            return value
        if operand in ("undef", "poison", "zeroinitializer"):
            return operand
        found = self._splat(kind, value)
        if shape.stride:
            steps = ", ".join(f"i64 {k * shape.stride}" for k in range(self.lanes))
            if kind == "ptr":
                wide = self._wide("i64")
                return self._new(f"getelementptr i8, {self._wide(kind)} {found}, {wide} <{steps}>")
            return self._new(f"add {self._wide(kind)} {found}, <{steps}>")
        return found

    def _splat(self, kind: str, value: str) -> str:
        """Return a vector of equal entries."""
        if not value.startswith("%"):
            return "zeroinitializer" if value == "null" else f"splat ({kind} {value})"
        wide = self._wide(kind)
        one = self._new(f"insertelement {wide} poison, {kind} {value}, i64 0")
        order = f"<{self.lanes} x i32> zeroinitializer"
        return self._new(f"shufflevector {wide} {one}, {wide} poison, {order}")

    def _any(self, mask: str) -> str:
        """Return whether there is any run in a mask."""
        bits = self._new(f"bitcast {self._flags} {mask} to i{self.lanes}")
        return self._new(f"icmp ne i{self.lanes} {bits}, 0")

    def _both(self, mask: str, condition: str) -> str:
        """Return a mask and a condition, which is not looked at where the mask is not."""
        if mask == self.all.name:
            return condition
        flags = self._flags
        return self._new(f"select {flags} {mask}, {flags} {condition}, {flags} zeroinitializer")

    def _either(self, masks: Sequence[Mask]) -> Mask:
        """Return the runs of several masks, none of which has those of another."""
        left = list(masks)
        while (pair := self._complement(left)) is not None:
            one, other = pair
            assert one.of is not None
            left = [each for each in left if each not in (one, other)] + [one.of]
        if not left:
            return Mask("zeroinitializer")
        found = left[0]
        for other in left[1:]:
            name = self._new(f"or {self._flags} {found.name}, {other.name}")
            if {found.name, other.name} & self.there:
                self.there.add(name)
            found = Mask(name)
        return found

    @staticmethod
    def _complement(masks: Sequence[Mask]) -> tuple[Mask, Mask] | None:
        """Return two masks that are all of another one."""
        known = {(each.of, each.condition, each.holds): each for each in masks if each.of}
        for (of, condition, holds), each in known.items():
            other = known.get((of, condition, not holds))
            if other is not None:
                return each, other
        return None

    # -- control -----------------------------------------------------------------------------------

    def _nodes(self, loop: Loop | None, mask: Mask) -> None:
        """Write the blocks and loops inside of a loop, whose runs are those of a mask."""
        function = self.function
        for name in self._in_line(loop):
            inner = function.loops.get(name)
            if inner is not None and inner is not loop:
                self._loop(inner)
            else:
                here = mask if loop and name == loop.header else self._come(name, mask)
                self._block(function.blocks[name], here)

    def _in_line(self, loop: Loop | None) -> list[str]:
        """Return blocks and headers of loops directly inside of a loop, in order."""
        function = self.function
        found = list[str]()
        for name in function.order:
            own = function.innermost[name]
            around = (
                own.parent if own is not None and own.header == name and own is not loop else own
            )
            if around is loop:
                found.append(name)
        # Loops stand where their headers do, and what is reached from inside comes after them.
        place = {name: k for k, name in enumerate(found)}
        after: dict[str, set[str]] = {name: set() for name in found}
        for name in found:
            inner = function.loops.get(name)
            if inner is not None and inner is not loop:
                edges: Iterable[Edge] = function.exits(inner)
            else:
                edges = [(name, other) for other in function.blocks[name].end.blocks]
            header = loop.header if loop else None
            after[name] = {other for _, other in edges if other in place and other != header}
        waits = dict.fromkeys(found, 0)
        for others in after.values():
            for other in others:
                waits[other] += 1
        ready, ordered = [name for name in found if not waits[name]], list[str]()
        while ready:
            name = min(ready, key=place.__getitem__)
            ready.remove(name)
            ordered.append(name)
            for other in after[name]:
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        return ordered

    def _come(self, name: str, first: Mask) -> Mask:
        """Return the runs that come to a block."""
        if name == self.function.entry:
            return first
        loop = self.function.loops.get(name)
        before = [each for each in self.function.before[name] if not loop or each != loop.latch]
        return self._either([self.masks[each, name] for each in before])

    def _block(self, block: Block, mask: Mask) -> None:
        """Write a block, with a branch around it if there may be no run in it."""
        skip = mask.name not in self.there and self._is_long(block)
        before, edges = "", dict[Edge, Mask]()
        if skip:
            inside, after = self._labels("in", "after")
            self._say(f"br i1 {self._any(mask.name)}, label %{inside}, label %{after}")
            before = self.label
            self._begin(inside)
            self.there.add(mask.name)
        self._phis(block, mask)
        for each in block.rest:
            self._instruction(each, mask)
        edges = self._go_on(block, mask)
        if skip:
            self.there.discard(mask.name)
            self._say(f"br label %{after}")
            values = [each for each in block.body if each.name and self._is_seen(each, block.name)]
            self._merge(before, after, values, edges, {})
        self.masks |= edges

    def _is_long(self, block: Block) -> bool:
        return len(block.rest) > SHORT or any(each.opcode in GUARDED for each in block.rest)

    def _is_seen(self, each: Instruction, block: str) -> bool:
        """Tell whether a value is used outside of its block."""
        return bool(self.used.get(each.name, set()) - {block})

    def _merge(
        self,
        before: str,
        after: str,
        values: Iterable[Instruction],
        edges: dict[Edge, Mask],
        left: Left,
    ) -> None:
        """Begin what follows something that may have been skipped: values are then nothing."""
        inside = self.label
        self._begin(after)
        for each in values:
            kind = self._kind(each)
            self.known[each.name] = self._new(
                f"phi {kind} [ {self.known[each.name]}, %{inside} ], [ poison, %{before} ]"
            )
        for key, (kind, value) in left.items():
            self.left[key] = self._new(f"phi {kind} [ {value}, %{inside} ], [ poison, %{before} ]")
        for edge, mask in edges.items():
            if mask.name != "zeroinitializer":
                name = self._new(
                    f"phi {self._flags} [ {mask.name}, %{inside} ], [ zeroinitializer, %{before} ]"
                )
                edges[edge] = Mask(name, mask.of, mask.condition, mask.holds)

    def _phis(self, block: Block, mask: Mask) -> None:
        """Put values together that come from several blocks, unless this is a loop's first one."""
        if block.name in self.function.loops:
            return
        found = {}
        for phi in block.phis:
            pairs = list(zip(phi.operands, phi.blocks, strict=True))
            single = self.divergence.of(phi.name).single
            kind = self._kind(phi)
            value = self._incoming(phi, *pairs[-1], single=single)
            for operand, before in pairs[:-1]:
                other = self._incoming(phi, operand, before, single=single)
                if other == value:
                    continue
                come = self.masks[before, block.name].name
                condition = f"i1 {self._any(come)}" if single else f"{self._flags} {come}"
                value = self._new(f"select {condition}, {kind} {other}, {kind} {value}")
            found[phi.name] = value
        self.known |= found

    def _incoming(self, phi: Instruction, operand: str, before: str, *, single: bool) -> str:
        """Return what a phi is where control came from a block."""
        left = self.left.get((phi.name, before))
        if left is not None:
            return left
        return self._one(operand) if single else self._vector(phi.result, operand)

    def _go_on(self, block: Block, mask: Mask) -> dict[Edge, Mask]:
        """Return the runs that go from a block to each of those that follow."""
        end, name = block.end, block.name
        if not end.blocks:
            return {}
        if end.opcode == "br" and len(set(end.blocks)) == 1:
            return {(name, end.blocks[0]): mask}
        if end.opcode == "br":
            condition = self._vector("i1", end.operands[0])
            flags = self._flags
            other = self._new(f"xor {flags} {condition}, splat (i1 true)")
            yes, no = self._both(mask.name, condition), self._both(mask.name, other)
            return {
                (name, end.blocks[0]): Mask(yes, mask, end.operands[0], True),
                (name, end.blocks[1]): Mask(no, mask, end.operands[0], False),
            }
        value, kind = self._vector(end.kind, end.operands[0]), self._wide(end.kind)
        found, none = dict[str, list[Mask]](), mask.name
        for number, to in zip(end.operands[1:], end.blocks[1:], strict=True):
            equal = self._new(f"icmp eq {kind} {value}, splat ({end.kind} {number})")
            found.setdefault(to, []).append(Mask(self._both(mask.name, equal)))
            unequal = self._new(f"icmp ne {kind} {value}, splat ({end.kind} {number})")
            none = self._both(none, unequal)
        found.setdefault(end.blocks[0], []).append(Mask(none))
        return {(name, to): self._either(masks) for to, masks in found.items()}

    def _loop(self, loop: Loop) -> None:
        """Write a loop: rounds as long as any run stays."""
        phis, exits = self.function.blocks[loop.header].phis, self.function.exits(loop)
        come = self._come(loop.header, self.all)
        skip = come.name not in self.there
        begin, header, end, after = self._labels("begin", "round", "end", "after")
        before = self.label
        if skip:
            self._say(f"br i1 {self._any(come.name)}, label %{begin}, label %{after}")
            self._begin(begin)
        starts = [self._handed(phi, loop, inside=False) for phi in phis]
        outside = self.label
        self._say(f"br label %{header}")
        self._begin(header)
        first = len(self.lines)
        here, names = self._reserve(), [self._reserve() for _ in phis]
        self.known |= {phi.name: name for phi, name in zip(phis, names, strict=True)}
        self.there.add(here)
        self._nodes(loop, Mask(here))
        self.there.discard(here)
        stay = self.masks[loop.latch, loop.header].name
        carried = [Carried(here, self._flags, come.name, stay)]
        for phi, name, start in zip(phis, names, starts, strict=True):
            following = self._handed(phi, loop, inside=True)
            carried.append(Carried(name, self._kind(phi), start, following))
        out, left = self._leave(loop, exits, carried)
        goes_on, last = self._any(stay), self.label
        # What comes back to the first block is known only here.
        self.lines[first:first] = [each.phi(outside, last) for each in carried]
        self._say(f"br i1 {goes_on}, label %{header}, label %{end}")
        self._begin(end)
        self.left |= {key: value for key, (_, value) in left.items()}
        if skip:
            self._say(f"br label %{after}")
            self._merge(before, after, self._seen_outside(loop), out, left)
        self.masks |= out

    def _reserve(self) -> str:
        """Return the name of a value that is written later."""
        self.number += 1
        return f"%v{self.number}"

    def _kind(self, each: Instruction) -> str:
        """Return the type of a value here: of one run, if that tells it of all."""
        single = self.divergence.of(each.name).single
        return each.result if single else self._wide(each.result)

    def _handed(self, phi: Instruction, loop: Loop, *, inside: bool) -> str:
        """Return what the first block of a loop is given from inside, or else from outside."""
        (operand,) = (
            value
            for value, name in zip(phi.operands, phi.blocks, strict=True)
            if (name == loop.latch) == inside
        )
        single = self.divergence.of(phi.name).single
        return self._one(operand) if single else self._vector(phi.result, operand)

    def _leave(
        self, loop: Loop, exits: Sequence[Edge], carried: list[Carried]
    ) -> tuple[dict[Edge, Mask], Left]:
        """Return the runs that have left a loop, and their values then; they are carried on."""
        if self.divergence.together(loop):
            return {edge: Mask(self.masks[edge].name) for edge in exits}, {}
        flags, out, left = self._flags, dict[Edge, Mask](), Left()
        for name, other in exits:
            now = self.masks[name, other].name
            for phi in self.function.blocks[other].phis:
                operand = phi.operands[phi.blocks.index(name)]
                if self.divergence.defined.get(operand) not in loop.blocks:
                    continue
                kind, kept = self._wide(phi.result), self._reserve()
                value = self._incoming(phi, operand, name, single=False)
                chosen = self._new(f"select {flags} {now}, {kind} {value}, {kind} {kept}")
                carried.append(Carried(kept, kind, "poison", chosen))
                left[phi.name, name] = kind, chosen
            gone = self._reserve()
            out[name, other] = Mask(self._new(f"or {flags} {gone}, {now}"))
            carried.append(Carried(gone, flags, "zeroinitializer", out[name, other].name))
        return out, left

    def _seen_outside(self, loop: Loop) -> list[Instruction]:
        """Return values of a loop that others use, where all runs leave it together."""
        if not self.divergence.together(loop):
            return []
        inside = {f"{name}'s end" for name in loop.blocks}
        leaving = {f"{name}'s end" for name, _ in self.function.exits(loop)}
        own = loop.blocks | (inside - leaving)
        return [
            each
            for name in loop.blocks
            for each in self.function.blocks[name].body
            if each.name and self.used.get(each.name, set()) - own
        ]

    # -- instructions ------------------------------------------------------------------------------

    def _instruction(self, each: Instruction, mask: Mask) -> None:
        """Write an instruction of one run for all of them."""
        shape = self.divergence.of(each.name)
        if each.opcode == "store":
            self._store(each, mask)
        elif each.opcode == "call":
            self._call(each, mask)
        elif each.opcode == "load":
            self.known[each.name] = self._load(each, mask)
        elif each.opcode == "alloca":
            self.known[each.name] = self._room(each)
        elif each.opcode == "getelementptr":
            self.known[each.name] = self._address(each)
        elif shape.single:
            self.known[each.name] = self._new(self._written(each))
        else:
            self.known[each.name] = self._new(self._written_wide(each, mask))

    def _written(self, each: Instruction) -> str:
        """Return an instruction on single numbers."""
        values = [self._one(operand) for operand in each.operands]
        if each.opcode == "select":
            condition, a, b = values
            return f"{each.head}i1 {condition}, {each.kind} {a}, {each.kind} {b}"
        ending = f" to {each.result}" if each.opcode in CASTS else ""
        return f"{each.head}{each.kind} {', '.join(values)}{ending}"

    def _written_wide(self, each: Instruction, mask: Mask) -> str:
        """Return an instruction on vectors."""
        wide = self._wide(each.kind)
        if each.opcode == "select":
            chosen = each.operands[0]
            if self.divergence.of(chosen).uniform:
                condition = f"i1 {self._one(chosen)}"
            else:
                condition = f"{self._flags} {self._one(chosen)}"
            a, b = (self._vector(each.kind, operand) for operand in each.operands[1:])
            return f"{each.head}{condition}, {wide} {a}, {wide} {b}"
        values = [self._vector(each.kind, operand) for operand in each.operands]
        if each.opcode in ("sdiv", "udiv", "srem", "urem") and values[1].startswith("%"):
            # Where no run is, there may be a zero.
            values[1] = self._new(
                f"select {self._flags} {mask.name}, {wide} {values[1]}, "
                f"{wide} splat ({each.kind} 1)"
            )
        ending = f" to {self._wide(each.result)}" if each.opcode in CASTS else ""
        return f"{each.head}{wide} {', '.join(values)}{ending}"

    def _room(self, each: Instruction) -> str:
        """Return room for all runs, an entry of one beside those of the others."""
        of = each.kind
        while of.startswith("["):
            of = inside_of(of)
        if size_of(of) != 8:
            raise NotVectorisedError(f"room of a run's own for '{of}'")
        words = size_of(each.kind) // 8 * self.lanes
        return self._new(f"alloca [{words} x i64], align 64")

    def _address(self, each: Instruction) -> str:
        """Return an address; entries of private room are as many times as far apart."""
        base, *steps = each.operands
        shape, private = self.divergence.of(each.name), self.divergence.of(base).private
        if shape.single and not private:
            pairs = zip(each.kinds[1:], map(self._one, steps), strict=True)
            written = "".join(f", {kind} {value}" for kind, value in pairs)
            return self._new(f"{each.head}{each.kinds[0]}, ptr {self._one(base)}{written}")
        single = shape.single
        kind = "i64" if single else self._wide("i64")
        total, of = "", each.kinds[0]
        for k, (size, step) in enumerate(zip(each.kinds[1:], steps, strict=True)):
            of = inside_of(of) if k else of
            bytes_of = size_of(of) * (self.lanes if private else 1)
            if step == "0":
                continue
            value = self._one(step) if single else self._vector(size, step)
            if size != "i64":
                wide = size if single else self._wide(size)
                value = self._new(f"sext {wide} {value} to {kind}")
            factor = str(bytes_of) if single else f"splat (i64 {bytes_of})"
            value = self._new(f"mul {kind} {value}, {factor}")
            total = value if not total else self._new(f"add {kind} {total}, {value}")
        place = self._one(base) if single else self._vector("ptr", base)
        pointer = "ptr" if single else self._wide("ptr")
        if not total:
            return place
        return self._new(f"getelementptr i8, {pointer} {place}, {kind} {total}")

    def _places(self, each: Instruction, place: str) -> str:
        """Return the addresses at which runs read or write something."""
        found = self._vector("ptr", place)
        if self.divergence.of(place).private:
            steps = ", ".join(f"i64 {8 * k}" for k in range(self.lanes))
            wide = f"{self._wide('ptr')} {found}, {self._wide('i64')} <{steps}>"
            return self._new(f"getelementptr i8, {wide}")
        return found

    def _is_row(self, place: str, kind: str) -> bool:
        """Tell whether the numbers of runs are beside each other at an address."""
        shape = self.divergence.of(place)
        if shape.private and size_of(kind) != 8:
            raise NotVectorisedError(f"'{kind}' in room of a run's own")
        return shape.stride == (0 if shape.private else size_of(kind))

    def _load(self, each: Instruction, mask: Mask) -> str:
        place, kind = each.operands[0], each.kind
        shape = self.divergence.of(place)
        if shape.uniform and not shape.private:
            return self._new(f"load {kind}, ptr {self._one(place)}, align {each.align}")
        wide = self._wide(kind)
        if self._is_row(place, kind):
            return self._new(f"load {wide}, ptr {self._one(place)}, align {each.align}")
        name = f"llvm.masked.gather.{self._suffix(kind)}.v{self.lanes}p0"
        self._declare(wide, name, self._wide("ptr"), "i32", self._flags, wide)
        places = self._places(each, place)
        return self._new(
            f"call {wide} @{name}({self._wide('ptr')} {places}, i32 {each.align}, "
            f"{self._flags} {mask.name}, {wide} poison)"
        )

    def _store(self, each: Instruction, mask: Mask) -> None:
        (value, place), kind = each.operands, each.kind
        shape = self.divergence.of(place)
        if shape.uniform and not shape.private:
            raise NotVectorisedError("runs write to what they share")
        if self.divergence.of(value).private:
            raise NotVectorisedError("an address of a run's own in memory")
        given, wide = self._vector(kind, value), self._wide(kind)
        if self._is_row(place, kind):
            self._put(kind, given, self._one(place), each.align, mask)
            return
        name = f"llvm.masked.scatter.{self._suffix(kind)}.v{self.lanes}p0"
        self._declare("void", name, wide, self._wide("ptr"), "i32", self._flags)
        places = self._places(each, place)
        self._say(
            f"call void @{name}({wide} {given}, {self._wide('ptr')} {places}, "
            f"i32 {each.align}, {self._flags} {mask.name})"
        )

    def _put(self, kind: str, value: str, place: str, align: int, mask: Mask) -> None:
        """Write a row of numbers; those of runs that are elsewhere stay."""
        wide = self._wide(kind)
        if mask is not self.all:
            before = self._new(f"load {wide}, ptr {place}, align {align}")
            value = self._new(f"select {self._flags} {mask.name}, {wide} {value}, {wide} {before}")
        self._say(f"store {wide} {value}, ptr {place}, align {align}")

    def _suffix(self, kind: str) -> str:
        short = {"double": "f64", "float": "f32", "ptr": "p0"}.get(kind, kind)
        return f"v{self.lanes}{short}"

    def _call(self, each: Instruction, mask: Mask) -> None:
        """Write a call of one of LLVM's own functions."""
        if each.callee.startswith(NOTHING):
            return
        if each.callee.startswith("llvm.memset."):
            self._clear(each, mask)
            return
        known, _, _ = each.callee.removeprefix("llvm.").partition(".")
        if known not in ALSO_FOR_VECTORS or not each.callee.startswith("llvm."):
            raise NotVectorisedError(f"a call of '{each.callee}'")
        pairs = list(zip(each.kinds, each.operands, strict=True))
        if self.divergence.of(each.name).single:
            given = ", ".join(f"{kind} {self._one(operand)}" for kind, operand in pairs)
            self.known[each.name] = self._new(f"{each.head}{each.result} @{each.callee}({given})")
            return
        wide, kinds, values = self._wide(each.result), list[str](), list[str]()
        for kind, operand in pairs:
            if kind == "i1":  # tells how, not what
                kinds.append(kind)
                values.append(f"{kind} {operand}")
            else:
                kinds.append(self._wide(kind))
                values.append(f"{self._wide(kind)} {self._vector(kind, operand)}")
        name = self._declare(wide, f"llvm.{known}.{self._suffix(each.result)}", *kinds)
        self.known[each.name] = self._new(f"{each.head}{wide} @{name}({', '.join(values)})")

    def _clear(self, each: Instruction, mask: Mask) -> None:
        """Write zeros to private room."""
        place, value, length, _ = each.operands
        shape = self.divergence.of(place)
        words = int(length) // 8 if length.isdigit() else 0
        if not shape.private or not shape.single or value != "0" or not words or int(length) % 8:
            raise NotVectorisedError("a call of 'memset' for what is not a run's own")
        if mask is self.all:
            name = self._declare("void", "llvm.memset.p0.i64", "ptr", "i8", "i64", "i1")
            total = 8 * words * self.lanes
            self._say(f"call void @{name}(ptr {self._one(place)}, i8 0, i64 {total}, i1 false)")
            return
        if words > CLEARED:
            raise NotVectorisedError(f"a call of 'memset' for {words} words")
        for k in range(words):
            at = self._new(f"getelementptr i8, ptr {self._one(place)}, i64 {8 * k * self.lanes}")
            self._put("i64", "zeroinitializer", at, 8, mask)
