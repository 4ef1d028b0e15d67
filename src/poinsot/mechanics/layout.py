"""Who is who in the numbers of a mechanism: names of bodies and joints, and where they are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.bodies import Body, Marker
from poinsot.mechanics.forms import VectorForm
from poinsot.mechanics.joints import Freedom, Joint

#: Rigidity constraints of a body.
RIGIDITY = 6


@dataclass(frozen=True, eq=False)
class JointPlace:
    """A joint: the indices of its bodies (the ground is -1), its point on either, its rows.

    `rows` index the constraints of the mechanism; repeated ones that were left out are missing, and
    `complete` is then False.
    """

    name: str
    a: int
    b: int
    origin: tuple[VectorForm, VectorForm]
    freedoms: tuple[Freedom, ...]
    rows: NDArray[np.intp]
    complete: bool


@dataclass(frozen=True, eq=False)
class MarkerPlace:
    """A marker: its body, its point X and its axes R_PM in director axes."""

    name: str
    body: int
    X: NDArray[np.float64]
    R_PM: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names of bodies in order, their principal axes R_BP (bodies, 3, 3), and the joints."""

    bodies: tuple[str, ...]
    R_BP: NDArray[np.float64]
    joints: tuple[JointPlace, ...]
    markers: tuple[MarkerPlace, ...] = ()

    @classmethod
    def of(
        cls,
        bodies: Sequence[Body],
        joints: Mapping[str, Joint],
        kept: Sequence[str],
        markers: Sequence[Marker] = (),
    ) -> "Layout":
        """Return the layout; `kept` names the joint of every constraint row behind the rigidity."""
        owners = np.array(kept, dtype=object)
        first = RIGIDITY * len(bodies)
        places = []
        for name, joint in joints.items():
            rows = first + np.flatnonzero(owners == name)
            complete = rows.size == len(joint.rows())
            places.append(
                JointPlace(
                    name,
                    joint.a.index,
                    joint.b.index,
                    joint.origin,
                    joint.freedoms(),
                    rows,
                    complete,
                )
            )
        return cls(
            tuple(body.name for body in bodies),
            np.array([body.principal.R_BP for body in bodies]),
            tuple(places),
            tuple(MarkerPlace(m.name, m.body.index, m.X, m.R_PM) for m in markers),
        )

    @property
    def joint_sizes(self) -> dict[str, int]:
        """Number of multipliers of every joint."""
        return {joint.name: joint.rows.size for joint in self.joints}
