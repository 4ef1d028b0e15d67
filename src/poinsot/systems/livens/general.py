r"""Lagrangians in any coordinates, by the functions that define them.

.. math:: L(q, v) = \tfrac12\, v \cdot M(q)\, v + a(q) \cdot v - V(q)

Kinetic energies are quadratic in velocities or momenta, with a matrix that depends on q:
:math:`\tfrac12\, s \cdot K(q)\, s` with K the mass matrix and s = v, or its inverse and s = p - a.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.systems.livens import masses
from poinsot.systems.livens.lagrangian import Interval, Lagrangian, Push, Slopes
from poinsot.systems.livens.smooth import Field, OfPotentials, Smooth, chord, composed


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
        M(q); shape (n, n).
    potentials : sequence of Smooth
        Parts of V(q), one value each [J]; each has a discrete derivative of its own.
    constraints : Smooth
        g(q).
    inlets : Field
        B(q); as many columns as there are inputs.
    massless : (n,) of bool
        Which coordinates never have any mass.
    a : Smooth
        Terms a(q)·v of the Lagrangian; shape (n,). None: there are none.
    """

    name: str
    coordinates: Sequence[str]
    mass: Smooth
    potentials: Sequence[Smooth]
    constraints: Smooth
    inlets: Field
    massless: NDArray[np.bool_]
    a: Smooth | None = None

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
        return self.mass(q)

    def dM(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of M(q) a by q, a held fixed; shape (n, n)."""
        return self.mass.along(q, a)

    def momentum(self, q: Vector, v: Vector) -> Vector:
        """Return p = M(q) v + a(q)."""
        return self.M(q) @ v if self.a is None else self.M(q) @ v + self.a(q)

    def dp(self, q: Vector, v: Vector) -> Array:
        """Return the derivative of p by q, v held fixed; shape (n, n)."""
        return self.dM(q, v) if self.a is None else self.dM(q, v) + self.a.jacobian(q)

    def ddp(self, q: Vector, v: Vector, w: Vector) -> Array:
        """Return the second derivatives of w·p by q, v held fixed; shape (n, n)."""
        bent = self.mass.curvature(q, np.outer(w, v).reshape(-1))
        return bent if self.a is None else bent + self.a.curvature(q, w)

    def T(self, q: Vector, v: Vector) -> float:
        """Return v·M v / 2 + a·v [J]."""
        energy = self.kinetic_energy(q, v)
        return energy if self.a is None else energy + float(v @ self.a(q))

    def kinetic_energy(self, q: Vector, v: Vector) -> float:
        """Return v·M v / 2 [J]."""
        return float(v @ self.M(q) @ v) / 2

    def dT(self, q: Vector, v: Vector) -> Vector:
        """Return the derivative of T by q."""
        slope = v @ self.dM(q, v) / 2
        return slope if self.a is None else slope + v @ self.a.jacobian(q)

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

    def B(self, q: Vector) -> Array:
        """Return the port matrix."""
        return self.inlets(q)

    def dB(self, q: Vector, u: Vector) -> Array | None:
        """Return the derivative of B u by q."""
        return None if self.inlets.constant else self.inlets.along(q, u)

    def dy(self, q: Vector, v: Vector) -> Array | None:
        """Return the derivative of B^T v by q."""
        return None if self.inlets.constant else self.inlets.back(q, v)

    # -- Hamiltonian --------------------------------------------------------------------------

    @cached_property
    def _inverse(self) -> Smooth:
        return inverse(self.mass)

    def velocity(self, q: Vector, p: Vector) -> Vector:
        """Return v = M(q)^-1 (p - a)."""
        inverse = masses.require_inverse(self.name, self.coordinates, self.M(q))
        return np.asarray(inverse @ (p if self.a is None else p - self.a(q)))

    def co_T(self, q: Vector, p: Vector) -> float:
        """Return the kinetic energy as a function of q and p [J]."""
        return float((p if self.a is None else p - self.a(q)) @ self.velocity(q, p)) / 2

    # -- steps --------------------------------------------------------------------------------

    def kinetic(self, rule: Rule, q0: Vector, v0: Vector, q1: Vector, v1: Vector) -> Slopes:
        r"""Return the derivatives of T(q, v) over a step.

        Those of a·v are :math:`\bar\nabla a^\top v_m` by q, and the mean of a at both ends by v.
        """
        T = slopes(self.mass, self._known(rule), q0, v0, q1, v1)
        if self.a is None:
            return T
        a, v, mid = chord(rule, self.a, q0, q1), (v0 + v1) / 2, (q0 + q1) / 2
        if rule is Rule.MIDPOINT:
            mean, end = self.a(mid), a.jacobian
        else:
            mean, end = (self.a(q0) + self.a(q1)) / 2, self.a.jacobian(q1)
        return Slopes(
            by_q=T.by_q + v @ a.jacobian,
            by_s=T.by_s + mean,
            qq=T.qq + a.tangent(v),
            qs=T.qs + a.jacobian.T / 2,
            sq=T.sq + end / 2,
            ss=T.ss,
        )

    def cokinetic(self, rule: Rule, q0: Vector, p0: Vector, q1: Vector, p1: Vector) -> Slopes:
        r"""Return the derivatives of the kinetic energy as a function of q and p over a step.

        With s = p - a(q) they are those of :math:`\tfrac12 s \cdot M^{-1} s` by s, and by q with
        :math:`-\bar\nabla a^\top \bar\partial_s` more.
        """
        if self.a is None:
            return slopes(self._inverse, self._known(rule), q0, p0, q1, p1)
        a, mid = chord(rule, self.a, q0, q1), (q0 + q1) / 2
        if rule is Rule.MIDPOINT:
            starts, ends, end = self.a(mid), self.a(mid), a.jacobian
        else:
            starts, ends, end = self.a(q0), self.a(q1), self.a.jacobian(q1)
        T = slopes(self._inverse, self._known(rule), q0, p0 - starts, q1, p1 - ends)
        ss = dense(T.ss)
        sq = T.sq - ss @ end
        return Slopes(
            by_q=T.by_q - T.by_s @ a.jacobian,
            by_s=T.by_s,
            qq=T.qq - T.qs @ end - a.tangent(T.by_s) - a.jacobian.T @ sq,
            qs=T.qs - a.jacobian.T @ ss,
            sq=sq,
            ss=T.ss,
        )

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
            sizes=abs(h) * (abs(B) @ abs(u) + abs(dV)) + abs(mu) @ abs(G),
            inner=lambda: abs(tangent) @ abs(q1),
            u=u,
            y=(q1 - q0) @ B / h,
        )

    def _known(self, rule: Rule) -> Rule:
        if rule is Rule.MEAN_LEVER_ARMS:
            raise InputError(
                f"system '{self.name}': mean lever arms are available for models in quaternions "
                "only; use 'eml' or 'emh'"
            )
        return rule

    # -- steps with velocity constraints as well, see `StabilisedStages` ----------------------

    def since(self, q: Vector) -> Self:
        """Return the same: quadratic constraints change by their slope at the midpoint."""
        return self

    @property
    def positions(self) -> int:
        """All constraints."""
        return self.m

    def gap(self, q: Vector) -> Vector:
        """Return the constraints."""
        return self.g(q)

    def discrete_dV(self, q0: Vector, q1: Vector) -> tuple[Vector, Array]:
        """Return the discrete gradient of V over a step, and its derivative by q1."""
        steps = [chord(Rule.DISCRETE, part, q0, q1) for part in self.potentials]
        dV = sum((step.jacobian[0] for step in steps), np.zeros(self.n))
        return dV, sum((step.tangent(np.ones(1)) for step in steps), np.zeros((self.n, self.n)))

    def dloads(
        self, t: float, q: Vector, v: Vector, u: Vector
    ) -> tuple[Sequence[Array], Sequence[Array]]:
        """Return the derivative of B u by q, if there is one; nothing depends on v."""
        dB = self.dB(q, u)
        return ([] if dB is None else [dB]), []

    def inner(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the sizes of what cancels inside of forces."""
        stiffness = abs(self.ddV(q)) @ abs(q)
        return np.asarray(sum((abs(dB) @ abs(q) for dB in self.dloads(t, q, v, u)[0]), stiffness))

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
                "the coordinates are singular within this step, at q = "
                f"{np.array2string(q, precision=4, suppress_small=True)}, M has the eigenvalue "
                f"{found.eigenvalue:.3g} along {found.along}, and its rank decreases; use other "
                "coordinates for this motion"
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
            f"{found.along}, its largest one is {found.largest:.3g}; use other coordinates for "
            "this motion)"
        )


