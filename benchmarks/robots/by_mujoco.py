"""Links of an MJCF robot at random states, and their accelerations, by MuJoCo."""

import mujoco
import numpy as np

from poinsot.so3 import exp, log, quat_to_matrix

#: What MuJoCo does not do here: contacts, limits and friction are soft constraints of its own.
OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "ACTUATION")

#: Newton steps that close a loop, how far it may be open then [m, rad], and what has no rank.
CORRECTIONS, CLOSED, RANK = 30, 1e-12, 1e-9


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
        for j in range(m.njnt):
            q, dof, kind = m.jnt_qposadr[j], m.jnt_dofadr[j], mujoco.mjtJoint(m.jnt_type[j])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                d.qpos[q : q + 3] = random.normal(size=3)
                quat = random.normal(size=4)
                d.qpos[q + 3 : q + 7] = quat / np.linalg.norm(quat)
                d.qvel[dof : dof + 6] = random.normal(size=6)
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                mujoco.mju_mat2Quat(d.qpos[q : q + 4], exp(random.normal(size=3)).reshape(-1))
                d.qvel[dof : dof + 3] = random.normal(size=3)
            else:
                size = 0.3 if kind == mujoco.mjtJoint.mjJNT_SLIDE else 1.0
                d.qpos[q] = m.qpos0[q] + size * random.uniform(-1, 1)
                d.qvel[dof] = random.normal()
        self.forward()
        return self._read(robot)

    def forward(self):
        """Compute accelerations and all else of the state."""
        mujoco.mj_forward(self.m, self.d)

    def _read(self, robot):
        m, d = self.m, self.d
        coordinates, frees = {}, {}
        for j in range(m.njnt):
            q, dof, name = m.jnt_qposadr[j], m.jnt_dofadr[j], self.name("joint", j)
            kind, body = mujoco.mjtJoint(m.jnt_type[j]), int(m.jnt_bodyid[j])
            link = self.name("body", body)
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                R = quat_to_matrix(d.qpos[q + 3 : q + 7])
                v, omega = d.qvel[dof : dof + 3].copy(), R @ d.qvel[dof + 3 : dof + 6]
                frees[link] = d.qpos[q : q + 3].copy(), R, v, omega
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                turn, R = quat_to_matrix(d.qpos[q : q + 4]), robot.links[link].rotation
                coordinates[name] = R @ turn @ R.T, R @ d.qvel[dof : dof + 3]
            else:
                coordinates[name] = float(d.qpos[q] - m.qpos0[q]), float(d.qvel[dof])
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
        return float(self.d.qvel @ self.mass_matrix() @ self.d.qvel / 2)

    def mass_matrix(self):
        """Return M; (nv, nv)."""
        m, d = self.m, self.d
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M) if not hasattr(d, "qM") else mujoco.mj_fullM(m, M, d.qM)
        return M


class WithLoops(ByMujoco):
    r"""The same with loops: `connect` and `weld` between bodies, kept exactly.

    MuJoCo's own solver makes them soft. Here its mass matrix M, forces f and Jacobians J give
    accelerations a with :math:`M a + J^\top \lambda = f, J a + \dot J v = 0`.
    """

    def forward(self):
        """Close the loops, from where they nearly are, and compute accelerations."""
        m, d = self.m, self.d
        for _ in range(CORRECTIONS):
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            gap, J, _ = self._loops()
            mujoco.mj_integratePos(m, d.qpos, -np.linalg.lstsq(J, gap, rcond=RANK)[0], 1.0)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        gap, J, _ = self._loops()
        if abs(gap).max() > CLOSED:
            raise ValueError(f"a loop is open by {abs(gap).max():.1e}")
        d.qvel -= np.linalg.lstsq(J, J @ d.qvel, rcond=RANK)[0]
        mujoco.mj_forward(m, d)
        _, J, bent = self._loops()
        M = self.mass_matrix()
        # The part of a along which loops move is theirs; what is left has no component of J.
        U, S, Vt = np.linalg.svd(J)
        rank = int(np.sum(RANK * S[0] < S))
        across, along = Vt[:rank], Vt[rank:]
        a = -across.T @ ((U[:, :rank].T @ bent) / S[:rank])
        force = M @ d.qacc  # without loops: what acts, less what velocities need
        a += along.T @ np.linalg.solve(along @ M @ along.T, along @ (force - M @ a))
        d.qacc[:] = a

    def _loops(self):
        """Return gaps, their Jacobian J and J' v of all loops; (rows,), (rows, nv), (rows,)."""
        parts = [self._loop(k) for k in range(self.m.neq)]
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def _loop(self, k):
        m, d, data = self.m, self.d, self.m.eq_data[k]
        welded = m.eq_type[k] == mujoco.mjtEq.mjEQ_WELD
        (first, p, R), (second, r, Q) = (
            self._end(k, index, data[3:6] if welded and side == 0 else anchor)
            for side, (index, anchor) in enumerate(
                ((m.eq_obj1id[k], data[:3]), (m.eq_obj2id[k], (0, 0, 0) if welded else data[3:6]))
            )
        )
        (Jp, Jr, dJp, dJr), (Kp, Kr, dKp, dKr) = (
            self._jacobians(body, at) for body, at in ((first, p), (second, r))
        )
        gap, J, bent = p - r, Jp - Kp, (dJp - dKp) @ d.qvel
        if not welded:
            return gap, J, bent
        turned = R @ quat_to_matrix(data[6:10])
        return (
            np.concatenate([gap, log(turned @ Q.T)]),
            np.vstack([J, Jr - Kr]),
            np.concatenate([bent, (dJr - dKr) @ d.qvel]),
        )

    def _end(self, k, index, anchor):
        """Return body, point and axes of one end of a loop."""
        m, d = self.m, self.d
        if m.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
            return m.site_bodyid[index], d.site_xpos[index].copy(), d.site_xmat[index].reshape(3, 3)
        R = d.xmat[index].reshape(3, 3)
        return index, d.xpos[index] + R @ anchor, R

    def _jacobians(self, body, at):
        m, d = self.m, self.d
        found = [np.zeros((3, m.nv)) for _ in range(4)]
        mujoco.mj_comVel(m, d)
        mujoco.mj_jac(m, d, found[0], found[1], at, body)
        mujoco.mj_jacDot(m, d, found[2], found[3], at, body)
        return found
