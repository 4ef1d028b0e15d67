"""The system formed by several systems connected at their ports; see `interconnect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.joined import JoinedSystem, slices
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result.joined import JoinedObserver, Member, unique_names
from poinsot.result.observer import Observer

if TYPE_CHECKING:
    from poinsot.ph.hosting import Hosting
    from poinsot.ph.regulators import Regulator
    from poinsot.ph.runner import Runner
    from poinsot.ph.scheme import Scheme
    from poinsot.ph.stages import Newton, StageEquations


@dataclass(frozen=True, eq=False)
class Interconnection(JoinedSystem):
    """Several systems connected at their ports; made by `interconnect`.

    If a mechanism is among the parts, it keeps its own time steps and the compiled engine, if the
    connections allow it; see `ph.hosting`. `regulators` set inputs over time steps: see
    `ph.regulators`.
    """

    #: Whether time steps are those of any system, even where a mechanism has its own.
    general: bool = False
    regulators: tuple[Regulator, ...] = ()

    @property
    def start(self) -> Vector:
        """The starts of the parts and of regulators, and no multipliers."""
        x = super().start
        for regulator in self.regulators:
            places = [np.arange(self.n)[self.slices[name]] for name in regulator.states]
            if places:
                x[np.concatenate(places)] = regulator.start
        return x

    @cached_property
    def hosting(self) -> Hosting | None:
        """The same as one part, such as a mechanism, and what is joined to its ports."""
        from poinsot.ph.hosting import Hosting  # imports this module

        return None if self.general else Hosting.of(self)

    @property
    def _hosts(self) -> list[PHSystem]:
        """Parts that have time steps of their own."""
        return [part for part in self.parts if part.hosts]

    @property
    def default_scheme(self) -> str:
        """That of a mechanism among the parts."""
        return next((part.default_scheme for part in self._hosts), super().default_scheme)

    @property
    def stabilised(self) -> bool:  # type: ignore[override]
        """Whether a mechanism among the parts is."""
        return any(part.stabilised for part in self.parts)

    @property
    def formulation(self) -> str:  # type: ignore[override]
        """That of a mechanism among the parts, unless time steps are those of any system."""
        return next((part.formulation for part in self._hosts if not self.general), "ph")

    def in_form(self, formulation: str) -> PHSystem:
        """Return it as any port-Hamiltonian system, whatever form its mechanism has."""
        if formulation == "ph" != self.formulation:
            return replace(self, general=True)
        return super().in_form(formulation)

    def in_steps(self, scheme: Scheme, x: Vector, h: float) -> PHSystem:
        """Return it with general steps where networks do not determine the mechanism's inputs."""
        hosting = self.hosting
        served = hosting is not None and hosting.serves(h / 2, x, np.zeros(self.m), h)
        return self if served or self.general else replace(self, general=True)

    def remembering(self) -> Self:
        """Return the system for one run of Newton's method."""
        return self._with_parts([part.remembering() for part in self.parts])

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return those of a mechanism with networks at its ports, where that suffices."""
        if self.hosting is not None and self.hosting.serves(t, x0, u, h):
            return self.hosting.stages(scheme, t, x0, u, h)
        for regulator in self.regulators:
            raise InputError(
                f"controller '{regulator.name}': controllers in continuous time are not available "
                "for mechanisms with rigid connections to other systems; replace the connection "
                "by a joint or a gear of the model, or use a sampled controller: every=..."
            )
        for part in self.parts:
            if part.own_steps_only:
                raise InputError(
                    f"system '{self.name}': {part.own_steps_only}; this is not possible for "
                    "mechanisms with rigid connections to other systems"
                )
        for port in self.ports:
            if port.driven:
                raise InputError(
                    f"system '{self.name}': the motion of drive '{port.name}' cannot be prescribed "
                    "in a mechanism with rigid connections to other systems; replace the "
                    "connection by a joint or a gear of the model"
                )
        return None

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a mechanism with networks at its ports in the compiled engine."""
        hosting = self.hosting
        if hosting is None or not hosting.serves(h / 2, x, np.zeros(self.m), h):
            return None
        return hosting.runner(scheme, x, h, options)

    def exact_under(self, scheme: Scheme) -> bool:
        """Whether a mechanism keeps the balance: networks do in any case; else whether all do."""
        if self.hosting is not None:
            return self.hosting.system.exact_under(scheme)
        return super().exact_under(scheme)

    def in_play(self, t: float, x: Vector, h: float) -> float:
        """Return the energy to a relative eps of which those of the parts are known [J]."""
        return float(sum(self._each(lambda part, x: part.in_play(t, x, h), x)))

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse a state that one of the parts refuses."""
        self._each(lambda part, x: part.check_start(x, t), x)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return what the parts say."""
        return "".join(self._each(lambda part, x: part.diagnose(t0, x, h), x0))

    @cached_property
    def adjustable(self) -> NDArray[np.bool_]:
        """Those of the parts, and multipliers."""
        return self._with_multipliers([part.adjustable for part in self.parts])

    @cached_property
    def followers(self) -> NDArray[np.bool_]:
        """Those of the parts, and multipliers."""
        return self._with_multipliers([part.followers for part in self.parts])

    def _with_multipliers(self, parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        return np.concatenate([*parts, np.ones(self.n - self.inner, dtype=bool)])

    def observer(self) -> Observer:
        """Return what looks at the parts, each by its own observer."""
        angles = slices(len(part.angle_names) for part in self.parts)

        def look(part: PHSystem) -> Observer:
            own = part.observer()
            return own if self.hosting is not None else own.of_general_steps()

        return JoinedObserver(
            tuple(
                Member(part.name, look(part), part.energies, span, own)
                for part, span, own in zip(self.parts, self.spans, angles, strict=True)
            )
        )

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step that one of the parts refuses."""
        self._each(lambda part, *x: part.check_step(t0, *x, h), x0, x1, x_mid)

    @property
    def angle_names(self) -> tuple[str, ...]:
        """Those of the parts; after the names of these where they repeat."""
        named = [(part.name, name) for part in self.parts for name in part.angle_names]
        return tuple(unique_names(named))

    def angles(self, x: Vector) -> Vector:
        """Return the angles of all parts."""
        return np.concatenate(self._each(lambda part, x: part.angles(x), x))

    def near(self, turned: Vector) -> Self:
        """Return the system whose parts are near angles counted over turns."""
        own = slices(len(part.angle_names) for part in self.parts)
        return self._with_parts(
            [part.near(turned[at]) for part, at in zip(self.parts, own, strict=True)]
        )

    def _with_parts(self, parts: Sequence[PHSystem]) -> Self:
        """Return the same with parts that differ in what they remember; networks stay as found."""
        changed = [k for k, part in enumerate(parts) if part is not self.parts[k]]
        if not changed:
            return self
        whole, hosting = replace(self, parts=tuple(parts)), self.hosting
        if hosting is not None and changed == [hosting.host]:
            vars(whole)["hosting"] = replace(hosting, whole=whole)
        return whole
