"""Functions as machine code: programs compiled by LLVM in a few milliseconds each.

A compiled function has an address and can be called from kernels: it reads numbers at `given`,
writes numbers to `found`, and takes the index of the program to run as its third argument.
"""

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from poinsot.ph.graphs import NUMBER, VARIABLE, Program
from poinsot.ph.matrices import Array

#: A power with a whole exponent up to this is a product.
PRODUCTS = 16
#: Functions that LLVM knows by itself; all others are those of the C library.
KNOWN = ("sin", "cos", "exp", "log", "log10", "sqrt", "floor", "ceil", "pow")
#: Comparisons as LLVM writes them.
TESTS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}
#: More operations than this take seconds to translate.
LARGEST = 5000

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class CompiledFunction:
    """Programs on the same arguments as machine code; it lives as long as this object."""

    def __init__(self, arguments: int, *programs: Program) -> None:
        self.programs = programs
        self.counts = [len(program.wanted) for program in programs]
        self.sizes = arguments, max(self.counts)
        self._engine = _translated(_text(programs))
        self.address = int(self._engine.get_function_address("law"))
        self._call = SIGNATURE(self.address)
        self._rooms = [ctypes.c_double * count for count in self.counts]

    def __call__(self, arguments: Array, which: int = 0) -> Array:
        """Return the values of one of the programs."""
        given, found = np.asarray(arguments, dtype=float), np.empty(self.counts[which])
        if given.shape != (self.sizes[0],):
            raise ValueError(f"expected {self.sizes[0]} numbers, got an array {given.shape}")
        # Half the time of asking both arrays for their addresses.
        self._call(given.tobytes(), self._rooms[which].from_buffer(found.data), which)
        return found

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Copies and other processes get the programs."""
        return compiled, (self.sizes[0], *self.programs)


@lru_cache(maxsize=256)
def compiled(arguments: int, *programs: Program) -> CompiledFunction:
    """Return programs as machine code, translated once."""
    return CompiledFunction(arguments, *programs)


def _text(programs: Sequence[Program]) -> str:
    """Return the function in LLVM's language."""
    from llvmlite import ir

    real, word = ir.DoubleType(), ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [real.as_pointer(), real.as_pointer(), word])
    module = ir.Module()
    law = ir.Function(module, kind, "law")
    given, found, which = law.args
    start, end = ir.IRBuilder(law.append_basic_block()), law.append_basic_block()
    choice = start.switch(which, end)
    for k, program in enumerate(programs):
        builder = ir.IRBuilder(law.append_basic_block())
        choice.add_case(word(k), builder.block)
        values = _values(builder, program, given)
        for place, row in enumerate(program.wanted):
            builder.store(values[row], builder.gep(found, [word(place)]))
        builder.ret_void()
    ir.IRBuilder(end).ret_void()
    return str(module)


def _translated(text: str) -> Any:
    """Return the engine that holds the function, which owns all else."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=1)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


# -- from operations to instructions ---------------------------------------------------------------


def _values(builder: Any, program: Program, given: Any) -> list[Any]:
    """Write the instructions of all rows; return their values."""
    from llvmlite import ir

    real = ir.DoubleType()
    values: list[Any] = []
    for operation, operands in program.rows:
        if operation == VARIABLE:
            values.append(builder.load(builder.gep(given, [ir.IntType(64)(operands[0])])))
        elif operation == NUMBER:
            values.append(real(operands[0]))
        elif operation == "pow" and _is_product(program, operands[1]):
            base, exponent = values[operands[0]], program.rows[operands[1]][1][0]
            values.append(_product(builder, base, int(exponent)))
        else:
            values.append(_instruction(builder, operation, [values[k] for k in operands]))
    return values


def _is_product(program: Program, row: int) -> bool:
    operation, operands = program.rows[row]
    return operation == NUMBER and operands[0].is_integer() and abs(operands[0]) <= PRODUCTS


def _product(builder: Any, base: Any, exponent: int) -> Any:
    """Write a power as a product of squares."""
    power, square, left = None, base, abs(exponent)
    while left:
        if left % 2:
            power = square if power is None else builder.fmul(power, square)
        left //= 2
        if left:
            square = builder.fmul(square, square)
    one = base.type(1.0)
    if power is None:
        return one
    return builder.fdiv(one, power) if exponent < 0 else power


def _instruction(builder: Any, operation: str, a: list[Any]) -> Any:
    """Write one operation, which does with NaN what NumPy does."""
    real = a[0].type
    zero, one = real(0.0), real(1.0)
    match operation:
        case "add" | "sub" | "mul" | "div":
            return getattr(builder, f"f{operation}")(*a)
        case "neg":
            return builder.fneg(*a)
        case "abs":
            return builder.call(builder.module.declare_intrinsic("llvm.fabs", [real]), a)
        case "ne":
            return builder.select(builder.fcmp_unordered("!=", *a), one, zero)
        case "lt" | "le" | "gt" | "ge" | "eq":
            return builder.select(builder.fcmp_ordered(TESTS[operation], *a), one, zero)
        case "where":
            return builder.select(builder.fcmp_unordered("!=", a[0], zero), a[1], a[2])
        case "min" | "max":
            test = "<" if operation == "min" else ">"
            chosen = builder.select(builder.fcmp_ordered(test, *a), *a)
            return builder.select(builder.fcmp_unordered("uno", *a), builder.fadd(*a), chosen)
        case "sign":
            below = builder.select(builder.fcmp_ordered("<", a[0], zero), real(-1.0), a[0])
            return builder.select(builder.fcmp_ordered(">", a[0], zero), one, below)
        case "heaviside":
            step = builder.select(builder.fcmp_ordered("<", a[0], zero), zero, one)
            return builder.select(builder.fcmp_unordered("uno", a[0], a[0]), a[0], step)
    if operation in KNOWN:
        function = builder.module.declare_intrinsic(f"llvm.{operation}", [real])
    else:
        from llvmlite import ir

        kind = ir.FunctionType(real, [real] * len(a))
        function = builder.module.globals.get(operation) or ir.Function(
            builder.module, kind, operation
        )
    return builder.call(function, a)
