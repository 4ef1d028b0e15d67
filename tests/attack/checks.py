"""Everything that a run promises, as errors measured by the round-off of their own scale."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from bounds import STEPS
from plans import OUTSIDE
from recomputed import Motion, mid, norm
from units import Units

import poinsot as ps

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Formulation:
    """Coordinates and scheme, and what they promise for mechanisms."""

    coordinates: str
    scheme: str

    def __str__(self):
        return f"{self.coordinates}-{self.scheme}"

    @property
    def _declared(self):
        return ps.SCHEMES[self.scheme]

    @property
    def engines(self):
        """By default the compiled one, where it can."""
        return ("reference",) if self.midpoint else ("auto", "reference")

    @property
    def midpoint(self):
        return self.scheme in ("mpl", "mph")

    @property
    def keeps_energy(self):
        """By the midpoint rule, too: it takes potentials by discrete gradients."""
        return self._declared.formulation == "ph" or self._declared.exact_energy == "any"

    def keeps_momenta(self, case):
        """Some schemes do only where nothing stores energy but the motion."""
        promised = self._declared.exact_momentum
        return promised == "any" or (promised == "quadratic" and not case.acting)

    @property
    def differences(self):
        return self._declared.formulation == "livens"

    @property
    def stabilised(self):
        return self._declared.stabilised

    @property
    def composed(self):
        """Whether steps are composed of substeps, which the saved states leave out."""
        return len(self._declared.substeps) > 1


DIRECTORS = [Formulation("directors", scheme) for scheme in ("ph-mp", "ph-mp-ggl")]
ROTATIONS = [
    Formulation(coordinates, "ph-mp")
    for coordinates in ("rotations", "rotations-quaternion", "rotations-euler")
]
QUATERNIONS = [
    Formulation("quaternions", name)
    for name, scheme in ps.SCHEMES.items()
    if scheme.formulation != "ph" and len(scheme.substeps) == 1
]
FORMULATIONS = [*DIRECTORS, *ROTATIONS, *QUATERNIONS]


@dataclass(frozen=True)
class Measured:
    """An error, and the size of the numbers of which it is the round-off."""

    what: str
    where: str
    error: float
    scale: float

    @property
    def multiple(self):
        """The error in units of round-off."""
        return self.error / (EPS * self.scale) if self.error else 0.0

    def __str__(self):
        return f"{self.what} ({self.where}): {self.error:.3g}, {self.multiple:.3g} round-offs"


class Checks:
    """All promises of a run."""

    def __init__(self, case, plan, formulation, result):
        self.case, self.plan, self.formulation, self.result = case, plan, formulation, result
        self.motion = Motion(plan, result)
        self.h = np.diff(result.time)

    def __iter__(self):
        if self.formulation.stabilised:
            yield from self.rates()
        if self.formulation.composed or self.result.stats.steps > self.h.size:
            yield from self.in_the_long_run()
            return
        yield from self.finite()
        yield from self.geometry()
        yield from self.kinematics()
        if self.formulation.keeps_energy:
            yield from self.energy()
        if self.formulation.keeps_momenta(self.case):
            yield from self.momenta()
            yield from self.reactions()

    def in_the_long_run(self):
        """What can be seen where not every step is saved, relative to the steps that were taken."""
        promises = [*self.finite(), *(gap for gap in self.geometry() if gap.what != "slip")]
        if self.formulation.keeps_energy:
            promises += self.energy()
        free = not self.plan.joints or not self.grounded
        if self.formulation.keeps_momenta(self.case) and free and not self.case.acting:
            P, L, sizes = self.motion.momenta
            for label, path, scale in zip(("linear", "angular"), (P, L), sizes, strict=True):
                lost = abs(path - path[0]).max()
                promises.append(Measured(f"{label} momentum", "balance", lost, scale))
        steps = self.result.stats.steps
        for found in promises:
            yield replace(found, scale=found.scale * max(1.0, steps / STEPS))

    @property
    def grounded(self):
        return any("ground" in (at["a"], at["b"]) for _, at in self.plan.joints.values())

    def finite(self):
        for name in self.plan.bodies:
            for part in ("position", "rotation", "velocity", "angular_velocity"):
                values = getattr(self.result, part)(name)
                yield Measured(
                    "finite", f"{part} of {name}", float((~np.isfinite(values)).sum()), 1.0
                )

    def geometry(self):
        size = self.motion.size
        for where, label, gap in self.motion.gaps():
            scale = 1.0 if label == "angle" else size
            # The midpoint rule in quaternions takes an edge where the mean quaternion has it.
            if not (label == "slip" and self.formulation.midpoint):
                yield Measured(label, where, gap.max(), scale)
        for name in self.plan.bodies:
            R = self.result.rotation(name)
            bent = abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() + abs(np.linalg.det(R) - 1).max()
            yield Measured("rigidity", name, bent, 1.0)

    def rates(self):
        """Velocity constraints, where they are kept at the ends of steps."""
        speed = max(abs(self.result.velocity(name)).max() for name in self.plan.bodies)
        spin = max(abs(self.result.angular_velocity(name)).max() for name in self.plan.bodies)
        speed += spin * self.motion.size
        for name, what, rate in self.motion.rates():
            # Positions over a step give velocities, and are known as well as the size.
            known = speed if what == "speed" else speed / self.motion.size
            yield Measured(what, name, abs(rate[1:]).max(), known)

    def kinematics(self):
        """Positions change by mean velocities; the stabilised form moves positions besides."""
        if self.formulation.stabilised:
            return
        h = self.h[:, None]
        for name in self.plan.bodies:
            r, v = self.result.position(name), self.result.velocity(name)
            lost = abs(np.diff(r, axis=0) - h * mid(v)).max()
            yield Measured("velocity", name, lost, self.motion.size + (h * abs(mid(v))).max())

    @cached_property
    def turnover(self):
        """All energies that there are, all that went in or out, and loads over lengths [J]."""
        stored = sum(abs(part).max() for part in self.motion.energies.values())
        through = sum(abs(np.diff(port.energy)).sum() for port in self.result.ports.values())
        # What a load does on the way is known as well as where it acts.
        pushed = sum(
            norm(F).max() * self.motion.size + norm(tau).max()
            for _, _, F, tau, _ in self.motion.loads()
        )
        return stored + through + abs(self.result.dissipated).max() + pushed

    @property
    def momentum(self):
        """The largest momentum of a body [kg m/s]."""
        return self.motion.momenta[2][0]

    @property
    def scale(self):
        """What energies are the round-off of.

        Livens' schemes find velocities by dividing differences of positions by the step.
        """
        if not self.formulation.differences:
            return self.turnover
        return self.turnover + self.momentum * self.motion.size / self.h.max()

    def energy(self):
        result, H = self.result, sum(self.motion.energies.values())
        yield Measured("energy", "as reported", abs(H - result.energy).max(), self.scale)
        supplied = np.zeros_like(H)
        for name, port in result.ports.items():
            u = np.array([np.atleast_1d(self.input(name)(t)) for t in port.time])
            yield Measured("input", name, abs(port.u - u).max(), abs(u).max() or 1.0)
            supplied[1:] += np.cumsum(self.h * np.sum(port.u * port.y, axis=1))
        balance = H - H[0] - supplied + result.dissipated
        yield Measured("balance", "recomputed", abs(balance).max(), self.scale)
        yield Measured("balance", "as reported", result.stats.balance_error_max, self.scale)
        gained = max(0.0, -np.diff(result.dissipated).min())
        yield Measured("dissipation", "gained", gained, self.scale)
        yield from self.work()

    def input(self, name):
        return self.plan.ports[name][1]["value"]

    def work(self):
        """The work of a force over a step is that along the way of its point."""
        for name, body, force, _, _ in self.motion.loads():
            port = self.result.port(name)
            if self.plan.ports[name][0] == "ForcePort":
                at = self.plan.ports[name][1]
                way = np.diff(self.motion.point(body, at["point"]), axis=0)
                lost = self.h * np.sum(port.u * port.y, axis=1) - np.sum(force * way, axis=1)
                scale = norm(force).max() * (self.motion.size + norm(way).max())
                yield Measured("work", name, abs(lost).max(), scale)

    @property
    def isolated(self):
        """Whether all that acts from outside is gravity, loads and joints with the ground."""
        return not set(self.case.acting) & set(OUTSIDE)

    def momenta(self):
        P, L, (p_size, L_size) = self.motion.momenta
        for label, own, reported, scale in (
            ("linear momentum", P, self.result.linear_momentum, p_size),
            ("angular momentum", L, self.result.angular_momentum, L_size),
        ):
            if scale:
                yield Measured(label, "as reported", abs(own - reported).max(), scale)
        if self.isolated and not (self.grounded and self.formulation.stabilised):
            yield from self.outer_wrench(P, L, p_size, L_size)

    def outer_wrench(self, P, L, p_size, L_size):
        """Momenta change by gravity, loads and what the ground does, [LKB26, eq. (72)]."""
        steps = self.h.size
        force, moment, push = np.zeros((steps, 3)), np.zeros((steps, 3)), 0.0
        grounded = {
            j: at for j, (_, at) in self.plan.joints.items() if "ground" in (at["a"], at["b"])
        }
        acting = [
            (
                self.plan.bodies[name]["shape"].mass * self.plan.gravity,
                0.0,
                mid(self.result.position(name)),
            )
            for name in self.plan.bodies
        ]
        acting += [(F, tau, r) for _, _, F, tau, r in self.motion.loads()]
        for name, at in grounded.items():
            joint, (r_a, r_b) = self.result.reaction(name), self.motion.ends(at)
            if at["a"] == "ground":
                acting.append((-joint.force_a, -joint.torque_a, mid(r_a)))
            else:
                acting.append((-joint.force, -joint.torque, mid(r_b)))
        # Motors on joints with the ground are torques and forces from outside, and not told here.
        if any(at.get("joint") in grounded for kind, at in self.plan.ports.values()):
            return
        for F, tau, r in acting:
            force, moment = force + F, moment + np.cross(r, F) + tau
            push = max(push, norm(np.atleast_2d(F)).max(), 0.0)
        h = self.h[:, None]
        push *= self.h.max()
        arm = self.motion.size
        turn = self.h.max() * norm(np.atleast_2d(moment)).max() + arm * push
        lost = abs(np.diff(P, axis=0) - h * force).max()
        yield Measured("linear momentum", "balance", lost, p_size + push)
        lost = abs(np.diff(L, axis=0) - h * moment).max()
        yield Measured("angular momentum", "balance", lost, L_size + turn)

    def reactions(self):
        """What a joint does to one body, it does to the other, the other way round."""
        for name, (kind, at) in self.plan.joints.items():
            if kind not in ("KnifeEdge", "RollingSphere", "RollingDisc"):
                joint, (r_a, r_b) = self.result.reaction(name), self.motion.ends(at)
                scale = norm(joint.force).max()
                if scale:
                    yield Measured("reaction", name, abs(joint.force + joint.force_a).max(), scale)
                turning = joint.torque + joint.torque_a + np.cross(mid(r_b - r_a), joint.force)
                scale = self.motion.size * scale + norm(joint.torque).max()
                if scale:
                    yield Measured("reaction", f"torque of {name}", abs(turning).max(), scale)


def apart(what, one, other, units=None):
    """How far two runs of the same mechanism are apart; `one` in units of the other."""
    a, b = one.result, other.result
    units = units or Units()
    L, T = units.length, units.time
    size, h = other.motion.size, other.h.max()
    speeds = [abs(b.velocity(name)).max() for name in other.plan.bodies]
    turns = [abs(b.angular_velocity(name)).max() for name in other.plan.bodies]
    # Velocities are known as well as what positions change by over a step.
    scales = {
        "position": (L, size),
        "rotation": (1.0, 1.0),
        "velocity": (L / T, max(speeds) + size / h),
        "angular_velocity": (1 / T, max(turns) + 1 / h),
    }
    for name in other.plan.bodies:
        for part, (unit, scale) in scales.items():
            far = abs(getattr(a, part)(name) / unit - getattr(b, part)(name)).max()
            yield Measured(what, f"{part} of {name}", far, scale)
    energy = abs(a.energy / units.energy - b.energy).max()
    yield Measured(what, "energy", energy, other.turnover + other.momentum * size / h)
