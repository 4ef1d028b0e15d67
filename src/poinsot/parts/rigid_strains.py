r"""Elements of rods that do not shear or stretch: strains that are held by constraints.

Displacements along a helix (`frames.relative`) are rational in the frames of both sections. What
they are made of, x and :math:`S_{ij} = a_i \cdot b_j`, is quadratic, and so is

.. math:: x - \tfrac16 (S + S^\top)\, u = \tfrac23\, u ,

which holds where the displacement is u, but for a share theta^4/180 of a turn by theta: it is
:math:`\sin\theta / \theta \approx (2 + \cos\theta)/3`. One component of it keeps one strain, as
exactly as any joint.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body
from poinsot.frames.forms import Form, VectorForm
from poinsot.parts.joint import Joint, Row

#: What the components of a displacement are.
LABELS = "shear 1", "shear 2", "extension"
#: What each may be called by users, and the components that it holds.
RIGID = {"shear": (0, 1), "extension": (2,)}


@dataclass(frozen=True, kw_only=True)
class _StrainRow(Row):
    """One component, with axes `a` on A and `along` on B; `b` leads from A to B, `back` back."""

    along: VectorForm
    back: VectorForm
    displaced: tuple[VectorForm, VectorForm]
    value: float = 0.0

    @property
    def form(self) -> Form:
        """The equation as a quadratic form."""
        u_A, u_B = self.displaced
        return Form(
            (
                (0.5, self.a, self.b),
                (-0.5, self.along, self.back),
                (-1 / 6, self.a, u_B),
                (-1 / 6, u_A, self.along),
            ),
            -self.value,
        )


@dataclass(frozen=True, eq=False)
class RigidStrains(Joint):
    """What holds two sections of a rod in some directions: its strains there are those at start.

    Parameters
    ----------
    a, b : Body
        The sections.
    displacement : (3,)
        u from one to the other, in the axes of the sections [m].
    components : tuple of int
        Which of its components: two shears and the extension.
    """

    displacement: ArrayLike
    components: tuple[int, ...]

    def __post_init__(self) -> None:
        """Nothing to check: rods make these joints."""

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The centres of both sections."""
        return self.a.on(self.a.position), self.b.on(self.b.position)

    def rows(self) -> tuple[Row, ...]:
        """One for each component."""
        ends = [end for end in (self.a, self.b) if isinstance(end, Body)]
        on_a, on_b = self.origin
        frames = {end.index: end.frame for end in ends}
        u = np.asarray(self.displacement, dtype=float)
        u_A, u_B = (end.along(end.R_WB @ u) for end in ends)
        rows = []
        for i in self.components:
            a, b = (end.along(end.R_WB[:, i]) for end in ends)
            row = _StrainRow(
                LABELS[i], a, on_b - on_a, along=b, back=on_a - on_b, displaced=(u_A, u_B)
            )
            rows.append(replace(row, value=row.form.at(frames)))
        return tuple(rows)
