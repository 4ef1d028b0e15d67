"""Poinsot: PH-MP in directors on the compiled engine."""

import time
from typing import Any
from unittest.mock import patch

import numpy as np

import poinsot as ps
from benchmarks.mechanism import GROUND, Joint, Mechanism
from benchmarks.peers.simulation import Run, StoppedError, time_of_steps

#: The engine under test.
ENGINE = "compiled"


class PoinsotSimulation:
    """A mechanism in Poinsot, compiled once."""

    def __init__(
        self, mechanism: Mechanism, h: float, scheme: str = "ph-mp", engine: str = ENGINE
    ) -> None:
        self.h, self.scheme, self.engine, self.note = h, scheme, engine, ""
        self.names = [body.name for body in mechanism.bodies]
        self.system = build(mechanism).compile()

    def run(self, steps: int) -> Run:
        """Simulate, saving only the start and the end."""
        seconds = time_of_steps(self._seconds, steps)
        end = [self._result.position(name)[-1] for name in self.names]
        return Run(seconds, np.array(end))

    def _seconds(self, steps: int) -> float:
        """Simulate; return the time of the time loop, which the result reports.

        Its clock is exchanged for that of the processor, by which the peers are timed as well.
        """
        try:
            with patch("time.perf_counter", time.process_time):
                self._result = ps.simulate(
                    self.system,
                    h=self.h,
                    t_end=steps * self.h,
                    scheme=self.scheme,
                    engine=self.engine,
                    save_every=steps,
                    progress=False,
                )
        except ps.SimulationError as error:
            raise StoppedError(str(error)) from error
        return self._result.stats.wall_time


def build(mechanism: Mechanism) -> ps.Model:
    """Build a mechanism as a Poinsot model."""
    model = ps.Model(gravity=mechanism.gravity, name=mechanism.name)
    partners: dict[str, Any] = {GROUND: model.ground}
    for body in mechanism.bodies:
        partners[body.name] = model.add_body(
            body.name,
            ps.RigidBody(mass=body.mass, inertia=body.inertia),
            position=body.position,
            rotation=body.rotation,
            velocity=body.velocity,
            angular_velocity=body.angular_velocity,
        )
    for joint in mechanism.joints:
        model.add_joint(joint.name, _joint(joint, partners))
    for spring in mechanism.springs:
        model.add_force(
            spring.name,
            ps.Spring(
                partners[spring.a],
                partners[spring.b],
                spring.point_a,
                spring.point_b,
                rest_length=spring.rest_length,
                stiffness=spring.stiffness,
                damping=spring.damping,
            ),
        )
    for torsion in mechanism.torsion_springs:
        model.add_force(
            torsion.name,
            ps.JointSpring(torsion.joint, stiffness=torsion.stiffness, damping=torsion.damping),
        )
    return model


def _joint(joint: Joint, partners: dict[str, Any]) -> Any:
    a, b = partners[joint.a], partners[joint.b]
    match joint.kind:
        case "spherical":
            return ps.Spherical(a, b, joint.point)
        case "revolute":
            return ps.Revolute(a, b, joint.point, joint.axis)
        case "universal":
            return ps.Universal(a, b, joint.point, joint.axis, joint.axis_b)
        case "prismatic":
            return ps.Prismatic(a, b, joint.point, joint.axis)
        case "pin":
            return ps.PointOnLine(a, b, joint.point, joint.axis)
        case "rod":
            return ps.Rod(a, b, joint.point, joint.point_b)
    raise ValueError(f"no joint '{joint.kind}' in Poinsot")
