"""Families: parts of one kind in the compiled engine, with their tables and kernels.

The engine iterates over a tuple of families (`engine.families`) and knows none of them by name. A
family takes its parts from the mechanism, declares which nodes of the Newton matrix they couple,
and fills the table that its kernels read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.flexible import Elastic
from poinsot.frames.stacks import Forms
from poinsot.kernels.laws import Called
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.parts.contacts import Contact
from poinsot.parts.driven import Driven
from poinsot.parts.equations import Equations, group_equations
from poinsot.parts.feedback import Inlet
from poinsot.parts.potentials import Potential
from poinsot.parts.relaxation import MaxwellElement
from poinsot.parts.resistance import Damper
from poinsot.ph.matrices import Vector
from poinsot.ph.network import Attached

Real = NDArray[np.float64]
Indices = NDArray[np.intp]
Kernel: TypeAlias = Callable[..., Any]


class Kernels(NamedTuple):
    """The kernels of a family; those that it does not need are None.

    Each gets the table of the family first.

    Parameters
    ----------
    act : (table, step, tiles)
        Adds residuals to step.x, and their derivatives to tiles unless these are None.
    stabilised : (table, step, tiles)
        The same in the stabilised form.
    gaps : (table, state, kept, gap)
        Sets how far the gaps of constraints have grown, which the plain form takes back.
    begin : (table, state)
        Prepares for another run of Newton's method, on a step from that state.
    fold, unfold : (table, bodies, x)
        Eliminates the translations of condensed bodies from x, and recovers them.
    energy : (table, state, step)
        Returns the energy that its parts store [J].
    ended : (table, state, step)
        Tells whether some part cannot go on from there.
    accept : (table,)
        Goes on to the next step.
    place : (table, step)
        Places what follows from the motion of bodies over a step, before anything acts.
    end : (table, step, state)
        Sets at the end of a step what is not as for a rigid body.
    save : (table, x, mid)
        Writes states of its own, after a step and in its middle.
    backward : (table, by, step, mu, frames, by_u)
        Adds the derivatives of mu (nodes, 4) times residuals `act` by frames at the midpoint, and
        subtracts those by its numbers from the table `by`, those by inputs from `by_u` (inputs,),
        unless this is empty; see `engine.backward`.
    backward_stabilised : (table, by, step, mu, frames, by_u)
        The same of `stabilised`, but that nothing by frames is wanted.
    exactly : (table, step, tiles)
        The same as `act` and `stabilised`, with all derivatives, where these leave some out.
    start : (table, state)
        Sets what its parts remember of the start of a step, near what they remember already.
    recall : (table, state, x0, x1)
        Sets states of its own at both ends of a step from those of the run.
    begin_back : (table, step, lam, mu)
        Adds to mu what the gradient lam by its states after a step is by the unknowns of bodies.
    end_back : (table, by, step, lam, mu, frames, by_u)
        Makes lam by its states after a step that by those before it, once mu is the gradient by
        residuals; adds to the others like `backward`, and sets that by inputs that it reads.
    give_ends : (table, step, ends)
        Adds to `ends`, derivatives of mu times residuals by the unknowns of the step taken back.
    give_both : (table, step, ends)
        The same in the plain form, where `ends` are sums of those of the step and of the step taken
        back, one after the other.
    products : (table, step, products)
        Subtracts what the gradient by states after a step is by its numbers from products of nodes.
    """

    act: Kernel | None
    stabilised: Kernel | None = None
    gaps: Kernel | None = None
    begin: Kernel | None = None
    fold: Kernel | None = None
    unfold: Kernel | None = None
    energy: Kernel | None = None
    ended: Kernel | None = None
    accept: Kernel | None = None
    place: Kernel | None = None
    end: Kernel | None = None
    save: Kernel | None = None
    backward: Kernel | None = None
    backward_stabilised: Kernel | None = None
    exactly: Kernel | None = None
    start: Kernel | None = None
    recall: Kernel | None = None
    begin_back: Kernel | None = None
    end_back: Kernel | None = None
    give_ends: Kernel | None = None
    give_both: Kernel | None = None
    products: Kernel | None = None


@dataclass(frozen=True, eq=False)
class Assembly:
    """What families take their parts from.

    Potentials, dampers and ports of a mechanism of `count` bodies; the equations of its joints as
    `forms`, of which each joint has so many (`rows`), and as contacts, which each joint may have;
    its elastic bodies; the gradient of gravity (bodies, 3); Maxwell elements, whose strains begin
    in x at `strains_at`; networks at its ports.
    """

    count: int
    potentials: Sequence[Potential]
    dampers: Sequence[Damper]
    inlets: Sequence[Inlet]
    forms: Forms
    rows: Indices
    contacts: Sequence[Contact | None]
    elastic: Sequence[Elastic] = ()
    weight: Real | None = None
    relaxing: Sequence[MaxwellElement] = ()
    strains_at: int = 0
    networks: Sequence[Attached] = ()

    @cached_property
    def joints(self) -> Equations:
        """The equations of the joints, in groups of up to three, and those of drives."""
        driven = [driven.ends for _, driven in self.drives]
        return group_equations(self.forms, self.rows, self.contacts, driven)

    @property
    def ports(self) -> list[tuple[int, Inlet]]:
        """The first input of every port, and the port."""
        first = np.cumsum([0, *(inlet.size for inlet in self.inlets)]).tolist()
        return list(zip(first, self.inlets, strict=False))

    @property
    def drives(self) -> list[tuple[int, Driven]]:
        """The input of every relation that is driven, and the relation."""
        return [
            (port + k, driven)
            for port, inlet in self.ports
            for k, driven in enumerate(inlet.drives)
        ]


class Family(ABC):
    """Parts of one kind, taken from an assembly."""

    Table: ClassVar[type[Any]]
    kernels: ClassVar[Kernels]
    #: Whether its parts are more than joints: then power is taken from the last evaluation.
    loads: ClassVar[bool] = True
    #: Whether the derivatives of its residuals cost many times as much as these.
    costly: ClassVar[bool] = False
    #: Whether its equations are, but for their signs, those of the same step taken back: from its
    #: end with -h and impulses of the other sign. Then runs can be gone through backwards.
    reversible: ClassVar[bool] = True
    #: Whether they set inputs of ports: residuals are taken back with given inputs.
    closes: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, assembly: Assembly) -> None:
        """Take the parts of this kind."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of parts."""

    @property
    @abstractmethod
    def moved(self) -> Indices:
        """Bodies whose translation its parts meet, so that it must stay a node of the matrix."""

    @property
    def idle(self) -> Indices:
        """Bodies that are only carried along: nothing acts on them, and they need no nodes."""
        return np.zeros(0, dtype=np.intp)

    @abstractmethod
    def meet(self, graph: Graph) -> None:
        """Join the nodes that its parts meet."""

    @abstractmethod
    def table(self, graph: Graph, tiles: Tiles) -> Any:
        """Return the table that its kernels read."""

    @classmethod
    def by_hand(cls, *, stabilised: bool) -> bool:
        """Whether its residuals have derivatives by hand, in the plain form or the other."""
        found = cls.kernels.backward_stabilised if stabilised else cls.kernels.backward
        return found is not None or cls.closes

    @property
    def laws(self) -> list[Called | None]:
        """The law of every part, a function with an address, or None."""
        return []

    @property
    def dry(self) -> bool:
        """Whether dry friction is among its parts, which Newton's method finds hard."""
        return False

    @property
    def linear(self) -> bool:
        """Whether its equations are linear but for the turns of bodies."""
        return len(self) == 0

    @property
    def exact(self) -> bool:
        """Whether it adds all of its derivatives to the matrix."""
        return True

    @property
    def lacking(self) -> bool:
        """Whether a decoupled matrix lacks some of its derivatives."""
        return False

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:  # noqa: B027 - few do
        """Begin a run at q, in directors, and at angles of joints counted over turns [rad]."""

    def add_constants(  # noqa: B027 - few do
        self, template: Real, graph: Graph, tiles: Tiles, mass: Real
    ) -> None:
        """Add what does not change to the tiles (count + 1, 3, 3); masses of bodies [kg]."""


# -- tables ----------------------------------------------------------------------------------------


def index(*columns: ArrayLike) -> NDArray[np.uint32]:
    """Return columns, side by side, as a table of places."""
    return np.ascontiguousarray(np.column_stack([np.asarray(c) for c in columns]), dtype=np.uint32)


def real(*columns: ArrayLike) -> Real:
    """Return columns, side by side, as a table of numbers."""
    return np.ascontiguousarray(np.column_stack([np.asarray(c) for c in columns]), dtype=float)


def rows(each: Sequence[Sequence[float]], columns: int) -> Real:
    """Return rows as an array that has its columns even if there are none."""
    return np.array(each, dtype=float).reshape(-1, columns)


def addresses(laws: Sequence[Called | None]) -> NDArray[np.int64]:
    """Return where the laws are, 0 for none."""
    return np.array([0 if law is None else law.address for law in laws], dtype=np.int64)
