"""Lagrangians L(q, v) as a whole: split where they are quadratic in v, as they are otherwise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError
from poinsot.ph.expressions import Reader, symbolic
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem
from poinsot.systems.livens.expressions import smooth
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.lagrangian import Slopes
from poinsot.systems.livens.smooth import Smooth, chord


@dataclass(frozen=True)
class Split:
    """L(q, v) = v·M(q) v / 2 + a(q)·v - V(q), or T(q, v) - V(q) where it is not `quadratic` in v.

    V is -L(q, 0), and M and a are taken at rest.
    """

    q: Sequence[Any]
    v: Sequence[Any]
    L: Any
    V: Any
    a: Any
    M: Any
    quadratic: bool

    @classmethod
    def of(cls, read: Reader, q: Sequence[Any], v: Sequence[Any], L: Any) -> "Split":
        """Return a user's Lagrangian, split."""
        v = read.symbols("v", v)
        if len({*q, *v}) < len(q) + len(v) or len(v) != len(q):
            raise InputError(
                f"system '{read.name}': v is {v!r}; give a separate symbol for each of the "
                f"{len(q)} velocities"
            )
        L = read.column("L", [L], [*q, *v])[0]
        M, rest = sympy.hessian(L, v), dict.fromkeys(v, 0)
        V, a, at_rest = -L.subs(rest), [sympy.diff(L, rate).subs(rest) for rate in v], M.subs(rest)
        for what in (V, *a, *at_rest):
            if what.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
                raise InputError(
                    f"system '{read.name}': L or a derivative of it is infinite at v = 0; "
                    "L must be smooth at v = 0, which velocities pass through"
                )
        quadratic = not sympy.simplify(M - at_rest).free_symbols & set(v)
        return cls(q, v, L, V, a, at_rest, quadratic)

    def system(
        self,
        name: str,
        g: Any,
        B: Any,
        ports: Sequence[Port],
        units: Mapping[str, str] | None,
    ) -> Callable[[], PHSystem]:
        """Return what makes the form x = (q, v, lam) of all derivatives [LKB26, eqs. (8)-(11)]."""
        q, v, L, n, m = self.q, self.v, self.L, len(self.q), g.rows
        lam = [sympy.Dummy(f"lam{k}") for k in range(m)]
        p, rates, G = sympy.Matrix([L]).jacobian(v).T, sympy.Matrix(v), g.jacobian(q)
        D, none = p.jacobian(q), sympy.zeros
        identity = sympy.eye(n)
        force = D.T * rates - sympy.Matrix([L]).jacobian(q).T
        E = sympy.diag(identity, p.jacobian(v), none(m, m))
        blocks = (
            (none(n, n), identity, none(n, m)),
            (-identity, D.T - D, -G.T),
            (none(m, n), G, none(m, m)),
        )
        J = sympy.Matrix.vstack(*(sympy.Matrix.hstack(*row) for row in blocks))
        states = {"q": q, "v": v, **({"lam": lam} if m else {})}
        return lambda: symbolic(
            name,
            states=states,
            H=p.dot(rates) - L,
            J=J,
            E=E,
            z=[*force, *v, *lam],
            B=sympy.Matrix.vstack(none(n, B.cols), B, none(m, B.cols)),
            ports=ports,
            units={key: unit for key, unit in (units or {}).items() if key in states},
        )


@dataclass(frozen=True, eq=False)
class NonquadraticLagrangian(GeneralLagrangian):
    """One whose T(q, v) is any function of both; `mass` and `a` are those at rest.

    Its derivative over a step is that of a function of (q, v).
    """

    both: Smooth = field(kw_only=True)

    @classmethod
    def of(cls, split: Split, **parts: Any) -> "NonquadraticLagrangian":
        """Return it, given what has to do with q alone."""
        n = len(split.q)
        T = smooth([*split.q, *split.v], [split.L + split.V])
        return cls(
            **parts,
            mass=smooth(split.q, split.M, (n, n)),
            potentials=[smooth(split.q, [split.V])],
            massless=np.zeros(n, dtype=bool),
            both=T,
        )

    def _gradient(self, q: Vector, v: Vector) -> Vector:
        return np.asarray(self.both.jacobian(np.concatenate([q, v]))[0])

    def momentum(self, q: Vector, v: Vector) -> Vector:
        """Return p = dL/dv."""
        return self._gradient(q, v)[self.n :]

    def T(self, q: Vector, v: Vector) -> float:
        """Return L + V [J]."""
        return float(self.both(np.concatenate([q, v]))[0])

    def kinetic_energy(self, q: Vector, v: Vector) -> float:
        """Return v·dL/dv - L - V [J]."""
        return float(v @ self.momentum(q, v)) - self.T(q, v)

    def dT(self, q: Vector, v: Vector) -> Vector:
        """Return the derivative of T by q."""
        return self._gradient(q, v)[: self.n]

    def kinetic(self, rule: Rule, q0: Vector, v0: Vector, q1: Vector, v1: Vector) -> Slopes:
        """Return the derivatives of T(q, v) over a step, those of the function of both."""
        n = self.n
        start, end = np.concatenate([q0, v0]), np.concatenate([q1, v1])
        step = chord(self._known(rule), self.both, start, end)
        slope, bend = step.jacobian[0], step.tangent(np.ones(1))
        return Slopes(slope[:n], slope[n:], bend[:n, :n], bend[:n, n:], bend[n:, :n], bend[n:, n:])

    def check(self, q: Vector, v: Vector) -> None:
        """Refuse a start where L is not finite."""
        self._require_finite(q, "at the start")
        if not np.isfinite(self.T(q, v)):
            raise InputError(
                f"system '{self.name}': L is {self.T(q, v)} at the start, v = "
                f"{np.array2string(v, precision=6)}"
            )

    def watch(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step to where V or g is not finite."""
        self._require_finite(q1, "after this step")