def slopes(K: Smooth, rule: Rule, q0: Vector, s0: Vector, q1: Vector, s1: Vector) -> Slopes:
    r"""Return the partitioned discrete derivatives of T over a step [KB24, eq. (129)-(131)].

    T is quadratic in s, so that the discrete derivative by s is that at the middle,
    :math:`\bar\partial_s T = \tfrac12 (K(q_0) + K(q_1))\, s_m`, and the one by q is Gonzalez' one
    of :math:`\tfrac14 (s_0 \cdot K s_0 + s_1 \cdot K s_1)`.
    """
    n, s = q0.size, (s0 + s1) / 2
    if K.constant:
        K0, none = K(q0), np.zeros((n, n))
        return Slopes(np.zeros(n), K0 @ s, none, none, none, K0 / 2)
    step = chord(rule, K, q0, q1)
    dK = step.jacobian.reshape(n, n, n)
    if rule is Rule.MIDPOINT:
        middle, pairs = K((q0 + q1) / 2), np.outer(s, s).reshape(-1)
        sq = np.einsum("ijk,j->ik", dK, s) / 2
        qs = sq.T
    else:
        middle = (K(q0) + K(q1)) / 2
        pairs = (np.outer(s0, s0) + np.outer(s1, s1)).reshape(-1) / 2
        sq = K.along(q1, s) / 2
        qs = np.einsum("ijk,j->ki", dK, s1) / 2
    return Slopes(
        by_q=pairs @ step.jacobian / 2,
        by_s=middle @ s,
        qq=step.tangent(pairs) / 2,
        qs=qs,
        sq=sq,
        ss=middle / 2,
    )


def inverse(K: Smooth) -> Smooth:
    """Return the inverse of a symmetric matrix of q; NaN where it is not positive definite.

    It is a function of the same invariants.
    """
    if K.through is not None:
        return composed(K.through.pi, inverse(K.through.outer))
    size = K.shape[0]

    def value(q: Vector) -> Array:
        return masses.inverse_of(K(q))

    def jacobian(q: Vector) -> Array:
        N = value(q)
        return np.asarray(np.moveaxis(-N @ np.moveaxis(K.jacobian(q), 2, 0) @ N, 0, 2))

    def curvature(q: Vector, w: Vector) -> Array:
        n, N, W = q.size, value(q), w.reshape(size, size)
        dK, A = np.moveaxis(K.jacobian(q), 2, 0), N @ ((W + W.T) / 2) @ N
        # The second derivatives of N are 2 N K_k N K_l N - N K_kl N, paired with W.
        traces = (A @ dK).reshape(n, -1) @ np.swapaxes(N @ dK, 1, 2).reshape(n, -1).T
        return np.asarray(2 * traces - K.curvature(q, A.reshape(-1)))

    quadratic = np.full(K.size, K.constant)
    return replace(K, value=value, jacobian=jacobian, curvature=curvature, quadratic=quadratic)
