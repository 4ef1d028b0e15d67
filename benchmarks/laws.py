"""What laws cost: microseconds per step of a pendulum with one law, by `python -m benchmarks.laws`.

Every kind of law stands beside the same pendulum without it. Times are those of the steps alone,
without set-up, of the shortest of several runs.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from benchmarks.environment import pin

#: Coordinates and schemes that are measured.
FORMULATIONS = (
    ("directors", "ph-mp"),
    ("directors", "ph-mp-ggl"),
    ("quaternions", "eml"),
    ("rotations", "ph-mp"),
)
#: Step [s].
H = 1e-3


@dataclass(frozen=True)
class Kind:
    """A kind of law: its name, and what adds it to a model."""

    name: str
    add: Callable[[Any, Any], object]


def kinds() -> list[Kind]:
    """Return all kinds of laws; the first is none."""
    import numba
    import numpy as np

    import poinsot as ps

    def port(place: Callable[[Any], Any]) -> Callable[[Any, Any], object]:
        return lambda model, bar: model.add_port("law", place(bar))

    def force(**laws: Any) -> Callable[[Any, Any], object]:
        return lambda model, bar: model.add_force("law", ps.JointSpring("hinge", **laws))

    def field(**laws: Any) -> Callable[[Any, Any], object]:
        return lambda model, bar: model.add_force(
            "law", ps.Field(points=[(bar, (1, 0, 0))], **laws)
        )

    def everything(t: float, motion: Any) -> Any:
        return -0.1 * motion.velocity - 0.2 * motion.position + 0.01 * motion.rotation[:, 0]

    slopes = {"dpotential": lambda x: 4 * x**3, "ddpotential": lambda x: 12 * x**2}
    formula = ps.Formula
    return [
        Kind("none", lambda model, bar: None),
        Kind("JointPort, value(t)", port(lambda bar: ps.JointPort("hinge", value=sin))),
        Kind("JointPort, law of time", port(lambda bar: ps.JointPort("hinge", law=_of_time))),
        Kind("JointPort, law of state", port(lambda bar: ps.JointPort("hinge", law=_feedback))),
        Kind(
            "JointPort, law by Formula",
            port(
                lambda bar: ps.JointPort("hinge", law=formula("-2*sin(x) - 0.1*v", ("t", "x", "v")))
            ),
        ),
        Kind(
            "JointPort, law by Numba",
            port(lambda bar: ps.JointPort("hinge", law=numba.njit(_feedback))),
        ),
        Kind(
            "TorquePort, law of time",
            port(lambda bar: ps.TorquePort(bar, law=lambda t, m: (0.0, sin(t), 0.0))),
        ),
        Kind(
            "TorquePort, law of spin",
            port(lambda bar: ps.TorquePort(bar, law=lambda t, m: -0.1 * m.angular_velocity)),
        ),
        Kind("ForcePort, law of all", port(lambda bar: ps.ForcePort(bar, law=everything))),
        Kind("spring, force(x)", force(force=lambda x: 4 * x**3)),
        Kind("spring, potential(x)", force(potential=lambda x: x**4)),
        Kind("spring, potential, slopes", force(potential=lambda x: x**4, **slopes)),
        Kind("spring, force by Formula", force(force=formula("4*x**3", "x"))),
        Kind("spring, force by Numba", force(force=numba.njit(lambda x: 4 * x**3))),
        Kind("spring, potential by Formula", force(potential=formula("x**4", "x"))),
        Kind("spring, potential by Numba", force(potential=numba.njit(lambda x: x**4))),
        Kind("damper, law(v)", force(law=lambda v: 0.1 * v**3)),
        Kind("damper, law by Formula", force(law=formula("0.1*v**3", "v"))),
        Kind("damper, law by Numba", force(law=numba.njit(lambda v: 0.1 * v**3))),
        Kind("field, potential", field(potential=lambda p, d: float(p[0] @ p[0]) ** 2)),
        Kind(
            "field, potential by Formula",
            field(potential=formula("(x**2 + y**2 + z**2)**2", ("x", "y", "z"))),
        ),
        Kind(
            "field, potential, gradient",
            field(
                potential=lambda p, d: float(p[0] @ p[0]) ** 2,
                gradient=lambda p, d: (4 * (p[0] @ p[0]) * p, np.zeros((0, 3))),
            ),
        ),
    ]


def _of_time(t: float, angle: float, rate: float) -> float:
    return cos(t)


def _feedback(t: float, angle: float, rate: float) -> float:
    return -2 * sin(angle) - 0.1 * rate


def microseconds(kind: Kind, coordinates: str, scheme: str, steps: int, repeats: int) -> float:
    """Return the least time of a step [us]; set-up is not part of it."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    kind.add(model, bar)

    def seconds() -> float:
        run = ps.simulate(
            model,
            coordinates=coordinates,
            scheme=scheme,
            h=H,
            t_end=H * steps,
            engine="compiled",
            progress=False,
            save_every=steps,
        )
        assert run.engine == "compiled"
        return run.stats.wall_time

    return 1e6 * min(seconds() for _ in range(repeats)) / steps


def main() -> None:
    """Measure all kinds in all formulations, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laws", description=__doc__)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    pin()
    titles = [f"{coordinates}, {scheme}" for coordinates, scheme in FORMULATIONS]
    print(f"{'microseconds per step':30}" + "".join(f"{title:>24}" for title in titles))
    for kind in kinds():
        found = [microseconds(kind, *f, given.steps, given.repeats) for f in FORMULATIONS]
        print(f"{kind.name:30}" + "".join(f"{time:24.1f}" for time in found), flush=True)


if __name__ == "__main__":
    main()
