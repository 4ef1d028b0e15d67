"""From kernels to machine code.

Numba types the kernels and lowers them to LLVM's language; all of them are then linked, optimised
and translated once, for a family of processors. (Compiled by Numba alone every kernel would be
optimised and translated with all that it calls, again and again.) The result is an object file for
each form of the equations, see `machine_code`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

from poinsot.engine import machine_code
from poinsot.engine.job import Job
from poinsot.engine.machine_code import ENTRY, FORMS
from poinsot.kernels.kernel import ARITHMETIC, KERNELS

#: A product may be fused with a sum; sums are not reordered. Kernels own no memory: counting
#: references to arrays would take as long as small steps do.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# -- from Python to LLVM's language ----------------------------------------------------------------


@cache
def compiled_kernels(*, side_by_side: bool = False) -> dict[Callable[..., Any], Any]:
    """Return every kernel as Numba's, calling others as Numba's; the kernels stay as they are.

    Of many runs side by side, each in a thread of a graphics processor, rows are taken singly, and
    there are neither functions at addresses nor a library of elementary functions.
    """
    import numba

    # Kernels are those of the modules that this one imports.
    from poinsot.engine import backward, extrapolation, intrinsics, run, tracing
    from poinsot.kernels import elementary, laws, singly

    assert {run.run, backward.sweep} <= KERNELS.keys()
    passes = _passes()

    def compiled(function: Callable[..., Any], copy: Any) -> Any:
        inlined = KERNELS[function]
        made = numba.njit(copy, forceinline=inlined, pipeline_class=passes, **OPTIONS)
        if inlined:  # else there would be one for every number that it is called with
            of_types = made.get_call_template
            made.get_call_template = lambda kinds, keywords: of_types(
                [tracing.argument_kind(kind) for kind in kinds], keywords
            )
        return made

    single: dict[Any, Any] = singly.INSTEAD if side_by_side else {}
    numbers = intrinsics.ON_SINGLE_NUMBERS if side_by_side else intrinsics.ON_NUMBERS
    constants = {"ABREAST": 1} if side_by_side else {}
    on_numbers = _copies(ARITHMETIC, lambda function, copy: copy, numbers, single, constants)
    traced: dict[Any, Any] = {
        function: tracing.traced(function, copy)
        for function, copy in on_numbers.items()
        if isinstance(function, FunctionType)
    }
    if side_by_side:
        traced[laws.call_at] = intrinsics.call_nothing
        instead: dict[Any, Any] = dict(elementary.INSTEAD)
        instead[run.go_on] = run.swap
        instead[extrapolation.extrapolate] = extrapolation.extrapolate_in_a_ring
        return _copies(KERNELS, compiled, traced, instead, constants)
    traced[laws.call_at] = intrinsics.call_at
    return _copies(KERNELS, compiled, traced, {}, constants)


def _copies(
    functions: Iterable[Any],
    make: Callable[..., Any],
    known: dict[Any, Any],
    instead: Mapping[Any, Any],
    constants: Mapping[str, int],
) -> dict[Any, Any]:
    """Return what is made of copies of functions, and what is known.

    The copies call instead of other functions what is made of those, or known for them; `instead`
    of some they call others. They know other constants by these names.
    """
    spaces: dict[int, dict[str, Any]] = {}
    made = dict(known)
    for function in functions:
        space = spaces.setdefault(id(function.__globals__), {"max": max, **function.__globals__})
        copy = FunctionType(function.__code__, space, function.__name__, function.__defaults__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        made[function] = make(function, copy)
    made |= {function: made[other] for function, other in instead.items()}
    for space in spaces.values():
        space |= {name: value for name, value in constants.items() if name in space}
        for name, value in space.items():
            if isinstance(value, FunctionType | BuiltinFunctionType) and value in made:
                space[name] = made[value]
    return made


def entry_of_run(form: str, run: Any) -> Any:
    """Return the function of two pointers that runs the job in the words there."""
    from poinsot.engine.words import record_of_run, write_returned

    job_at = record_of_run(Job, FORMS[form])

    def called(known: Any, own: Any) -> int:
        taken, rows = run(job_at(known, own))
        write_returned(own, 0, taken)
        write_returned(own, 1, rows)
        return 0

    return called


def entry(form: str, run: Any) -> Any:
    """Return the function of an address that runs the job in the words there."""
    from poinsot.engine.words import record_at, write_returned

    job_at = record_at(_asked(form)[0], FORMS[form])

    def called(address: int) -> int:
        taken, rows = run(job_at(address))
        write_returned(address, 0, taken)
        write_returned(address, 1, rows)
        return 0

    return called


def _asked(form: str) -> tuple[type, Callable[..., Any]]:
    """Return the record that a form is called with, and the kernel that it goes to."""
    from poinsot.engine.backward import Sweep, sweep
    from poinsot.engine.run import run

    return (Sweep, sweep) if form.endswith("backward") else (Job, run)


def _passes() -> Any:
    """Return the passes of Numba that kernels need, which have neither closures nor literals."""
    from numba.core import typed_passes, untyped_passes
    from numba.core.compiler import CompilerBase
    from numba.core.compiler_machinery import PassManager

    class Passes(CompilerBase):
        """Those that are left."""

        def define_pipelines(self) -> list[Any]:
            """Return one pipeline."""
            passes: Any = PassManager("kernels")  # type: ignore[no-untyped-call]
            for one in (
                untyped_passes.TranslateByteCode,
                untyped_passes.FixupArgs,
                untyped_passes.IRProcessing,
                untyped_passes.RewriteSemanticConstants,
                untyped_passes.DeadBranchPrune,
                untyped_passes.GenericRewrites,
                untyped_passes.ReconstructSSA,
                typed_passes.NopythonTypeInference,
                typed_passes.PreLowerStripPhis,
                typed_passes.IRLegalization,
                typed_passes.AnnotateTypes,
                typed_passes.NativeLowering,
                typed_passes.NoPythonBackend,
            ):
                passes.add_pass(one, one.__name__)
            passes.finalize()
            return [passes]

    return Passes


@contextmanager
def _lowering_only() -> Iterator[None]:
    """Keep Numba from translating kernels one by one."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.registry import cpu_target

    class Library(JITCodeLibrary):
        """Code that waits to be linked."""

        def add_linking_library(self, library: Any) -> None:
            self._linking_libraries.append(library)

    context: Any = cpu_target.target_context
    codegen: Any = context.codegen()
    before = codegen._library_class, context.get_executable
    codegen._library_class = Library
    # Any built-in function of its own for every kernel: Numba knows compiled code by it.
    context.get_executable = lambda library, description, environment: [].append
    try:
        yield
    finally:
        codegen._library_class, context.get_executable = before


