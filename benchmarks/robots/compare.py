"""One robot at random states: mass, positions, velocities, energies, accelerations by two codes."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import poinsot as ps
from benchmarks.robots.motion import Accelerations, cross, motions
from poinsot.model.robots import read_robot
from poinsot.robots.mjcf import read_mjcf
from poinsot.robots.urdf import read_urdf


@dataclass(frozen=True)
class Comparison:
    """Relative differences of a robot, the largest of all; `refused` says why there are none."""

    name: str
    code: str
    bodies: int = 0
    freedoms: int = 0
    states: int = 0
    mass: float = np.nan
    position: float = np.nan
    velocity: float = np.nan
    joints: float = np.nan
    energy: float = np.nan
    acceleration: float = np.nan
    merged: bool = False
    refused: str = ""

    @property
    def worst(self):
        """The largest of all differences."""
        return max(
            self.mass, self.position, self.velocity, self.joints, self.energy, self.acceleration
        )


def compare(path, *, states=100, seed=0):
    """Return the comparison of a robot's file with the code of its format."""
    path = Path(path)
    folder = "gymnasium" if "gymnasium" in path.parts else path.parent.parent.name
    name, urdf = f"{folder}/{path.name}", path.suffix == ".urdf"
    code = "Pinocchio" if urdf else "MuJoCo"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ps.OmissionWarning)
            robot, model, floating, merged = _model(path, urdf)
            if not model.bodies:
                return Comparison(name, code)
    except ps.InputError as error:
        return Comparison(name, code, refused=str(error).removeprefix(f"{path}: "))
    if urdf:
        from benchmarks.robots.by_pinocchio import ByPinocchio

        other = ByPinocchio(path, floating_base=floating)
    else:
        from benchmarks.robots.by_mujoco import ByMujoco

        other = ByMujoco(path)
    return compared(name, code, robot, model, other, states, seed, merged)


def _model(path, urdf):
    """Return robot, model without what the other code does otherwise, base, and what was merged."""
    robots = (
        [read_mjcf(path, looks=False)]
        if not urdf
        else [read_urdf(path, floating_base=floating, looks=False) for floating in (True, False)]
    )
    error = None
    for robot in robots:
        robot.couplings.clear()
        robot.loops.clear()
        robot.joints[:] = [
            replace(joint, steps=tuple(_hard(step, urdf) for step in joint.steps))
            for joint in robot.joints
        ]
        for merged in (False, True):
            try:
                model = read_robot(robot, merge_fixed=merged, stops=False)
            except ps.InputError as refused:
                error = error or refused
            else:
                return robot, model, any(joint.free for joint in robot.joints), merged
    raise error


def _hard(step, urdf):
    """Return a step without dry friction; Pinocchio knows no damping either."""
    return replace(step, friction=0.0, damping=0.0 if urdf else step.damping)


def compared(name, code, robot, model, other, states, seed, merged):
    """Return the comparison of a model of a robot with another code."""
    random, of = np.random.default_rng(seed), Accelerations(model)
    known = [body for body in model.bodies if body in robot.links]
    found = dict.fromkeys(("position", "velocity", "joints", "energy", "acceleration"), 0.0)
    total = sum(body.mass for body in model.bodies.values())
    for _ in range(states):
        coordinates, frees = other.state(random, robot)
        links = other.links() if code == "MuJoCo" else other.links(robot)
        motion = motions(model, robot, coordinates, frees)
        x = of.state(motion, {step: rate for step, (_, rate) in coordinates.items()})
        accelerations = of.of(x)
        ours, theirs = [], []
        for body in [body for body in known if body in links]:
            (p, R, v, omega), (a, spin) = motion[body], accelerations[body]
            _, at, R_there, velocity, acceleration = links[body]
            zero, link = model.bodies[body], robot.links[body]
            arm = R @ zero.R_WB.T @ (link.centre_in_world - zero.position)
            bent = cross(omega, cross(omega, arm))
            ours.append(
                [
                    np.concatenate([p + arm, R.reshape(-1)]),
                    np.concatenate([v + cross(omega, arm), omega]),
                    np.concatenate([a + cross(spin, arm) + bent, spin]),
                ]
            )
            theirs.append(
                [
                    np.concatenate([at, R_there.reshape(-1)]),
                    np.concatenate(velocity),
                    np.concatenate(acceleration),
                ]
            )
        for key, mine, yours in zip(
            ("position", "velocity", "acceleration"),
            zip(*ours, strict=True),
            zip(*theirs, strict=True),
            strict=True,
        ):
            size = max(1.0, abs(np.array(yours)).max())
            found[key] = max(found[key], abs(np.array(mine) - yours).max() / size)
        found["joints"] = max(found["joints"], of.gap(x))
        energy = other.energy()
        found["energy"] = max(found["energy"], abs(of.kinetic(x) - energy) / energy)
    fixed = sum(link.mass for link in robot.links.values()) - total  # merged into the ground
    mass = (
        abs(total + fixed - other.mass()) / other.mass()
        if not merged
        else abs(sum(link.mass for link in robot.links.values()) - other.mass()) / other.mass()
    )
    return Comparison(
        name,
        code,
        len(model.bodies),
        model.check().freedoms,
        states,
        mass=mass,
        merged=merged,
        **found,
    )
