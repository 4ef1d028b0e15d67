"""What acts on the joint coordinates of a robot: friction, springs, stops, rotors, couplings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poinsot.bodies.body import Body, Ground
from poinsot.model.model import Model
from poinsot.parts.drags import Drag
from poinsot.parts.forces import JointSpring
from poinsot.parts.friction import JointFriction
from poinsot.parts.loads import JointPort
from poinsot.parts.stops import JointStop
from poinsot.parts.transmissions import Cam, Gear
from poinsot.ph.connections import Transformer
from poinsot.ph.formulas import Formula
from poinsot.ph.linear import linear
from poinsot.ph.ports import Port
from poinsot.ph.system import State
from poinsot.robots.description import Coupling, Robot, Step

#: Deflection of stops under the largest load of a motor, or under weights [rad or m].
YIELD = {True: 1e-2, False: 1e-3}
#: Damping of stops over stiffness: impacts at 1 m/s or 1 rad/s rebound at half of that [HC75].
CUSHION = 0.75


@dataclass(frozen=True)
class Acting:
    """Adds what acts on the coordinates of a robot to its model.

    Parameters
    ----------
    robot, model
        The robot, and its model with all bodies and joints.
    coordinates : dict
        Name of a step -> joint of the model, and coordinate if it has several.
    new : callable
        (name, kind) -> a name that is free in the model.
    stops : bool
        Whether limits become stops.
    """

    robot: Robot
    model: Model
    coordinates: dict[str, tuple[str, str | None]]
    new: Callable[[str, str], str]
    stops: bool

    def add(self) -> None:
        """Add forces, couplings and motors."""
        for step in self.robot.steps:
            self._add_forces(step)
        for coupling in self.robot.couplings:
            self._add_coupling(coupling)

    def add_motors(self) -> None:
        """Add the ports of all motors."""
        for motor in self.robot.motors:
            joint, freedom = self.coordinates[motor.step]
            self.model.add_port(self.new(motor.name, "port"), JointPort(joint, freedom))

    def _add_forces(self, step: Step) -> None:
        """Add friction, spring, stop and rotor of a step."""
        if step.kind == "ball":
            self._add_ball_forces(step)
            return
        (joint, freedom), model = self.coordinates[step.name], self.model
        if step.damping or step.friction:
            friction = JointFriction(joint, freedom, viscous=step.damping, coulomb=step.friction)
            model.add_force(self.new(f"{step.name}.friction", "force"), friction)
        if step.stiffness:
            spring = JointSpring(joint, freedom, rest=step.rest, stiffness=step.stiffness)
            model.add_force(self.new(f"{step.name}.spring", "force"), spring)
        if self.stops and (step.lower is not None or step.upper is not None):
            k = self._stop_stiffness(step)
            stop = JointStop(
                joint,
                freedom,
                stiffness=k,
                lower=step.lower,
                upper=step.upper,
                damping=CUSHION * k,
            )
            model.add_force(self.new(f"{step.name}.stop", "force"), stop)
        if step.armature:
            self._add_rotor(step, joint, freedom)

    def _stop_stiffness(self, step: Step) -> float:
        """Return a stiffness for the loads that a stop has to carry."""
        effort = step.effort
        if effort is None:
            moved = list(self.model.bodies.values())
            mass = sum(body.mass for body in moved)
            arm = max(float(np.linalg.norm(body.position - step.point)) for body in moved)
            effort = 9.81 * mass * (max(arm, 1e-3) if step.turns else 1.0)
        return effort / YIELD[step.turns]

    def _add_rotor(self, step: Step, joint: str, freedom: str | None) -> None:
        """Add an inertia that moves with a single coordinate."""
        units = ("N m", "rad/s", "N m s") if step.turns else ("N", "m/s", "N s")
        rotor = linear(
            "rotor",
            states=[State("momentum", unit=units[2])],
            J=[[0]],
            R=[[0]],
            Q=[[1 / step.armature]],
            B=[[1]],
            ports=[Port("shaft", 1, *units[:2])],
        )
        name, port = (self.new(f"{step.name}.{end}", "port") for end in ("rotor", "armature"))
        self.model.add_system(name, rotor)
        self.model.add_port(port, JointPort(joint, freedom))
        self.model.connect(Transformer(f"{name}.shaft", port))

    def _add_ball_forces(self, step: Step) -> None:
        """Add the damping of a ball joint; list what has no counterpart."""
        what, (joint, _) = f"joint '{step.name}'", self.coordinates[step.name]
        for label, value in (("armature", step.armature), ("frictionloss", step.friction)):
            if value:
                self.robot.omit(what, f"{label} of a ball joint ignored")
        if step.stiffness:
            self.robot.omit(what, "stiffness of a ball joint ignored")
        a, b = self.model.joints[joint].bodies
        if step.damping and isinstance(a, Ground) and isinstance(b, Body):
            drag = Drag(b, angular_viscous=step.damping)
            self.model.add_force(self.new(f"{step.name}.friction", "force"), drag)
        elif step.damping:
            self.robot.omit(what, "damping of a ball joint between two bodies ignored")

    def _add_coupling(self, coupling: Coupling) -> None:
        """Add a coordinate that follows another one, by a gear or a cam."""
        follower, leader = (
            ".".join(part for part in self.coordinates[name] if part)
            for name in (coupling.follower, coupling.leader)
        )
        steps = {step.name: step for step in self.robot.steps}
        hinges = all(steps[n].kind == "hinge" for n in (coupling.follower, coupling.leader))
        ratio, *higher = coupling.coefficients[1:]
        name = self.new(coupling.name, "transmission")
        if hinges and ratio and not any(higher):
            self.model.add_transmission(name, Gear(follower, leader, ratio=ratio))
            return
        terms = [f"{c!r}*x**{k + 1}" for k, c in enumerate((ratio, *higher)) if c]
        profile = Formula(" + ".join(terms) or "0*x", "x")
        self.model.add_transmission(name, Cam(leader, follower, profile=profile))
