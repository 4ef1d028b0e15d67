"""Functions of several runs at once do to each run what the function of one run does."""

import ctypes
from dataclasses import dataclass, field

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.engine.function_text import NotVectorisedError
from poinsot.engine.vectorise import vectorised

#: Words that a run reads, and that it writes.
READ, WRITTEN = 4, 6
LANES = 8
HEAD = (
    "define void @f(i64 %group, i64 %lane, ptr noalias %given, ptr noalias %found, ptr %shared) {\n"
)


@pytest.fixture(scope="module", autouse=True)
def _prepared():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


class Compiled:
    """The function `f` of a module, compiled; with these passes first."""

    def __init__(self, text, *, optimised=True):
        target = llvm.Target.from_default_triple()
        self.machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=2)
        self.module = llvm.parse_assembly(text)
        self.module.verify()
        passes = llvm.create_new_module_pass_manager()
        if optimised:
            passes.add_sroa_pass()
            passes.add_simplify_cfg_pass()
        for name in ("loop_simplify", "lcssa", "instruction_namer"):
            getattr(passes, f"add_{name}_pass")()
        passes.run(self.module, llvm.create_pass_builder(self.machine, _tuning()))
        self.text = str(self.module)

    def call(self, *arguments):
        if not hasattr(self, "function"):
            self.engine = llvm.create_mcjit_compiler(self.module, self.machine)
            self.engine.finalize_object()
            kinds = [ctypes.c_int64 if isinstance(a, int) else ctypes.c_void_p for a in arguments]
            address = self.engine.get_function_address("f")
            self.function = ctypes.CFUNCTYPE(None, *kinds)(address)
        self.function(*(a if isinstance(a, int) else a.ctypes.data for a in arguments))


def _tuning():
    return llvm.create_pipeline_tuning_options(speed_level=2)


def assert_the_same(text, given, shared=None, lanes=LANES):
    """Run by run, and all at once, the function writes the same words."""
    shared = np.arange(16, dtype=np.int64) ** 2 if shared is None else shared
    one = Compiled(text)
    several = Compiled(vectorised(one.text, "f", "lane", lanes), optimised=False)
    groups = given.size // READ // lanes
    alone, together = (np.zeros((groups, WRITTEN, lanes), dtype=np.int64) for _ in range(2))
    for group in range(groups):
        for lane in range(lanes):
            one.call(group, lane, given, alone, shared)
        several.call(group, given, together, shared)
    assert np.array_equal(alone, together)
    return alone


def numbers(lanes=LANES, groups=2, low=-9, high=9):
    random = np.random.default_rng(0)
    return random.integers(low, high, (groups, READ, lanes), dtype=np.int64)


# -- random programs -------------------------------------------------------------------------------

#: Variables of a program: some begin with numbers of the run, one with that of the group, one with
#: a constant.
VARIABLES = WRITTEN


def _statements(depth):
    variable = st.integers(0, VARIABLES - 1)
    condition = st.tuples(st.sampled_from(["slt", "eq", "sgt"]), variable, st.integers(-4, 4))
    operation = st.sampled_from(["add", "sub", "mul", "xor", "smin", "copy", "srem"])
    assignment = st.tuples(st.just("set"), variable, operation, variable, variable)
    leaving = st.tuples(st.sampled_from(["break", "continue", "return"]), condition)
    exchange = st.tuples(st.just("swap"), variable, variable)
    constant = st.tuples(st.just("put"), variable, st.integers(-4, 4))
    simple = st.one_of(assignment, assignment, constant, exchange, leaving)
    if not depth:
        return st.lists(simple, min_size=1, max_size=3)
    inner = _statements(depth - 1)
    branch = st.tuples(st.just("if"), condition, inner, inner)
    loop = st.tuples(st.just("loop"), st.integers(1, 3), condition, inner)
    return st.lists(st.one_of(simple, simple, branch, loop), min_size=1, max_size=4)


