r"""A configuration of a mechanism by coordinates of its joints, and Jacobians there.

Of the twists of bodies that move with independent coordinates, :math:`w = W(\chi)\, \dot\chi`,

.. math:: \begin{bmatrix} v \\ \omega \end{bmatrix} = J(\chi)\, \dot\chi, \qquad
          M(\chi) = W^\top M W .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot.errors import InputError, did_you_mean
from poinsot.frames.places import frame_vectors, local
from poinsot.parts.coordinates import of_joint
from poinsot.ph.matrices import Array, Vector
from poinsot.so3 import skew
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.kinematics.driving import Driving
from poinsot.systems.kinematics.rotors import Rotor

#: What the ground is called.
GROUND = "ground"


@dataclass(frozen=True, eq=False)
class Configuration:
    """Where the bodies of a model are at given coordinates of joints.

    Parameters
    ----------
    system : DirectorSystem
        The mechanism.
    names : tuple of str
        The independent coordinates, `"joint"` or `"joint.freedom"`: columns of Jacobians.
    rotors : tuple of Rotor
        Inertias on coordinates of joints, which have a share in the mass matrix.
    """

    system: DirectorSystem
    names: tuple[str, ...]
    driving: Driving
    rotors: tuple[Rotor, ...] = ()

    def __repr__(self) -> str:
        """One line."""
        return f"<Configuration of '{self.system.name}': {', '.join(map(repr, self.names))}>"

    @cached_property
    def _frames(self) -> dict[str, tuple[int, Vector, Array]]:
        """Body, point and axes of every body and marker, in director axes."""
        layout = self.system.layout
        found: dict[str, tuple[int, Vector, Array]] = {}
        for marker in layout.markers:
            found[marker.name] = marker.body.index, marker.X, marker.R_PM
        for k, name in enumerate(layout.bodies):
            found[name] = k, np.zeros(3), layout.R_BP[k].T
        return found

    def _frame(self, name: str) -> tuple[Vector, Array, Array]:
        """Return point, axes and motion (6, k) of a body, a marker or the ground, world axes."""
        k = self.driving.place.sizes.size
        if name == GROUND:
            return np.zeros(3), np.eye(3), np.zeros((6, k))
        if name not in self._frames:
            raise InputError(
                f"no body or marker '{name}'; {did_you_mean(name, [*self._frames, GROUND])}"
            )
        body, X, R = self._frames[name]
        place = self.driving.place
        phi, d = frame_vectors(place.f)[body, 0], frame_vectors(place.f)[body, 1:]
        arm = X @ d
        motion = np.zeros((6, 6 * len(place.turns)))
        motion[:, 6 * body : 6 * body + 6] = np.eye(6)
        motion[:3, 6 * body + 3 : 6 * body + 6] = -skew(arm)
        return phi + arm, d.T @ R, np.asarray(place.twists.by(motion))

    def position(self, body: str) -> Vector:
        """Return where a body or marker is [m], world axes; (3,)."""
        return self._frame(body)[0]

    def rotation(self, body: str) -> Array:
        """Return the rotation R_WB of a body or marker; (3, 3)."""
        return self._frame(body)[1]

    def coordinates(self, joint: str) -> dict[str, float]:
        """Return angles over turns [rad] and displacements [m] of a joint by name."""
        joints = {place.name: place.joint for place in self.system.layout.joints}
        if joint not in joints:
            raise InputError(f"no joint '{joint}'; {did_you_mean(joint, joints)}")
        place, found = self.driving.place, {}
        for free in joints[joint].freedoms():
            at = of_joint(joint, joints, free.label, "coordinates")
            chart = at.chart.near(place.angles)
            found[free.label] = chart.value(at.forms(local(place.f, at.bodies)))
        return found

    def jacobian(self, frame: str, *, relative_to: str = GROUND, axes: str = GROUND) -> Array:
        """Return what a frame moves by with each coordinate; (6, coordinates).

        The first three rows are the velocity of its origin as seen from another frame [m/s], the
        last three its angular velocity relative to that [rad/s], for rates of one [rad/s or m/s].

        Parameters
        ----------
        frame : str
            A body, whose origin is its centre of mass, or a marker.
        relative_to : str
            The body or marker that it is seen from, which may move itself.
        axes : str
            The body or marker in whose axes the rows are given; those of the world by default.
        """
        here, there = self._frame(frame), self._frame(relative_to)
        motion = here[2] - there[2]
        # v - v_a - omega_a x (r - r_a)
        motion[:3] += skew(here[0] - there[0]) @ there[2][3:]
        R = self._frame(axes)[1].T
        return np.vstack([R @ part for part in (motion[:3], motion[3:])]) @ self.driving.motions

    def mass_matrix(self) -> Array:
        r"""Return M of the kinetic energy :math:`\dot\chi^\top M \dot\chi / 2`.

        (coordinates, coordinates), [kg m^2] of angles, [kg] of displacements.
        """
        W, place = self.driving.motions, self.driving.place
        M = W.T @ place.masses() @ W
        for rotor in self.rotors:
            rate = rotor.row(place) @ W
            M = M + rotor.inertia * np.outer(rate, rate)
        return np.asarray(M)
