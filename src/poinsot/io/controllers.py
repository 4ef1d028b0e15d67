"""Controllers in a model file, as a table of their kinds."""

from pydantic import Field

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import Name, Number, Numbers
from poinsot.io.systems import Rows


class Controller(Part):
    """What measures quantities and feeds ports."""

    reads: list[Name]
    """Channels that it measures, such as hinge or rod.position."""
    drives: list[Name] | None = None
    """Ports that it feeds: port, system.port, joint or joint.freedom."""
    outputs: int | None = None
    """How many numbers it puts out, if more than the ports take; those are for others to read."""
    every: Number | None = None
    """Time between samples [s], a multiple of the step; default: continuous time."""
    delay: Number | None = None
    """How long after a sample its outputs act [s]."""
    limits: Numbers | Rows | None = None
    """Least and greatest output; or such a pair for each."""
    rate_limits: Number | Numbers | None = None
    """By how much an output may change in a second; or such a number for each."""


class FormulaLaw(Controller):
    """Formulas of t, of what is read (hinge.rate is hinge_rate) and of states."""

    law: str | list[str]
    """A formula for each output, then one for each state: at the next sample, or its rate."""
    states: dict[str, Number] | None = None
    """Names of states, and their values at the start."""


class StateSpace(Controller):
    """x' = A x + B y, u = C x + D y; exact for y that is held from sample to sample."""

    A: Rows
    """State matrix, row by row."""
    B: Rows
    """Input matrix, a column for each measured number."""
    C: Rows
    """Output matrix, a row for each output."""
    D: Rows | None = None
    """Feed-through; default: none."""
    dt: Number | None = None
    """Time between samples of matrices of discrete time [s]; default: continuous time."""
    states: Numbers | None = None
    """States at the start; default: zero."""


class FMU(Part):
    """An FMU of another program, by co-simulation."""

    file: str
    """Its path, from the folder of this file."""
    every: Number
    """Communication step [s], a multiple of the step."""
    reads: dict[str, Name] = Field(default_factory=dict)
    """Channels that its inputs read: the name of an input, then the channel."""
    drives: dict[str, str] = Field(default_factory=dict)
    """Ports, and the outputs that drive them; `-torque` is one with the opposite sign."""
    outputs: list[str] | None = None
    """Outputs for others to read."""
    parameters: dict[str, Number] | None = None
    """Parameters, and start values of inputs that read nothing."""


class Controllers(OneOf):
    """The kinds of controllers."""

    formula: FormulaLaw | None = None
    state_space: StateSpace | None = None
    fmu: FMU | None = None