@dataclass
class Program:
    """Writes LLVM's text of a program; variables are in memory, LLVM takes them out of it."""

    lines: list[str] = field(default_factory=list)
    count: int = 0
    loops: list[tuple[str, str]] = field(default_factory=list)

    def text(self, statements):
        for k in range(VARIABLES):
            self.say(f"%x{k} = alloca i64")
        for k in range(READ):
            self.say(f"store i64 {self.load(self.place('given', READ, k))}, ptr %x{k}")
        self.say(f"store i64 %group, ptr %x{READ}")
        self.say(f"store i64 3, ptr %x{READ + 1}")
        self.write(statements)
        self.say("br label %end")
        self.begin("end")
        for k in range(WRITTEN):
            value = self.load(f"%x{k}")
            self.say(f"store i64 {value}, ptr {self.place('found', WRITTEN, k)}")
        self.say("ret void")
        return "\n".join(
            [HEAD + "entry:", *self.lines, "}", "declare i64 @llvm.smin.i64(i64, i64)"]
        )

    def say(self, line):
        self.lines.append(f"  {line}")

    def new(self, line):
        self.count += 1
        self.say(f"%t{self.count} = {line}")
        return f"%t{self.count}"

    def begin(self, label):
        self.lines.append(f"{label}:")

    def labels(self, *names):
        self.count += 1
        return [f"{name}{self.count}" for name in names]

    def load(self, place):
        return self.new(f"load i64, ptr {place}")

    def place(self, array, size, k):
        row = self.new(f"mul i64 %group, {size * LANES}")
        at = self.new(f"add i64 {row}, {k * LANES}")
        at = self.new(f"add i64 {at}, %lane")
        return self.new(f"getelementptr i64, ptr %{array}, i64 {at}")

    def is_true(self, condition):
        predicate, variable, number = condition
        return self.new(f"icmp {predicate} i64 {self.load(f'%x{variable}')}, {number}")

    def write(self, statements):
        for kind, *parts in statements:
            getattr(self, f"write_{kind}")(*parts)

    def write_set(self, target, operation, a, b):
        a, b = self.load(f"%x{a}"), self.load(f"%x{b}")
        if operation == "smin":
            value = self.new(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")
        elif operation == "copy":
            value = a
        elif operation == "srem":
            odd = self.new(f"or i64 {self.new(f'and i64 {b}, 7')}, 1")
            value = self.new(f"srem i64 {a}, {odd}")
        else:
            value = self.new(f"{operation} i64 {a}, {b}")
        self.say(f"store i64 {value}, ptr %x{target}")

    def write_put(self, target, number):
        self.say(f"store i64 {number}, ptr %x{target}")

    def write_swap(self, one, other):
        a, b = self.load(f"%x{one}"), self.load(f"%x{other}")
        self.say(f"store i64 {b}, ptr %x{one}")
        self.say(f"store i64 {a}, ptr %x{other}")

    def write_if(self, condition, yes, no):
        then, other, after = self.labels("then", "other", "after")
        self.say(f"br i1 {self.is_true(condition)}, label %{then}, label %{other}")
        for label, statements in ((then, yes), (other, no)):
            self.begin(label)
            self.write(statements)
            self.say(f"br label %{after}")
        self.begin(after)

    def write_loop(self, most, condition, statements):
        counter, head, body, after = self.labels("n", "head", "body", "after")
        self.lines.insert(0, f"  %{counter} = alloca i64")
        self.say(f"store i64 0, ptr %{counter}")
        self.say(f"br label %{head}")
        self.begin(head)
        n = self.load(f"%{counter}")
        self.say(f"store i64 {self.new(f'add i64 {n}, 1')}, ptr %{counter}")
        again = self.new(f"icmp slt i64 {n}, {most}")
        stay = self.new(f"and i1 {again}, {self.is_true(condition)}")
        self.say(f"br i1 {stay}, label %{body}, label %{after}")
        self.begin(body)
        self.loops.append((head, after))
        self.write(statements)
        self.loops.pop()
        self.say(f"br label %{head}")
        self.begin(after)

    def leave(self, condition, target):
        (on,) = self.labels("on")
        self.say(f"br i1 {self.is_true(condition)}, label %{target}, label %{on}")
        self.begin(on)

    def write_return(self, condition):
        self.leave(condition, "end")

    def write_break(self, condition):
        self.leave(condition, self.loops[-1][1] if self.loops else "end")

    def write_continue(self, condition):
        self.leave(condition, self.loops[-1][0] if self.loops else "end")


@settings(max_examples=80, deadline=None)
@given(statements=_statements(3))
def test_any_program_does_to_each_run_what_it_does_to_it_alone(statements):
    """Loops that runs leave one after the other, nested branches, exchanges, early returns."""
    assert_the_same(Program().text(statements), numbers())


# -- memory ----------------------------------------------------------------------------------------

PRIVATE = (
    HEAD
    + """
entry:
  %room = alloca [4 x i64], align 16
  call void @llvm.memset.p0.i64(ptr align 16 %room, i8 0, i64 32, i1 false)
  %start = mul i64 %group, 32
  %first = add i64 %start, %lane
  %p0 = getelementptr i64, ptr %given, i64 %first
  %a = load i64, ptr %p0, align 8
  %p1 = getelementptr i8, ptr %p0, i64 64
  %b = load i64, ptr %p1, align 8
  %i = and i64 %a, 3
  %j = and i64 %b, 3
  %here = getelementptr [4 x i64], ptr %room, i64 0, i64 %i
  store i64 %b, ptr %here, align 8
  %there = getelementptr i64, ptr %room, i64 2
  store i64 %a, ptr %there, align 8
  %positive = icmp sgt i64 %b, 0
  br i1 %positive, label %clear, label %read
clear:
  call void @llvm.memset.p0.i64(ptr align 8 %there, i8 0, i64 16, i1 false)
  %from_table = getelementptr i64, ptr %shared, i64 %i
  %table = load i64, ptr %from_table, align 8
  br label %read
read:
  %extra = phi i64 [ %table, %clear ], [ -1, %entry ]
  %at = getelementptr i64, ptr %room, i64 %j
  %c = load i64, ptr %at, align 8
  %row = mul i64 %group, 48
  %place = add i64 %row, %lane
  %q0 = getelementptr i64, ptr %found, i64 %place
  store i64 %c, ptr %q0, align 8
  switch i64 %j, label %other [
    i64 0, label %zero
    i64 1, label %one
    i64 3, label %zero
  ]
zero:
  br label %end
one:
  %plus = add i64 %extra, 100
  br label %end
other:
  br label %end
end:
  %which = phi i64 [ %extra, %zero ], [ %plus, %one ], [ 7, %other ]
  %q1 = getelementptr i64, ptr %q0, i64 8
  store i64 %which, ptr %q1, align 8
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
)

#: Two arrays whose roles change in every round, of which each run takes its own number.
EXCHANGED = (
    HEAD
    + """
entry:
  %start = mul i64 %group, 32
  %first = add i64 %start, %lane
  %p0 = getelementptr i64, ptr %given, i64 %first
  %often = load i64, ptr %p0, align 8
  %row = mul i64 %group, 48
  %place = add i64 %row, %lane
  %q0 = getelementptr i64, ptr %found, i64 %place
  %q1 = getelementptr i8, ptr %q0, i64 64
  store i64 1, ptr %q0, align 8
  store i64 2, ptr %q1, align 8
  br label %round
round:
  %n = phi i64 [ 0, %entry ], [ %next, %round ]
  %here = phi ptr [ %q0, %entry ], [ %there, %round ]
  %there = phi ptr [ %q1, %entry ], [ %here, %round ]
  %x = load i64, ptr %here, align 8
  %y = load i64, ptr %there, align 8
  %sum = add i64 %x, %y
  store i64 %sum, ptr %there, align 8
  %next = add i64 %n, 1
  %again = icmp slt i64 %next, %often
  br i1 %again, label %round, label %end
end:
  %last = load i64, ptr %there, align 8
  %q2 = getelementptr i8, ptr %q0, i64 128
  store i64 %last, ptr %q2, align 8
  store i64 %n, ptr %here, align 8
  ret void
}
"""
)


@pytest.mark.parametrize("text", [PRIVATE, EXCHANGED], ids=["private", "exchanged"])
def test_each_run_reads_and_writes_what_is_its_own(text):
    found = assert_the_same(text, numbers(groups=4))
    assert len(np.unique(found)) > 8


def test_numbers_of_a_run_do_not_depend_on_those_beside_it():
    """Whoever leaves a loop later, or does not come to a block at all."""
    one = Compiled(EXCHANGED)
    several = Compiled(vectorised(one.text, "f", "lane", LANES), optimised=False)
    given, found = numbers(groups=1), np.zeros((2, WRITTEN, LANES), dtype=np.int64)
    several.call(0, given, found[:1], given)
    given[:, 0, 1:] += 5
    several.call(0, given, found[1:], given)
    assert np.array_equal(found[0, :, 0], found[1, :, 0])
    assert not np.array_equal(found[0, :, 1:], found[1, :, 1:])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("call void @abort()", "a call of 'abort'"),
        ("store i64 %lane, ptr %shared, align 8", "runs write to what they share"),
        ("%x = cmpxchg ptr %shared, i64 0, i64 1 seq_cst seq_cst", "instruction 'cmpxchg'"),
        ("%x = load atomic i64, ptr %shared seq_cst, align 8", "load atomic"),
    ],
)
def test_what_several_runs_cannot_do_is_refused_by_name(line, reason):
    text = f"{HEAD}entry:\n  {line}\n  ret void\n}}\ndeclare void @abort()\n"
    with pytest.raises(NotVectorisedError, match=reason):
        vectorised(Compiled(text, optimised=False).text, "f", "lane", LANES)