@contextmanager
def _arithmetic(*, without_zeros: bool) -> Iterator[None]:
    """Write arithmetic that may leave out zeros, or not."""
    from poinsot.engine import tracing

    before = tracing.FLAGS.set(tracing.WITHOUT_ZEROS if without_zeros else tracing.FLAGS.get())
    try:
        yield
    finally:
        tracing.FLAGS.reset(before)


def lower(
    form: str, count: Callable[[], None] = lambda: None, *, side_by_side: bool = False
) -> bytes:
    """Return the kernels of a form as one module of LLVM's bitcode, its entry called `ENTRY`.

    `count` is called once for every kernel. The entry of one of many runs `side_by_side` has two
    arguments, the words that all of them share and those of its own.
    """
    # Set before Numba is imported: nothing is optimised but the whole.
    os.environ["NUMBA_OPT"] = "0"
    import numba
    from numba.core import event, types

    class Count(event.Listener):
        """Counts kernels."""

        def on_start(self, _: Any) -> None:
            count()

        def on_end(self, _: Any) -> None:
            pass

    counted = event.install_listener("numba:compile", Count())
    with _lowering_only(), counted, _arithmetic(without_zeros=side_by_side):
        kernel = compiled_kernels(side_by_side=side_by_side)[_asked(form)[1]]
        pointers: Any = types.voidptr, types.voidptr
        function = (entry_of_run if side_by_side else entry)(form, kernel)
        whole = numba.njit(function, **OPTIONS)
        whole.compile(pointers if side_by_side else (types.int64,))
        (result,) = whole.overloads.values()
    libraries: dict[int, Any] = {}

    def collect(library: Any) -> None:
        if id(library) not in libraries:
            libraries[id(library)] = library
            for other in library._linking_libraries:
                collect(other)

    collect(result.library)
    modules = [library._final_module.clone() for library in libraries.values()]
    # In pairs: the linker reads all of what it adds to.
    while len(modules) > 1:
        for one, other in zip(modules[::2], modules[1::2], strict=False):
            one.link_in(other)
        modules = modules[::2]
    (module,) = modules
    for one in (*module.functions, *module.global_variables):
        if one.name == result.fndesc.llvm_func_name:
            one.name = ENTRY
        elif not one.is_declaration:
            one.linkage = "internal"
    bitcode: bytes = module.as_bitcode()
    return bitcode


# -- from LLVM's language to machine code ----------------------------------------------------------


def translate(bitcode: bytes) -> bytes:
    """Return the object file of a module, for this family of processors."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    processor = machine_code.processor()
    name = "" if processor == "generic" else processor
    machine = target.create_target_machine(cpu=name, opt=3, reloc="pic", codemodel="small")
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    # Small matrices go through vector registers by themselves: a tenth to a quarter of the time.
    tuning.loop_vectorization = tuning.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, tuning)
    module = llvm.parse_bitcode(bitcode)
    passes.getModulePassManager().run(module, passes)
    code: bytes = machine.emit_object(module)
    return code
