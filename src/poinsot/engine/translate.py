"""From the kernel of one mechanism to the language of a graphics processor, or machine code.

All that its runs share is known. Loops over parts and tiles are written out, so that the matrix is
no array but numbers in registers, and products with zeros are left out: memory is what the threads
of a graphics processor wait for. There one run goes on at a time in each, and between branches
nothing can be rearranged, so that quotients and roots are found without them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from poinsot.engine.batch import ABREAST, Leaf
from poinsot.engine.specialise import KERNEL, LANE, kernel_text
from poinsot.engine.vectorise import vectorised

#: What the compiler knows of a graphics processor.
DEVICE = "nvptx64-nvidia-cuda"
#: Loops are written out up to so many instructions, and none in parts. With 9000, the matrix of the
#: spatial slider-crank stays in memory; with more, registers are too few for longer chains.
OPTIONS = (
    "-unroll-threshold=12000",
    "-unroll-runtime=false",
    "-unroll-allow-partial=false",
)
#: Quotients and roots without branches, by Newton's method from 20 binary digits on: right but for
#: the last place. What is smaller than 2e-308 has the root 0, and no number is divided by it.
ROUNDED = """
declare double @llvm.nvvm.rcp.approx.ftz.d(double)
declare double @llvm.nvvm.rsqrt.approx.ftz.d(double)
declare double @llvm.fma.f64(double, double, double)

define internal double @quotient(double %a, double %b) alwaysinline {
  %first = call double @llvm.nvvm.rcp.approx.ftz.d(double %b)
  %less = fneg double %b
  %e = call double @llvm.fma.f64(double %less, double %first, double 1.0)
  %more = call double @llvm.fma.f64(double %e, double %e, double %e)
  %r = call double @llvm.fma.f64(double %first, double %more, double %first)
  %q = fmul double %a, %r
  %rest = call double @llvm.fma.f64(double %less, double %q, double %a)
  %found = call double @llvm.fma.f64(double %rest, double %r, double %q)
  ret double %found
}

define internal double @root(double %x) alwaysinline {
  %y = call double @llvm.nvvm.rsqrt.approx.ftz.d(double %x)
  %s = fmul double %x, %y
  %less = fneg double %s
  %e = call double @llvm.fma.f64(double %less, double %y, double 1.0)
  %w = call double @llvm.fma.f64(double %e, double 0.375, double 0.5)
  %more = fmul double %w, %e
  %s1 = call double @llvm.fma.f64(double %s, double %more, double %s)
  %y1 = call double @llvm.fma.f64(double %y, double %more, double %y)
  %less1 = fneg double %s1
  %rest = call double @llvm.fma.f64(double %less1, double %s1, double %x)
  %half = fmul double %y1, 0.5
  %near = call double @llvm.fma.f64(double %rest, double %half, double %s1)
  %small = fcmp ogt double 0x0010000000000000, %x
  %sound = fcmp oge double %x, 0.0
  %none = and i1 %small, %sound
  %found = select i1 %none, double 0.0, double %near
  ret double %found
}
"""

#: Instructions, and what is called instead.
INSTEAD = {
    r"= fdiv [a-z ]*double (\S+), (\S+)": r"= call double @quotient(double \1, double \2)",
    r"= (tail )?call [a-z ]*double @llvm\.sqrt\.f64\(double": "= call double @root(double",
    r"declare double @llvm\.fma\.f64\(.*": "",
}


@cache
def _llvm() -> Any:
    """Return LLVM, prepared; its options hold for all that this process compiles from now on."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for option in OPTIONS:
        llvm.set_option("poinsot", option)
    return llvm


def specialised(
    bitcode: bytes,
    leaves: Sequence[Leaf],
    architecture: str | None = None,
    *,
    processor: str | None = None,
    abreast: int = ABREAST,
) -> tuple[Any, Any]:
    """Return LLVM's module with the kernel alone, and LLVM's machine for it.

    For a graphics processor of an architecture, `sm_90` for instance, or else for a processor of
    this kind, by default this one; groups have `abreast` runs.
    """
    llvm = _llvm()
    triple = DEVICE if architecture else llvm.get_process_triple()
    name = architecture or processor or llvm.get_host_cpu_name()
    kind = {} if architecture else {"reloc": "pic", "codemodel": "small"}
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=name, opt=3, **kind)
    layout = str(machine.target_data)
    text = kernel_text(leaves, layout, device=architecture is not None, abreast=abreast)
    module, kernel = llvm.parse_bitcode(bitcode), llvm.parse_assembly(text)
    for one in (module, kernel):
        one.triple, one.data_layout = triple, layout
    module.link_in(kernel)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration:
            each.linkage = "external" if each.name == KERNEL else "internal"
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = tuning.loop_vectorization = False
    # First of all constants are handed on from function to function, and what is not called goes.
    constants = llvm.create_new_module_pass_manager()
    constants.add_ipsccp_pass()
    constants.add_global_dead_code_eliminate_pass()
    constants.run(module, llvm.create_pass_builder(machine, tuning))
    for last in (False, True):
        if last:
            # What is left is small enough to be one function, whose arrays stay in registers.
            if architecture:
                module = _without_branches(module)
            for each in module.functions:
                if not each.is_declaration and each.name != KERNEL:
                    each.add_function_attribute("alwaysinline")
        passes = llvm.create_pass_builder(machine, tuning)
        passes.getModulePassManager().run(module, passes)
    return module, machine


def _without_branches(module: Any) -> Any:
    """Return a module that divides and takes roots by functions of `ROUNDED`."""
    text = str(module)
    for known, instead in INSTEAD.items():
        text = re.sub(known, instead, text)
    return _llvm().parse_assembly(text + ROUNDED)


def ptx(bitcode: bytes, leaves: Sequence[Leaf], architecture: str) -> str:
    """Return the kernel in the language of NVIDIA's driver."""
    module, machine = specialised(bitcode, leaves, architecture)
    text: str = machine.emit_assembly(module)
    return text


def in_registers(bitcode: bytes, leaves: Sequence[Leaf], processor: str, abreast: int) -> bytes:
    """Return the object file of the kernel of so many runs at once in vector registers.

    `processor` is a level of processors, `x86-64-v4` for instance. Raises `NotVectorisedError`.
    """
    llvm = _llvm()
    module, machine = specialised(bitcode, leaves, processor=processor, abreast=abreast)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = tuning.loop_vectorization = tuning.loop_unrolling = False
    plain = llvm.create_new_module_pass_manager()
    plain.add_loop_simplify_pass()
    plain.add_lcssa_pass()
    plain.add_instruction_namer_pass()
    plain.run(module, llvm.create_pass_builder(machine, tuning))
    whole = llvm.parse_assembly(vectorised(str(module), KERNEL, LANE, abreast))
    whole.verify()
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(whole, passes)
    code: bytes = machine.emit_object(whole)
    return code
