r"""Configurations of a mechanism for given joint coordinates, and their Jacobians.

With the twists of bodies for the rates of independent coordinates, :math:`w = W(\chi)\, \dot\chi`,

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
    """Positions of all bodies of a model at given joint coordinates; see `Model.configuration`.

    Attributes
    ----------
    system : DirectorSystem
        The mechanism.
    names : tuple of str
        The independent coordinates, `"joint"` or `"joint.freedom"`: columns of Jacobians.
    rotors : tuple of Rotor
        Rotors on joint coordinates, which contribute to the mass matrix.
    """

    system: DirectorSystem
    names: tuple[str, ...]
    driving: Driving
    rotors: tuple[Rotor, ...] = ()

    def __repr__(self) -> str:
        """Return one line of text."""
        return f"<Configuration of '{self.system.name}': {', '.join(map(repr, self.names))}>"

    @cached_property
    def _frames(self) -> dict[str, tuple[int, Vector, Array]]:
        """Body, origin and axes of every body and marker, in director axes."""
        layout = self.system.layout
        found: dict[str, tuple[int, Vector, Array]] = {}
        for marker in layout.markers:
            found[marker.name] = marker.body.index, marker.X, marker.R_PM
        for k, name in enumerate(layout.bodies):
            found[name] = k, np.zeros(3), layout.R_BP[k].T
        return found

    def _frame(self, name: str) -> tuple[Vector, Array, Array]:
        """Return origin, axes and motion (6, k) of a body, a marker or the ground, world axes."""
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
        """Return the position of a body or marker [m], world axes; (3,)."""
        return self._frame(body)[0]

    def rotation(self, body: str) -> Array:
        """Return the rotation matrix R_WB of a body or marker; (3, 3)."""
        return self._frame(body)[1]

    def coordinates(self, joint: str) -> dict[str, float]:
        """Return the coordinates of a joint, angles [rad] and displacements [m], by name."""
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
        """Return the Jacobian of a frame with respect to the independent coordinates; (6, n).

        The first three rows are the velocity of its origin [m/s], the last three the angular
        velocity [rad/s], per unit rate of each coordinate [rad/s or m/s].

        Parameters
        ----------
        frame : str
            A body, whose origin is its centre of mass, or a marker.
        relative_to : str
            Body or marker relative to which velocities are measured; it may move itself. Default:
            the ground.
        axes : str
            Body or marker in whose axes the rows are given. Default: the world axes.
        """
        here, there = self._frame(frame), self._frame(relative_to)
        motion = here[2] - there[2]
        # v - v_a - omega_a x (r - r_a)
        motion[:3] += skew(here[0] - there[0]) @ there[2][3:]
        R = self._frame(axes)[1].T
        return np.vstack([R @ part for part in (motion[:3], motion[3:])]) @ self.driving.motions

    def mass_matrix(self) -> Array:
        r"""Return M of the kinetic energy :math:`\dot\chi^\top M \dot\chi / 2`.

        Shape (n, n) for n coordinates; entries in kg m^2 for angles, kg for displacements.
        """
        W, place = self.driving.motions, self.driving.place
        M = W.T @ place.masses() @ W
        for rotor in self.rotors:
            rate = rotor.row(place) @ W
            M = M + rotor.inertia * np.outer(rate, rate)
        return np.asarray(M)
