"""Links of an MJCF robot at random states, and their accelerations, by MuJoCo."""

import mujoco
import numpy as np

from poinsot.so3 import exp, quat_to_matrix

#: What MuJoCo does not do here: contacts, limits and friction are soft constraints of its own.
OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "ACTUATION")


class ByMujoco:
    """A compiled MJCF model, or a URDF robot whose fixed links are fused or not."""

    def __init__(self, path, *, fuse=True):
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = spec.compiler.fusestatic and fuse
        self.m = m = spec.compile()
        for name in OFF:
            m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        m.opt.density = m.opt.viscosity = 0.0
        m.opt.wind[:] = 0.0
        for array in (m.body_gravcomp, m.tendon_stiffness, m.tendon_damping):
            array[:] = 0.0
        self.d = mujoco.MjData(m)

    def name(self, kind, k):
        """Return the name of an element, as the import calls it."""
        of_kind = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return mujoco.mj_id2name(self.m, of_kind, k) or f"{kind}_{k}"

    def state(self, random, robot):
        """Go to a random state; return coordinates and rates by step, and frames of free links."""
        m, d = self.m, self.d
        coordinates, frees = {}, {}
        for j in range(m.njnt):
            q, dof, name = m.jnt_qposadr[j], m.jnt_dofadr[j], self.name("joint", j)
            kind, body = mujoco.mjtJoint(m.jnt_type[j]), int(m.jnt_bodyid[j])
            link = self.name("body", body)
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                d.qpos[q : q + 3] = random.normal(size=3)
                quat = random.normal(size=4)
                d.qpos[q + 3 : q + 7] = quat / np.linalg.norm(quat)
                d.qvel[dof : dof + 6] = random.normal(size=6)
                R = quat_to_matrix(d.qpos[q + 3 : q + 7])
                v, omega = d.qvel[dof : dof + 3].copy(), R @ d.qvel[dof + 3 : dof + 6]
                frees[link] = d.qpos[q : q + 3].copy(), R, v, omega
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                turn, R = exp(random.normal(size=3)), robot.links[link].rotation
                mujoco.mju_mat2Quat(d.qpos[q : q + 4], turn.reshape(-1))
                d.qvel[dof : dof + 3] = random.normal(size=3)
                coordinates[name] = R @ turn @ R.T, R @ d.qvel[dof : dof + 3]
            else:
                size = 0.3 if kind == mujoco.mjtJoint.mjJNT_SLIDE else 1.0
                x, rate = size * random.uniform(-1, 1), random.normal()
                d.qpos[q], d.qvel[dof] = m.qpos0[q] + x, rate
                coordinates[name] = x, rate
        mujoco.mj_forward(m, d)
        return coordinates, frees

    def links(self):
        """Return of every link: mass, centre, axes, velocities, accelerations of the centre."""
        m, d = self.m, self.d
        shape = (3, m.nv)
        found = {}
        for body in range(1, m.nbody):
            at = d.xipos[body]
            Jp, Jr, dJp, dJr = (np.zeros(shape) for _ in range(4))
            mujoco.mj_jac(m, d, Jp, Jr, at, body)
            mujoco.mj_jacDot(m, d, dJp, dJr, at, body)
            found[self.name("body", body)] = (
                float(m.body_mass[body]),
                at.copy(),
                d.xmat[body].reshape(3, 3).copy(),
                (Jp @ d.qvel, Jr @ d.qvel),
                (Jp @ d.qacc + dJp @ d.qvel, Jr @ d.qacc + dJr @ d.qvel),
            )
        return found

    def mass(self):
        """Return the mass of all links [kg]."""
        return float(self.m.body_mass[1:].sum())

    def energy(self):
        """Return the kinetic energy [J]."""
        m, d = self.m, self.d
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, M, d.qM) if hasattr(d, "qM") else mujoco.mj_fullM(m, d, M)
        return float(d.qvel @ M @ d.qvel / 2)
