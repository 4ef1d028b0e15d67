"""Controllers in a model file, as a table of their kinds."""

from pydantic import Field

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import Name, Number, Numbers
from poinsot.io.systems import Rows


class Controller(Part):
    """What measures quantities and feeds ports."""

    reads: list[Name]
    """Channels to read, such as hinge or rod.position."""
    drives: list[Name] | None = None
    """Ports whose inputs it sets: port, system.port, joint or joint.freedom."""
    outputs: int | None = None
    """Number of outputs, if more than the ports take; the others are for other controllers."""
    every: Number | None = None
    """Sampling time [s], a multiple of the step; default: continuous time."""
    delay: Number | None = None
    """Time between a sample and its output [s]."""
    limits: Numbers | Rows | None = None
    """Smallest and largest output, or such a pair for each output."""
    rate_limits: Number | Numbers | None = None
    """Largest change of an output per second, or such a number for each output."""


class FormulaLaw(Controller):
    """Formulas of t, of what is read (hinge.rate is hinge_rate) and of states."""

    law: str | list[str]
    """A formula for each output, then one for each state: at the next sample, or its rate."""
    states: dict[str, Number] | None = None
    """Names of states, and their initial values."""


class StateSpace(Controller):
    """x' = A x + B y, u = C x + D y; exact for y that is held from sample to sample."""

    A: Rows
    """State matrix, row by row."""
    B: Rows
    """Input matrix, one column for each measured value."""
    C: Rows
    """Output matrix, a row for each output."""
    D: Rows | None = None
    """Feed-through; default: none."""
    dt: Number | None = None
    """Sampling time of matrices in discrete time [s]; default: continuous time."""
    states: Numbers | None = None
    """Initial states; default: zero."""


class FMU(Part):
    """An FMU of another program, by co-simulation."""

    file: str
    """Path relative to the folder of the model file."""
    every: Number
    """Communication step [s], a multiple of the step."""
    reads: dict[str, Name] = Field(default_factory=dict)
    """Input of the FMU -> channel to read."""
    drives: dict[str, str] = Field(default_factory=dict)
    """Port -> output of the FMU that drives it; `-torque` reverses its sign."""
    outputs: list[str] | None = None
    """Further outputs, for other controllers."""
    parameters: dict[str, Number] | None = None
    """Parameters, and values of inputs that read no channel."""


class Controllers(OneOf):
    """The kinds of controllers."""

    formula: FormulaLaw | None = None
    state_space: StateSpace | None = None
    fmu: FMU | None = None
