"""Which values of a function differ between runs that go through it together, and how.

Most numbers differ. Counters of loops do not, nor do addresses of tables that runs share. Addresses
of a run's own numbers are a fixed distance from those of its neighbour. Where runs part at a
branch, values differ that are put together from both sides; so do those of a loop that runs leave
one after the other [KH11].
"""

from dataclasses import dataclass
from functools import cached_property

from poinsot.engine.function_text import (
    Function,
    Instruction,
    Loop,
    NotVectorisedError,
    inside_of,
    size_of,
)


@dataclass(frozen=True)
class Shape:
    """How a value differs: by so much from run to run, 0: it does not; None: anyhow.

    An address in room that each run has for itself is `private`.
    """

    stride: int | None
    private: bool = False

    @property
    def uniform(self) -> bool:
        """Whether all runs have the same value."""
        return self.stride == 0

    @property
    def single(self) -> bool:
        """Whether the value of the first run tells that of all others."""
        return self.stride is not None


UNIFORM, VARYING = Shape(0), Shape(None)


@dataclass(frozen=True, eq=False)
class Divergence:
    """How values of a function differ; `lane` is the parameter that numbers the runs."""

    function: Function
    lane: str

    def of(self, operand: str) -> Shape:
        """Return the shape of an operand, a value or a constant."""
        return self.shapes.get(operand, UNIFORM)

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of all values that are known so far, in the end of all."""
        found = self.__dict__["shapes"] = {name: UNIFORM for _, name in self.function.parameters}
        found[self.lane] = Shape(1)
        self.parted.clear()
        changed = True
        while changed:
            changed = False
            for name in self.function.order:
                block = self.function.blocks[name]
                for each in block.body[:-1]:
                    shape = self._shape(name, each)
                    if shape is not None and found.get(each.name) != shape:
                        found[each.name], changed = shape, True
                end = block.end
                if end.operands and not self.of(end.operands[0]).uniform:
                    changed |= name not in self.parted
                    self.parted.add(name)
        return found

    @cached_property
    def parted(self) -> set[str]:
        """The blocks at whose ends runs part."""
        return set()

    def together(self, loop: Loop) -> bool:
        """Tell whether all runs that are in a loop leave it at once."""
        for name, _ in self.function.exits(loop):
            inner = self.function.innermost[name]
            if name in self.parted or not self.function.dominates(name, loop.latch):
                return False
            if inner is not loop and inner is not None and not self.together(inner):
                return False
        return True

    def _shape(self, block: str, each: Instruction) -> Shape | None:
        """Return the shape of an instruction's value, None as long as nothing is known."""
        if not each.name:
            return None
        if each.opcode == "phi":
            return self._phi(block, each)
        if each.opcode == "alloca":
            return Shape(0, private=True)
        shapes = [self.of(operand) for operand in each.operands]
        if any(self._waits(operand) for operand in each.operands):
            return None
        if each.opcode == "getelementptr":
            return self._address(each, shapes)
        if each.opcode == "select":
            if shapes[0].uniform or each.operands[1] == each.operands[2]:
                return self._joined(each, shapes[1:])
            return Shape(None, self._joined(each, shapes[1:]).private)
        if each.opcode == "load":
            return UNIFORM if shapes[0].uniform and not shapes[0].private else VARYING
        if any(shape.private for shape in shapes) and each.opcode != "call":
            if each.opcode == "freeze":
                return shapes[0]
            raise NotVectorisedError(f"arithmetic with an address of a run's own: '{each.opcode}'")
        return self._arithmetic(each, shapes)

    def _waits(self, operand: str) -> bool:
        return operand.startswith("%") and operand not in self.shapes

    @staticmethod
    def _arithmetic(each: Instruction, shapes: list[Shape]) -> Shape:
        if all(shape.uniform for shape in shapes):
            return UNIFORM
        a, b = shapes[0].stride, shapes[-1].stride
        if a is None or b is None or len(shapes) > 2 or each.kind != "i64":
            return VARYING
        if each.opcode == "add" or each.head.startswith("or disjoint"):
            return Shape(a + b)
        if each.opcode == "sub":
            return Shape(a - b)
        constant = each.operands[-1].lstrip("-").isdigit()
        if each.opcode == "mul" and constant:
            return Shape(a * int(each.operands[1]))
        if each.opcode == "shl" and constant:
            return Shape(a << int(each.operands[1]))
        return Shape(a) if each.opcode == "freeze" else VARYING

    @staticmethod
    def _address(each: Instruction, shapes: list[Shape]) -> Shape:
        total, of = shapes[0].stride, each.kinds[0]
        for k, shape in enumerate(shapes[1:]):
            of = inside_of(of) if k else of
            if total is None or shape.stride is None:
                total = None
            else:
                total += shape.stride * size_of(of)
        if shapes[0].private and total != 0:
            total = None
        return Shape(total, shapes[0].private)

    @staticmethod
    def _joined(each: Instruction, shapes: list[Shape]) -> Shape:
        """Return the shape of what may be any of several values."""
        privates = {shape.private for shape in shapes}
        if len(privates) > 1:
            raise NotVectorisedError(f"'{each.name}' is an address of a run's own, or is not")
        same = len({shape.stride for shape in shapes}) == 1
        return Shape(shapes[0].stride if same else None, privates.pop())

    def _phi(self, block: str, each: Instruction) -> Shape | None:
        known = [self.of(operand) for operand in each.operands if not self._waits(operand)]
        if not known:
            return None
        shape = self._joined(each, known)
        if block in self.function.loops or shape.stride is None:
            return shape
        left = any(
            self._left(block, *pair) for pair in zip(each.operands, each.blocks, strict=True)
        )
        if left or (len(set(each.operands)) > 1 and not self._reached_together(block)):
            return Shape(None, shape.private)
        return shape

    def _left(self, block: str, operand: str, before: str) -> bool:
        """Tell whether a value comes out of a loop that runs leave one after the other."""
        loop = self.function.innermost[before]
        while loop is not None and block not in loop.blocks:
            inside = self.defined.get(operand) in loop.blocks
            if inside and not self.together(loop):
                return True
            loop = loop.parent
        return False

    @cached_property
    def defined(self) -> dict[str, str]:
        """The block of each value."""
        return {
            each.name: name
            for name, block in self.function.blocks.items()
            for each in block.body
            if each.name
        }

    def _reached_together(self, block: str) -> bool:
        """Tell whether all runs come to a block on the same way from where ways part."""
        return not self.parted & self._ways[block]

    @cached_property
    def _ways(self) -> dict[str, set[str]]:
        """The blocks on ways to each from its immediate dominator, within one round of loops."""
        return {name: self._ways_to(name) for name in self.function.order}

    def _ways_to(self, block: str) -> set[str]:
        function = self.function
        first, headers = function.above[block], set[str]()
        loop = function.innermost[block]
        while loop is not None:
            headers.add(loop.header)
            loop = loop.parent
        found, waiting = set[str](), list(function.before[block])
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if name != first and name not in headers:
                waiting += function.before[name]
        return found
