"""A kernel for one mechanism: that of its form, with all that its runs share as constants.

The kernels of a form read tables: which parts a mechanism has, where they are in the matrix and
which tiles meet. Given as constants, LLVM follows them: loops over parts are written out, what a
mechanism does not have is gone, and entries are where they are. That takes some 15 s; a processor
that takes a billion steps with one mechanism pays for it, a single run would not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poinsot.engine.batch import ABREAST, RETURNED, Leaf, Role
from poinsot.engine.machine_code import ENTRY

#: The name of the kernel, and how many threads of a graphics processor make a block.
KERNEL, THREADS = "poinsot_runs", 128
#: The parameter that numbers a run in its group.
LANE = "lane"


def given_words(leaves: Sequence[Leaf]) -> list[str]:
    """Return what a kernel is given at each launch, by name and in order.

    How many runs there are, and where to write what they return; numbers and addresses of arrays
    by their path; the rows of those that are open.
    """
    given = ["count", "returned"]
    for leaf in leaves:
        if leaf.role in (Role.GIVEN, Role.OWN):
            given += [leaf.path, *([f"rows of {leaf.path}"] if leaf.open else [])]
    return given


def kernel_text(
    leaves: Sequence[Leaf], layout: str, *, device: bool, abreast: int = ABREAST
) -> str:
    """Return LLVM's module of the kernel of these leaves, which calls `ENTRY`.

    On a graphics processor every thread takes runs, one after the other; elsewhere the first
    arguments are the numbers of a group and of a run in it. `layout` is that of data in memory,
    where groups have `abreast` runs.
    """
    return str(_Text(leaves, layout, device, abreast).module)


class _Text:
    """Writes a kernel: what its words are, what is a run's own, and the call."""

    def __init__(self, leaves: Sequence[Leaf], layout: str, device: bool, abreast: int) -> None:
        from llvmlite import ir

        self.ir, self.device, self.leaves, self.abreast = ir, device, leaves, abreast
        self.word, self.real, self.small = ir.IntType(64), ir.DoubleType(), ir.IntType(32)
        self.byte = ir.IntType(8).as_pointer()
        self.module = ir.Module("runs")
        self.module.data_layout = layout
        self.given = given_words(leaves)
        self.words: list[Any] = []
        self.own: list[Any] = [None] * RETURNED
        self._library()
        self._kernel()

    def _library(self) -> None:
        """Write functions that Numba finds in C's library."""
        kind = self.ir.FunctionType(self.real, [self.real])
        for name in ("sqrt", "floor"):
            function = self.ir.Function(self.module, kind, name)
            builder = self.ir.IRBuilder(function.append_basic_block())
            known = self.module.declare_intrinsic(f"llvm.{name}", [self.real])
            builder.ret(builder.call(known, function.args))

    def _kernel(self) -> None:
        ir, word = self.ir, self.word
        space = 1 if self.device else 0
        arrays = {leaf.path for leaf in self.leaves if leaf.is_array or leaf.role is Role.OWN}
        arrays |= {"returned"}
        kinds = [ir.IntType(8).as_pointer(space) if name in arrays else word for name in self.given]
        first = [] if self.device else [word, word]
        kernel = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [*first, *kinds]), KERNEL)
        self.arguments = dict(zip(self.given, kernel.args[len(first) :], strict=True))
        for name in arrays & self.arguments.keys():
            self.arguments[name].add_attribute("noalias")
        self.builder = ir.IRBuilder(kernel.append_basic_block("entry"))
        if self.device:
            kernel.calling_convention = "ptx_kernel"
            self._runs_of_a_thread(kernel)
        else:
            kernel.args[0].name, kernel.args[1].name = "group", LANE
            self.group, self.lane = kernel.args[:2]
            self._one_run()
        self.builder.ret_void()

    def _runs_of_a_thread(self, kernel: Any) -> None:
        """Write the loop over the runs of a thread."""
        builder, word = self.builder, self.word
        begin, step = self._thread()
        before = builder.block
        head, body, end = (kernel.append_basic_block(name) for name in ("runs", "run", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        run = builder.phi(word)
        run.add_incoming(begin, before)
        there = builder.icmp_unsigned("<", run, self.arguments["count"])
        builder.cbranch(there, body, end)
        builder.position_at_end(body)
        self.group = builder.lshr(run, word(self.abreast.bit_length() - 1))
        self.lane = builder.and_(run, word(self.abreast - 1))
        self._one_run()
        run.add_incoming(builder.add(run, step), builder.block)
        builder.branch(head)
        builder.position_at_end(end)

    def _thread(self) -> tuple[Any, Any]:
        """Return the first run of a thread, and how far it is to its next one."""
        kind = self.ir.FunctionType(self.small, [])
        names = (f"llvm.nvvm.read.ptx.sreg.{name}" for name in ("ctaid.x", "tid.x", "nctaid.x"))
        block, thread, blocks = (
            self.builder.zext(
                self.builder.call(self.ir.Function(self.module, kind, name), []), self.word
            )
            for name in names
        )
        threads = self.word(THREADS)
        first = self.builder.add(self.builder.mul(block, threads), thread)
        return first, self.builder.mul(blocks, threads)

    def _one_run(self) -> None:
        builder, word = self.builder, self.word
        for k, leaf in enumerate(self.leaves):
            if leaf.is_array:
                self._array(k, leaf)
            elif leaf.role is Role.SHARED:
                self._know(word(_bits(leaf.sample)))
            elif leaf.role is Role.OWN:
                self._own(builder.load(builder.bitcast(self._place(leaf), word.as_pointer())))
            else:
                self._own(self.arguments[leaf.path])
        own = self._room(self.ir.ArrayType(word, len(self.own)))
        for k, value in enumerate(self.own):
            if value is not None:
                at = builder.gep(own, [self.small(0), word(k)], inbounds=True)
                builder.store(value, builder.bitcast(at, value.type.as_pointer()))
        flat = [each for pair in self.words for each in pair]
        kind = self.ir.ArrayType(word, len(flat))
        words = self._constant("words", kind, flat)
        entry = self.ir.Function(
            self.module, self.ir.FunctionType(self.small, 4 * [self.byte]), ENTRY
        )
        unused = self._room(word), self._room(word)
        arguments = [builder.bitcast(each, self.byte) for each in (*unused, words, own)]
        builder.call(entry, arguments)
        returned = builder.bitcast(
            self.arguments["returned"], word.as_pointer(1 if self.device else 0)
        )
        for k in range(RETURNED):
            value = builder.load(builder.gep(own, [self.small(0), word(k)], inbounds=True))
            row = builder.add(builder.mul(self.group, word(RETURNED)), word(k))
            at = builder.add(builder.mul(row, word(self.abreast)), self.lane)
            builder.store(value, builder.gep(returned, [at]))

    def _array(self, k: int, leaf: Leaf) -> None:
        """Write the words of an array: its address, shape, and how far apart entries are."""
        sample, apart = leaf.sample, 1
        if leaf.role is Role.SHARED:
            numbers = sample.reshape(-1).tolist() or [0]
            kind = self.ir.ArrayType(self._kind(sample), len(numbers))
            table = self._constant(f"table.{k}", kind, numbers)
            self._know(table.ptrtoint(self.word))
        elif leaf.role is Role.GIVEN:
            self._own(self._generic(self.arguments[leaf.path]))
        elif leaf.role is Role.OWN:
            place, apart = self._place(leaf), self.abreast
            self._own(place)
        else:
            room = self._room(self.ir.ArrayType(self._kind(sample), max(1, sample.size)))
            self.builder.store(self.ir.Constant(room.type.pointee, None), room)
            self._own(self.builder.bitcast(room, self.byte))
        for axis, extent in enumerate(sample.shape):
            if leaf.open and axis == 0:
                self._own(self.arguments[f"rows of {leaf.path}"])
            else:
                self._know(self.word(extent))
        self._know(self.word(apart))

    def _place(self, leaf: Leaf) -> Any:
        """Return where the array of a run begins, as a pointer to bytes."""
        builder, word, sample = self.builder, self.word, np.asarray(leaf.sample)
        size, extents = sample.dtype.itemsize, sample.shape[1:] if leaf.open else sample.shape
        group: Any = word(int(np.prod(extents)) * self.abreast * size)
        if leaf.open:
            group = builder.mul(group, self.arguments[f"rows of {leaf.path}"])
        offset = builder.add(builder.mul(self.group, group), builder.mul(self.lane, word(size)))
        return self._generic(builder.gep(self.arguments[leaf.path], [offset]))

    def _generic(self, pointer: Any) -> Any:
        return self.builder.addrspacecast(pointer, self.byte) if self.device else pointer

    def _kind(self, sample: Any) -> Any:
        return {"float64": self.real, "uint32": self.small, "int64": self.word}[sample.dtype.name]

    def _room(self, kind: Any) -> Any:
        """Return room of a thread: only what stands in the first block goes to registers."""
        with self.builder.goto_entry_block():
            room = self.builder.alloca(kind)
        room.align = 16
        return room

    def _constant(self, name: str, kind: Any, numbers: Sequence[Any]) -> Any:
        table = self.ir.GlobalVariable(self.module, kind, name)
        table.initializer = self.ir.Constant(kind, numbers)
        table.global_constant, table.linkage, table.align = True, "internal", 16
        return table

    def _know(self, value: Any) -> None:
        """Add a word that is known."""
        self.words.append((self.word(1), value))

    def _own(self, value: Any) -> None:
        """Add a word that each run has for itself."""
        self.words.append((self.word(0), self.word(len(self.own))))
        self.own.append(value)


def _bits(number: float) -> int:
    """Return a number as a word."""
    return int(np.float64(number).view(np.int64)) if isinstance(number, float) else int(number)
