"""Instructions of one run, written for several: numbers that differ become vectors.

Addresses of a run's own numbers are beside those of its neighbours, so that most are read and
written as vectors. What a run writes where it is not, stays as it was.
"""

from poinsot.engine.divergence import Divergence
from poinsot.engine.function_text import (
    CASTS,
    Instruction,
    NotVectorisedError,
    inside_of,
    size_of,
)

#: Functions that LLVM has for vectors, too.
ALSO_FOR_VECTORS = (
    *("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"),
    *("copysign", "fma", "fmuladd", "minnum", "maxnum", "minimum", "maximum", "minimumnum"),
    *("maximumnum", "smin", "smax", "umin", "umax", "abs", "fshl", "fshr", "ctpop"),
)
#: Those that do nothing.
NOTHING = ("llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias.scope", "llvm.dbg.")
#: So many words of private room are cleared one by one.
CLEARED = 4096


class VectorText:
    """Writes instructions one after the other; `all` is the mask of all runs."""

    def __init__(self, divergence: Divergence, lanes: int) -> None:
        self.divergence, self.lanes = divergence, lanes
        self.lines: list[str] = []
        self.number, self.label, self.all = 0, "entry", "splat (i1 true)"
        self.known: dict[str, str] = {}  # what stands for values; of the first run, or of all
        self.declared: dict[str, str] = {}

    def say(self, what: str) -> None:
        """Write an instruction without a value."""
        self.lines.append(f"  {what}")

    def new(self, what: str) -> str:
        """Write an instruction; return the name of its value."""
        self.number += 1
        self.say(f"%v{self.number} = {what}")
        return f"%v{self.number}"

    def reserve(self) -> str:
        """Return the name of a value that is written later."""
        self.number += 1
        return f"%v{self.number}"

    def kind(self, each: Instruction) -> str:
        """Return the type of a value here: of one run, if that tells it of all."""
        single = self.divergence.of(each.name).single
        return each.result if single else self.wide(each.result)

    def labels(self, *names: str) -> list[str]:
        """Return new names of blocks."""
        self.number += 1
        return [f"{name}{self.number}" for name in names]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.label = label

    def _declare(self, result: str, name: str, *kinds: str) -> str:
        self.declared[name] = f"declare {result} @{name}({', '.join(kinds)})"
        return name

    def wide(self, kind: str) -> str:
        """Return the type of a vector."""
        return f"<{self.lanes} x {kind}>"

    @property
    def flags(self) -> str:
        """The type of a mask."""
        return self.wide("i1")

    # -- values ------------------------------------------------------------------------------------

    def one(self, operand: str) -> str:
        """Return an operand of the first run, which tells that of all others."""
        return self.known.get(operand, operand)

    def vector(self, kind: str, operand: str) -> str:
        """Return an operand of all runs."""
        shape, value = self.divergence.of(operand), self.one(operand)
        if not shape.single:
            return value
        if operand in ("undef", "poison", "zeroinitializer"):
            return operand
        found = self._splat(kind, value)
        if shape.stride:
            steps = ", ".join(f"i64 {k * shape.stride}" for k in range(self.lanes))
            if kind == "ptr":
                wide = self.wide("i64")
                return self.new(f"getelementptr i8, {self.wide(kind)} {found}, {wide} <{steps}>")
            return self.new(f"add {self.wide(kind)} {found}, <{steps}>")
        return found

    def _splat(self, kind: str, value: str) -> str:
        """Return a vector of equal entries."""
        if not value.startswith("%"):
            return "zeroinitializer" if value == "null" else f"splat ({kind} {value})"
        wide = self.wide(kind)
        one = self.new(f"insertelement {wide} poison, {kind} {value}, i64 0")
        order = f"<{self.lanes} x i32> zeroinitializer"
        return self.new(f"shufflevector {wide} {one}, {wide} poison, {order}")

    def any_of(self, mask: str) -> str:
        """Return whether there is any run in a mask."""
        bits = self.new(f"bitcast {self.flags} {mask} to i{self.lanes}")
        return self.new(f"icmp ne i{self.lanes} {bits}, 0")

    def both(self, mask: str, condition: str) -> str:
        """Return a mask and a condition, which is not looked at where the mask is not."""
        if mask == self.all:
            return condition
        flags = self.flags
        return self.new(f"select {flags} {mask}, {flags} {condition}, {flags} zeroinitializer")

    # -- instructions ------------------------------------------------------------------------------

    def instruction(self, each: Instruction, mask: str) -> None:
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
            self.known[each.name] = self.new(self._written(each))
        else:
            self.known[each.name] = self.new(self._written_wide(each, mask))

    def _written(self, each: Instruction) -> str:
        """Return an instruction on single numbers."""
        values = [self.one(operand) for operand in each.operands]
        if each.opcode == "select":
            condition, a, b = values
            return f"{each.head}i1 {condition}, {each.kind} {a}, {each.kind} {b}"
        ending = f" to {each.result}" if each.opcode in CASTS else ""
        return f"{each.head}{each.kind} {', '.join(values)}{ending}"

    def _written_wide(self, each: Instruction, mask: str) -> str:
        """Return an instruction on vectors."""
        wide = self.wide(each.kind)
        if each.opcode == "select":
            chosen = each.operands[0]
            if self.divergence.of(chosen).uniform:
                condition = f"i1 {self.one(chosen)}"
            else:
                condition = f"{self.flags} {self.one(chosen)}"
            a, b = (self.vector(each.kind, operand) for operand in each.operands[1:])
            return f"{each.head}{condition}, {wide} {a}, {wide} {b}"
        values = [self.vector(each.kind, operand) for operand in each.operands]
        if each.opcode in ("sdiv", "udiv", "srem", "urem") and values[1].startswith("%"):
            # Where no run is, there may be a zero.
            values[1] = self.new(
                f"select {self.flags} {mask}, {wide} {values[1]}, {wide} splat ({each.kind} 1)"
            )
        ending = f" to {self.wide(each.result)}" if each.opcode in CASTS else ""
        return f"{each.head}{wide} {', '.join(values)}{ending}"

    def _room(self, each: Instruction) -> str:
        """Return room for all runs, an entry of one beside those of the others."""
        of = each.kind
        while of.startswith("["):
            of = inside_of(of)
        if size_of(of) != 8:
            raise NotVectorisedError(f"room of a run's own for '{of}'")
        words = size_of(each.kind) // 8 * self.lanes
        return self.new(f"alloca [{words} x i64], align 64")

    def _address(self, each: Instruction) -> str:
        """Return an address; entries of private room are as many times as far apart."""
        base, *steps = each.operands
        shape, private = self.divergence.of(each.name), self.divergence.of(base).private
        if shape.single and not private:
            pairs = zip(each.kinds[1:], map(self.one, steps), strict=True)
            written = "".join(f", {kind} {value}" for kind, value in pairs)
            return self.new(f"{each.head}{each.kinds[0]}, ptr {self.one(base)}{written}")
        single = shape.single
        kind = "i64" if single else self.wide("i64")
        total, of = "", each.kinds[0]
        for k, (size, step) in enumerate(zip(each.kinds[1:], steps, strict=True)):
            of = inside_of(of) if k else of
            bytes_of = size_of(of) * (self.lanes if private else 1)
            if step == "0":
                continue
            value = self.one(step) if single else self.vector(size, step)
            if size != "i64":
                wide = size if single else self.wide(size)
                value = self.new(f"sext {wide} {value} to {kind}")
            factor = str(bytes_of) if single else f"splat (i64 {bytes_of})"
            value = self.new(f"mul {kind} {value}, {factor}")
            total = value if not total else self.new(f"add {kind} {total}, {value}")
        place = self.one(base) if single else self.vector("ptr", base)
        pointer = "ptr" if single else self.wide("ptr")
        if not total:
            return place
        return self.new(f"getelementptr i8, {pointer} {place}, {kind} {total}")

    def _places(self, each: Instruction, place: str) -> str:
        """Return the addresses at which runs read or write something."""
        found = self.vector("ptr", place)
        if self.divergence.of(place).private:
            steps = ", ".join(f"i64 {8 * k}" for k in range(self.lanes))
            wide = f"{self.wide('ptr')} {found}, {self.wide('i64')} <{steps}>"
            return self.new(f"getelementptr i8, {wide}")
        return found

    def _is_row(self, place: str, kind: str) -> bool:
        """Tell whether the numbers of runs are beside each other at an address."""
        shape = self.divergence.of(place)
        if shape.private and size_of(kind) != 8:
            raise NotVectorisedError(f"'{kind}' in room of a run's own")
        return shape.stride == (0 if shape.private else size_of(kind))

    def _load(self, each: Instruction, mask: str) -> str:
        place, kind = each.operands[0], each.kind
        shape = self.divergence.of(place)
        if shape.uniform and not shape.private:
            return self.new(f"load {kind}, ptr {self.one(place)}, align {each.align}")
        wide = self.wide(kind)
        if self._is_row(place, kind):
            return self.new(f"load {wide}, ptr {self.one(place)}, align {each.align}")
        name = f"llvm.masked.gather.{self._suffix(kind)}.v{self.lanes}p0"
        self._declare(wide, name, self.wide("ptr"), "i32", self.flags, wide)
        places = self._places(each, place)
        return self.new(
            f"call {wide} @{name}({self.wide('ptr')} {places}, i32 {each.align}, "
            f"{self.flags} {mask}, {wide} poison)"
        )

    def _store(self, each: Instruction, mask: str) -> None:
        (value, place), kind = each.operands, each.kind
        shape = self.divergence.of(place)
        if shape.uniform and not shape.private:
            raise NotVectorisedError("runs write to what they share")
        if self.divergence.of(value).private:
            raise NotVectorisedError("an address of a run's own in memory")
        given, wide = self.vector(kind, value), self.wide(kind)
        if self._is_row(place, kind):
            self._put(kind, given, self.one(place), each.align, mask)
            return
        name = f"llvm.masked.scatter.{self._suffix(kind)}.v{self.lanes}p0"
        self._declare("void", name, wide, self.wide("ptr"), "i32", self.flags)
        places = self._places(each, place)
        self.say(
            f"call void @{name}({wide} {given}, {self.wide('ptr')} {places}, "
            f"i32 {each.align}, {self.flags} {mask})"
        )

    def _put(self, kind: str, value: str, place: str, align: int, mask: str) -> None:
        """Write a row of numbers; those of runs that are elsewhere stay."""
        wide = self.wide(kind)
        if mask == self.all:
            self.say(f"store {wide} {value}, ptr {place}, align {align}")
            return
        name = f"llvm.masked.store.{self._suffix(kind)}.p0"
        self._declare("void", name, wide, "ptr", "i32", self.flags)
        where = f"ptr {place}, i32 {align}, {self.flags} {mask}"
        self.say(f"call void @{name}({wide} {value}, {where})")

    def _suffix(self, kind: str) -> str:
        short = {"double": "f64", "float": "f32", "ptr": "p0"}.get(kind, kind)
        return f"v{self.lanes}{short}"

    def _call(self, each: Instruction, mask: str) -> None:
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
            given = ", ".join(f"{kind} {self.one(operand)}" for kind, operand in pairs)
            self.known[each.name] = self.new(f"{each.head}{each.result} @{each.callee}({given})")
            return
        wide, kinds, values = self.wide(each.result), list[str](), list[str]()
        for kind, operand in pairs:
            if kind == "i1":  # tells how, not what
                kinds.append(kind)
                values.append(f"{kind} {operand}")
            else:
                kinds.append(self.wide(kind))
                values.append(f"{self.wide(kind)} {self.vector(kind, operand)}")
        name = self._declare(wide, f"llvm.{known}.{self._suffix(each.result)}", *kinds)
        self.known[each.name] = self.new(f"{each.head}{wide} @{name}({', '.join(values)})")

    def _clear(self, each: Instruction, mask: str) -> None:
        """Write zeros to private room."""
        place, value, length, _ = each.operands
        shape = self.divergence.of(place)
        words = int(length) // 8 if length.isdigit() else 0
        if not shape.private or not shape.single or value != "0" or not words or int(length) % 8:
            raise NotVectorisedError("a call of 'memset' for what is not a run's own")
        if mask == self.all:
            name = self._declare("void", "llvm.memset.p0.i64", "ptr", "i8", "i64", "i1")
            total = 8 * words * self.lanes
            self.say(f"call void @{name}(ptr {self.one(place)}, i8 0, i64 {total}, i1 false)")
            return
        if words > CLEARED:
            raise NotVectorisedError(f"a call of 'memset' for {words} words")
        for k in range(words):
            at = self.new(f"getelementptr i8, ptr {self.one(place)}, i64 {8 * k * self.lanes}")
            self._put("i64", "zeroinitializer", at, 8, mask)
