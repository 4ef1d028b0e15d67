"""Lagrangians of any coordinates, by the functions that make them up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.systems.livens import forms, masses
from poinsot.systems.livens.chords import chord
from poinsot.systems.livens.lagrangian import Hessian, Interval, Lagrangian, Push, Slopes
from poinsot.systems.livens.smooth import Array, OfPotentials, Smooth


@dataclass(frozen=True, eq=False)
class GeneralLagrangian(OfPotentials, Lagrangian):
    """A Lagrangian with discrete derivatives by Gonzalez [KB24, app. A].

    Parameters
    ----------
    name : str
        Name of the system, for messages.
    coordinates : sequence of str
        Their names.
    mass : Smooth
        M(q), row by row.
    potentials : sequence of Smooth
        Parts of V(q), one value each [J]; each has a discrete derivative of its own.
    constraints : Smooth
        g(q).
    inlets : Smooth
        B(q), row by row; as many columns as there are inputs.
    massless : (n,) of bool
        Which coordinates never have any mass.
    """

    name: str
    coordinates: Sequence[str]
    mass: Smooth
    potentials: Sequence[Smooth]
    constraints: Smooth
    inlets: Smooth
    massless: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def m(self) -> int:
        """Number of constraints."""
        return self.constraints.size

    # -- energies -----------------------------------------------------------------------------

    def M(self, q: Vector) -> Array:
        """Return the mass matrix."""
        return forms.matrix(self.mass, q)

    def dM(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of M(q) a by q, a held fixed; shape (n, n)."""
        return np.asarray(np.einsum("ijk,j->ik", forms.derivative(self.mass, q), a))

    def dT(self, q: Vector, v: Vector) -> Vector:
        """Return the derivative of T by q."""
        return v @ self.dM(q, v) / 2

    def ddT(self, q: Vector, v: Vector) -> Hessian:
        """Return the second derivatives of T."""
        qq = self.mass.curvature(q, np.outer(v, v).reshape(-1)) / 2
        return Hessian(qq, self.dM(q, v).T, self.M(q))

    # -- constraints and ports ----------------------------------------------------------------

    def g(self, q: Vector) -> Vector:
        """Return the constraints."""
        return self.constraints.value(q)

    def G(self, q: Vector) -> Array:
        """Return the Jacobian of the constraints."""
        return self.constraints.jacobian(q)

    def curvature(self, q: Vector, lam: Vector) -> Array:
        """Return the derivative of G^T lam by q."""
        return self.constraints.curvature(q, lam)

    def slope(self, q: Vector, v: Vector) -> Array:
        """Return the derivative of G v by q, constraint by constraint."""
        rows = [self.constraints.curvature(q, unit) @ v for unit in np.eye(self.m)]
        return np.array(rows).reshape(self.m, self.n)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self.inlets.size // self.n

    def B(self, q: Vector) -> Array:
        """Return the port matrix."""
        return self.inlets.value(q).reshape(self.n, self.inputs)

    def _dB(self, q: Vector) -> Array:
        return self.inlets.jacobian(q).reshape(self.n, self.inputs, self.n)

    def dB(self, q: Vector, u: Vector) -> Array | None:
        """Return the derivative of B u by q."""
        return None if self.inlets.constant else np.einsum("iak,a->ik", self._dB(q), u)

    def dy(self, q: Vector, v: Vector) -> Array | None:
        """Return the derivative of B^T v by q."""
        return None if self.inlets.constant else np.einsum("iak,i->ak", self._dB(q), v)

    # -- Hamiltonian --------------------------------------------------------------------------

    @cached_property
    def _inverse(self) -> Smooth:
        return forms.inverse(self.mass, masses.inverse_of)

    def velocity(self, q: Vector, p: Vector) -> Vector:
        """Return v = M(q)^-1 p."""
        return np.asarray(masses.require_inverse(self.name, self.coordinates, self.M(q)) @ p)

    # -- steps --------------------------------------------------------------------------------

    def kinetic(self, rule: Rule, q0: Vector, v0: Vector, q1: Vector, v1: Vector) -> Slopes:
        """Return the derivatives of T(q, v) over a step."""
        return forms.slopes(self.mass, self._known(rule), q0, v0, q1, v1)

    def cokinetic(self, rule: Rule, q0: Vector, p0: Vector, q1: Vector, p1: Vector) -> Slopes:
        """Return the derivatives of T as a function of q and p over a step."""
        return forms.slopes(self._inverse, self._known(rule), q0, p0, q1, p1)

    def push(self, rule: Rule, step: Interval, mu: Vector) -> Push:
        """Return what potential, ports and constraints do; ports act at the midpoint."""
        h, u, q0, q1 = step.h, step.u, step.q0, step.q1
        g = chord(rule, self.constraints, q0, q1)
        dV, G, B = np.zeros(self.n), g.jacobian, self.B(step.middle)
        tangent = np.zeros((self.n, self.n))
        for part in self.potentials:
            V = chord(rule, part, q0, q1)
            dV, tangent = dV + V.jacobian[0], tangent - h * V.tangent(np.ones(1))
        if self.m:
            tangent = tangent - g.tangent(mu)
        dB = self.dB(step.middle, u)
        if dB is not None:
            tangent = tangent + h / 2 * dB
        return Push(
            impulse=h * (B @ u - dV) - mu @ G,
            tangent=tangent,
            G=G,
            sizes=h * (abs(B) @ abs(u) + abs(dV)) + abs(mu) @ abs(G),
            u=u,
            y=(q1 - q0) @ B / h,
        )

    def _known(self, rule: Rule) -> Rule:
        if rule is Rule.MEAN_LEVERS:
            raise InputError(
                f"system '{self.name}': mean rotations are those of a model in quaternions; use "
                "'eml' or 'emh'"
            )
        return rule

    # -- checks -------------------------------------------------------------------------------

    def check(self, q: Vector, v: Vector) -> None:
        """Refuse a start with an impossible M, or without energy."""
        masses.require_mass(self.name, self.coordinates, self.M(q), " at the start")
        self._require_finite(q, "at the start")

    def _require_finite(self, q: Vector, where: str) -> None:
        for what, values in (("V", np.array([self.V(q)])), ("g", self.g(q))):
            if not np.all(np.isfinite(values)):
                raise InputError(
                    f"system '{self.name}': {what} is {values[~np.isfinite(values)][0]} {where}, "
                    f"q = {np.array2string(q, precision=6)}"
                )

    def watch(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step on which M loses rank, or is no mass, or energy is not there."""
        self._require_finite(q1, "after this step")
        if self.mass.constant:
            return
        masses.require_mass(self.name, self.coordinates, self.M(q1), " after this step")
        size = np.sqrt(np.diag(self.M(q0)))
        scale = np.where(size > 0, size, 1.0)

        def at(s: float) -> Array:
            q = q0 + s * (q1 - q0)
            return masses.eigenvalues(self.M(q), self.G(q), scale)

        where = masses.where_lost(at)
        if where is not None:
            q = q0 + where * (q1 - q0)
            found = masses.weakest(self.coordinates, self.M(q), self.G(q))
            assert found is not None
            raise InputError(
                "a coordinate singularity is reached: within this step, at q = "
                f"{np.array2string(q, precision=4, suppress_small=True)}, M has the eigenvalue "
                f"{found.eigenvalue:.3g} along {found.along}, and its rank is less than before; "
                "describe the motion by other coordinates there"
            )

    def diagnose(self, q0: Vector) -> str:
        """Return that M is nearly singular on the free directions, if it is."""
        M = self.M(q0)
        if not np.all(np.isfinite(M)):
            return ""
        found = masses.weakest(self.coordinates, M, self.G(q0))
        if found is None or found.eigenvalue > masses.SMALL * found.largest:
            return ""
        return (
            f" (near a coordinate singularity: M has the eigenvalue {found.eigenvalue:.3g} along "
            f"{found.along}, its largest one is {found.largest:.3g}; describe the motion by other "
            "coordinates there)"
        )
