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
    Block,
    Function,
    Instruction,
    Loop,
    read_function,
    split,
)
from poinsot.engine.vector_text import VectorText

#: A block of so few instructions without memory is not worth a branch around it.
SHORT = 12
#: Instructions that must not be met where no run is.
GUARDED = ("load", "store", "call", "sdiv", "udiv", "srem", "urem")


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


class _Writer(VectorText):
    """Writes the function, from its first block on to the last."""

    def __init__(self, function: Function, divergence: Divergence, lanes: int) -> None:
        super().__init__(divergence, lanes)
        self.function = function
        self.masks: dict[Edge, Mask] = {}
        self.left: dict[tuple[str, str], str] = {}  # values on edges out of loops, by phi and block
        self.there = {self.all}  # masks in which there is some run
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
        self._nodes(None, Mask(self.all))
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

    # -- masks -------------------------------------------------------------------------------------

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
            name = self.new(f"or {self.flags} {found.name}, {other.name}")
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
            inside, after = self.labels("in", "after")
            self.say(f"br i1 {self.any_of(mask.name)}, label %{inside}, label %{after}")
            before = self.label
            self.begin(inside)
            self.there.add(mask.name)
        self._phis(block)
        for each in block.rest:
            self.instruction(each, mask.name)
        edges = self._go_on(block, mask)
        if skip:
            self.there.discard(mask.name)
            self.say(f"br label %{after}")
            values = [each for each in block.body if each.name and self._is_seen(each, block.name)]
            self._merge(before, after, values, edges, {})
        self.masks |= edges

    @staticmethod
    def _is_long(block: Block) -> bool:
        """Tell whether a block is worth a branch around it, or must not be met where no run is."""
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
        self.begin(after)
        for each in values:
            kind = self.kind(each)
            self.known[each.name] = self.new(
                f"phi {kind} [ {self.known[each.name]}, %{inside} ], [ poison, %{before} ]"
            )
        for key, (kind, value) in left.items():
            self.left[key] = self.new(f"phi {kind} [ {value}, %{inside} ], [ poison, %{before} ]")
        for edge, mask in edges.items():
            if mask.name != "zeroinitializer":
                name = self.new(
                    f"phi {self.flags} [ {mask.name}, %{inside} ], [ zeroinitializer, %{before} ]"
                )
                edges[edge] = Mask(name, mask.of, mask.condition, mask.holds)

    def _phis(self, block: Block) -> None:
        """Put values together that come from several blocks, unless this is a loop's first one."""
        if block.name in self.function.loops:
            return
        found = {}
        for phi in block.phis:
            pairs = list(zip(phi.operands, phi.blocks, strict=True))
            single = self.divergence.of(phi.name).single
            kind = self.kind(phi)
            value = self._incoming(phi, *pairs[-1], single=single)
            for operand, before in pairs[:-1]:
                other = self._incoming(phi, operand, before, single=single)
                if other == value:
                    continue
                come = self.masks[before, block.name].name
                condition = f"i1 {self.any_of(come)}" if single else f"{self.flags} {come}"
                value = self.new(f"select {condition}, {kind} {other}, {kind} {value}")
            found[phi.name] = value
        self.known |= found

    def _incoming(self, phi: Instruction, operand: str, before: str, *, single: bool) -> str:
        """Return what a phi is where control came from a block."""
        left = self.left.get((phi.name, before))
        if left is not None:
            return left
        return self.one(operand) if single else self.vector(phi.result, operand)

    def _go_on(self, block: Block, mask: Mask) -> dict[Edge, Mask]:
        """Return the runs that go from a block to each of those that follow."""
        end, name = block.end, block.name
        if not end.blocks:
            return {}
        if end.opcode == "br" and len(set(end.blocks)) == 1:
            return {(name, end.blocks[0]): mask}
        if end.opcode == "br":
            condition = self.vector("i1", end.operands[0])
            flags = self.flags
            other = self.new(f"xor {flags} {condition}, splat (i1 true)")
            yes, no = self.both(mask.name, condition), self.both(mask.name, other)
            return {
                (name, end.blocks[0]): Mask(yes, mask, end.operands[0], True),
                (name, end.blocks[1]): Mask(no, mask, end.operands[0], False),
            }
        value, kind = self.vector(end.kind, end.operands[0]), self.wide(end.kind)
        found, none = dict[str, list[Mask]](), mask.name
        for number, to in zip(end.operands[1:], end.blocks[1:], strict=True):
            equal = self.new(f"icmp eq {kind} {value}, splat ({end.kind} {number})")
            found.setdefault(to, []).append(Mask(self.both(mask.name, equal)))
            unequal = self.new(f"icmp ne {kind} {value}, splat ({end.kind} {number})")
            none = self.both(none, unequal)
        found.setdefault(end.blocks[0], []).append(Mask(none))
        return {(name, to): self._either(masks) for to, masks in found.items()}

    def _loop(self, loop: Loop) -> None:
        """Write a loop: rounds as long as any run stays."""
        phis, exits = self.function.blocks[loop.header].phis, self.function.exits(loop)
        come = self._come(loop.header, Mask(self.all))
        skip = come.name not in self.there
        begin, header, end, after = self.labels("begin", "round", "end", "after")
        before = self.label
        if skip:
            self.say(f"br i1 {self.any_of(come.name)}, label %{begin}, label %{after}")
            self.begin(begin)
        starts = [self._handed(phi, loop, inside=False) for phi in phis]
        outside = self.label
        self.say(f"br label %{header}")
        self.begin(header)
        first = len(self.lines)
        here, names = self.reserve(), [self.reserve() for _ in phis]
        self.known |= {phi.name: name for phi, name in zip(phis, names, strict=True)}
        self.there.add(here)
        self._nodes(loop, Mask(here))
        self.there.discard(here)
        stay = self.masks[loop.latch, loop.header].name
        carried = [Carried(here, self.flags, come.name, stay)]
        for phi, name, start in zip(phis, names, starts, strict=True):
            following = self._handed(phi, loop, inside=True)
            carried.append(Carried(name, self.kind(phi), start, following))
        out, left = self._leave(loop, exits, carried)
        goes_on, last = self.any_of(stay), self.label
        # What comes back to the first block is known only here.
        self.lines[first:first] = [each.phi(outside, last) for each in carried]
        self.say(f"br i1 {goes_on}, label %{header}, label %{end}")
        self.begin(end)
        self.left |= {key: value for key, (_, value) in left.items()}
        if skip:
            self.say(f"br label %{after}")
            self._merge(before, after, self._seen_outside(loop), out, left)
        self.masks |= out

    def _handed(self, phi: Instruction, loop: Loop, *, inside: bool) -> str:
        """Return what the first block of a loop is given from inside, or else from outside."""
        (operand,) = (
            value
            for value, name in zip(phi.operands, phi.blocks, strict=True)
            if (name == loop.latch) == inside
        )
        single = self.divergence.of(phi.name).single
        return self.one(operand) if single else self.vector(phi.result, operand)

    def _leave(
        self, loop: Loop, exits: Sequence[Edge], carried: list[Carried]
    ) -> tuple[dict[Edge, Mask], Left]:
        """Return the runs that have left a loop, and their values then; they are carried on."""
        if self.divergence.together(loop):
            return {edge: Mask(self.masks[edge].name) for edge in exits}, {}
        flags, out, left = self.flags, dict[Edge, Mask](), Left()
        for name, other in exits:
            now = self.masks[name, other].name
            for phi in self.function.blocks[other].phis:
                operand = phi.operands[phi.blocks.index(name)]
                if self.divergence.defined.get(operand) not in loop.blocks:
                    continue
                kind, kept = self.wide(phi.result), self.reserve()
                value = self._incoming(phi, operand, name, single=False)
                chosen = self.new(f"select {flags} {now}, {kind} {value}, {kind} {kept}")
                carried.append(Carried(kept, kind, "poison", chosen))
                left[phi.name, name] = kind, chosen
            gone = self.reserve()
            out[name, other] = Mask(self.new(f"or {flags} {gone}, {now}"))
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
