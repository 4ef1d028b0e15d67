"""Links of a URDF robot at random states, and their accelerations, by Pinocchio."""

import numpy as np
import pinocchio as pin

from benchmarks.robots.motion import cross
from poinsot.so3 import exp


class ByPinocchio:
    """A URDF robot; joints that mimic others are free, and nothing rubs."""

    def __init__(self, path, *, floating_base=True):
        args = (pin.JointModelFreeFlyer(),) if floating_base else ()
        self.m = pin.buildModelFromUrdf(str(path), *args)
        self.floating, self.d = floating_base, self.m.createData()

    def state(self, random, robot):
        """Go to a random state; return coordinates and rates by step, and frames of free links."""
        m = self.m
        self.q, self.v = pin.neutral(m), np.zeros(m.nv)
        coordinates, frees = {}, {}
        for k in range(1, m.njoints):
            joint, name = m.joints[k], m.names[k]
            q, v = joint.idx_q, joint.idx_v
            if joint.nv == 6:
                place, R = random.normal(size=3), exp(random.normal(size=3))
                self.q[q : q + 3] = place
                self.q[q + 3 : q + 7] = pin.Quaternion(R).coeffs()
                self.v[v : v + 6] = random.normal(size=6)
                root = next(j.child for j in robot.joints if j.free)
                linear, angular = R @ self.v[v : v + 3], R @ self.v[v + 3 : v + 6]
                frees[root] = place, R, linear, angular
                continue
            step = next(step for step in robot.steps if step.name == name)
            size = 1.0 if step.turns else 0.3
            x, rate = size * random.uniform(-1, 1), random.normal()
            self.q[q : q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else (x,)
            self.v[v] = rate
            coordinates[name] = x, rate
        pin.forwardKinematics(m, self.d, self.q, self.v)
        a = pin.aba(m, self.d, self.q, self.v, np.zeros(m.nv))
        pin.forwardKinematics(m, self.d, self.q, self.v, a)
        pin.updateFramePlacements(m, self.d)
        return coordinates, frees

    def links(self, robot):
        """Return of every link: mass, centre, axes, velocities, accelerations of the centre."""
        m, d, axes = self.m, self.d, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        found = {}
        for name, link in robot.links.items():
            k = m.getFrameId(name, pin.FrameType.BODY)
            at, v = d.oMf[k], pin.getFrameVelocity(m, d, k, axes)
            a, arm = (
                pin.getFrameClassicalAcceleration(m, d, k, axes),
                d.oMf[k].rotation @ link.centre,
            )
            spin, turn = v.angular, a.angular
            found[name] = (
                link.mass,
                at.translation + arm,
                at.rotation,
                (v.linear + cross(spin, arm), spin),
                (a.linear + cross(turn, arm) + cross(spin, cross(spin, arm)), turn),
            )
        return found

    def mass(self):
        """Return the mass of all links [kg]."""
        return float(pin.computeTotalMass(self.m))

    def energy(self):
        """Return the kinetic energy [J]."""
        return float(pin.computeKineticEnergy(self.m, self.d, self.q, self.v))
