"""Formulas as laws in the compiled engine: springs, dampers and motors in machine code.

Formulas have exact derivatives; both become machine code (`ph.compiled`) at an address that kernels
call. The law of a spring takes one coordinate; kernels compute its mean force over a step as
`elastic` does.
"""

from typing import Any

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import call_at
from poinsot.kernels.quadrature import (
    AGREED,
    FIRST,
    HALVINGS,
    LAST,
    MIDDLE,
    POINTS,
    ROUND_OFF,
    SMALL,
    WEIGHTS,
)
from poinsot.kernels.tables import Acts
from poinsot.parts.elastic import ByForce, Elastic
from poinsot.parts.feedback import JointLaw
from poinsot.parts.resistance import AnyLaw
from poinsot.ph.compiled import LARGEST, CompiledFunction, compiled
from poinsot.ph.formulas import Formula, Slope
from poinsot.ph.graphs import Program

#: What the law of a spring is, a column of places: a Python function of steps, or machine code of
#: single coordinates, with an energy or without.
LAW = 1
OF_STEPS, OF_POINTS, OF_FORCES = range(3)
#: What machine code of single coordinates is asked for.
FORCE, STIFFNESS, ENERGY = range(3)
#: Columns of its numbers: where an energy is zero that is found by integration, and the scale.
ORIGIN, SCALE = 0, 1


def machine_code(arguments: int, *programs: Program) -> CompiledFunction | None:
    """Return programs as machine code, unless they are so long that it would take seconds."""
    rows = sum(len(program.rows) for program in programs)
    return compiled(arguments, *programs) if rows <= LARGEST else None


def of_spring(elastic: Elastic) -> tuple[CompiledFunction, int, tuple[float, ...]] | None:
    """Return a spring of formulas as machine code, what law it is, and its numbers."""
    if not isinstance(elastic, ByForce):
        return None
    force, stiffness = _program(elastic.force), _program(elastic.stiffness)
    energy = _program(elastic.V)
    if force is None or stiffness is None or (energy is None and elastic.origin is None):
        return None
    function = machine_code(1, force, stiffness, *(() if energy is None else (energy,)))
    if function is None:
        return None
    origin = 0.0 if elastic.origin is None else elastic.origin
    law = OF_FORCES if energy is None else OF_POINTS
    return function, law, (origin, elastic.scale, 0.0, 0.0)


def _program(law: Any) -> Program | None:
    """Return the program of a law of one number, if it is a formula."""
    if isinstance(law, Slope) or (isinstance(law, Formula) and law.is_of(1)):
        return law.program
    return None


def of_damper(damper: AnyLaw) -> CompiledFunction | None:
    """Return a damper of a formula as machine code: force and slope."""
    law = damper.law
    if not isinstance(law, Formula) or not law.is_of(1):
        return None
    g = law.graph
    viscous = g.apply("mul", g.number(damper.viscous), g.variable(0))
    force = g.apply("add", viscous, law.rows[0])
    return machine_code(1, g.program(force), g.program(force, g.slope(force, 0)))


def of_motor(feedback: JointLaw) -> CompiledFunction | None:
    """Return the formula of a motor as machine code: input, and slopes by coordinate and rate."""
    law = feedback.law
    if not isinstance(law, Formula) or not law.is_of(3):
        return None
    g, u = law.graph, law.rows[0]
    return machine_code(3, g.program(u), g.program(u, g.slope(u, 1), g.slope(u, 2)))


# -- kernels ---------------------------------------------------------------------------------------


@kernel
def mean_and_slope(
    acts: Acts, k: int, chi: float, dchi: float, given: Array, found: Array
) -> tuple[float, float]:
    """Return the mean force of a spring over an increment, and its derivative by its end."""
    law, scale = acts.laws[k], acts.numbers[k, SCALE]
    start, end = _ask(law, FORCE, chi, given, found), _ask(law, FORCE, chi + dchi, given, found)
    first = _ask(law, FORCE, chi + FIRST * dchi, given, found)
    middle = _ask(law, FORCE, chi + MIDDLE * dchi, given, found)
    last = _ask(law, FORCE, chi + LAST * dchi, given, found)
    gauss = (5.0 * (first + last) + 8.0 * middle) / 18.0
    simpson = (start + 4.0 * middle + end) / 6.0
    largest = max(abs(start), abs(first), abs(middle), abs(last), abs(end))
    mean = gauss
    if abs(gauss - simpson) > ROUND_OFF * largest and dchi != 0.0:
        V0 = stored_by(acts, k, chi, given, found)
        V1 = stored_by(acts, k, chi + dchi, given, found)
        if abs(V1 - V0 - gauss * dchi) > ROUND_OFF * (abs(V0) + abs(V1)):
            mean = (V1 - V0) / dchi
    if abs(dchi) > SMALL * max(scale, abs(chi)):
        return mean, (end - mean) / dchi
    return mean, 0.5 * _ask(law, STIFFNESS, chi, given, found)


@kernel
def stored_by(acts: Acts, k: int, chi: float, given: Array, found: Array) -> float:
    """Return the energy of a spring."""
    if acts.places[k, LAW] == OF_POINTS:
        return _ask(acts.laws[k], ENERGY, chi, given, found)
    return _integral(acts.laws[k], acts.numbers[k, ORIGIN], chi, given, found)


@inline
def _ask(law: int, wanted: int, chi: float, given: Array, found: Array) -> float:
    given[0] = chi
    call_at(law, given.ctypes.data, found.ctypes.data, wanted)
    return float(found[0])


@kernel
def _integral(law: int, start: float, end: float, given: Array, found: Array) -> float:
    """Return the integral of a force, as `elastic.integral` does."""
    total, place, count, left = 0.0, 0, 1, HALVINGS
    while place < count:
        width = (end - start) / count
        a = start + place * width
        whole, _ = _lobatto(law, a, width, given, found)
        first, one = _lobatto(law, a, 0.5 * width, given, found)
        second, other = _lobatto(law, a + 0.5 * width, 0.5 * width, given, found)
        if left > 0 and abs(first + second - whole) > AGREED * (one + other):
            place, count, left = 2 * place, 2 * count, left - 1
        else:
            total, place = total + first + second, place + 1
            while count > 1 and place % 2 == 0:
                place, count = place // 2, count // 2
    return total


@kernel
def _lobatto(
    law: int, start: float, width: float, given: Array, found: Array
) -> tuple[float, float]:
    """Return the integral of a force over an interval, and the size of its terms."""
    total, size = 0.0, 0.0
    for i in range(10):
        term = WEIGHTS[i] * width * _ask(law, FORCE, start + POINTS[i] * width, given, found)
        total, size = total + term, size + abs(term)
    return total, size
