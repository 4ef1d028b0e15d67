"""The spatial slider-crank of the gallery [LKB26, sec. 7.3], its crank at 6 rad/s at the start."""

import numpy as np

from benchmarks.mechanism import GROUND, Body, Joint, Mechanism
from poinsot.gallery import spatial_slider_crank as gallery


def slider_crank() -> Mechanism:
    """Return the mechanism of the gallery, body by body, its start completed by Poinsot.

    The last joint closes the loop: it is the spherical one, which every code can close by a point.
    """
    p, model = gallery.SliderCrank(), gallery.model()
    starts = model.start_velocities()
    bodies = tuple(
        Body(
            name=name,
            mass=body.mass,
            inertia=tuple(np.diag(body.shape.inertia_B)),
            position=body.position,
            rotation=body.R_WB,
            velocity=starts[name][0],
            angular_velocity=starts[name][1],
        )
        for name, body in model.bodies.items()
    )
    x, A, B, C = np.array([1.0, 0.0, 0.0]), np.array(p.A), np.array(p.B), np.array(p.C)
    joints = (
        Joint("A", "revolute", GROUND, "crank", A, axis=x),
        Joint("D", "prismatic", GROUND, "slider", C, axis=x),
        Joint("C", "universal", "slider", "rod", C, axis=x, axis_b=p.rod_axes[:, 1]),
        Joint("B", "spherical", "crank", "rod", B),
    )
    return Mechanism("slider-crank", bodies, joints, gravity=tuple(model.gravity))
