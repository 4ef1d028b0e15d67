"""A ladder of N four-bar loops in a plane: problem A02 of the IFToMM benchmark library.

2N + 1 rods of 1 m and 1 kg: N + 1 stand on hinges at x = 0 ... N, N connect their tops. Gravity is
9.81 m/s^2 along -y, and the tops start to move at 1 m/s along x
(http://lim.ii.udc.es/mbsbenchmark/dist/A02/A02_specification.xml).

Hinges in space would repeat constraints in every loop. Each loop is therefore closed by a pin,
which locks the two directions in the plane; the mechanism is the same.
"""

import numpy as np

from benchmarks.mechanism import GROUND, Body, Joint, Mechanism, box_inertia

LENGTH, MASS, THICKNESS = 1.0, 1.0, 0.05  # m, kg, m; the thickness has no influence in the plane
SPEED = 1.0  # m/s


def ladder(count: int) -> Mechanism:
    """Return the ladder of `count` loops."""
    # The inertia about z is that of a thin rod, as published.
    thin = box_inertia(MASS, (LENGTH, THICKNESS, THICKNESS))
    inertia = (thin[0], thin[1], MASS * LENGTH**2 / 12)
    x, y, z = np.eye(3)
    posts = [
        Body(
            name=f"post{i}",
            mass=MASS,
            inertia=inertia,
            position=i * x + LENGTH / 2 * y,
            rotation=np.column_stack([y, -x, z]),
            velocity=SPEED / 2 * x,
            angular_velocity=-SPEED / LENGTH * z,
        )
        for i in range(count + 1)
    ]
    rails = [
        Body(
            name=f"rail{i}",
            mass=MASS,
            inertia=inertia,
            position=(i + 0.5) * x + LENGTH * y,
            velocity=SPEED * x,
        )
        for i in range(count)
    ]
    feet = [
        Joint(f"foot{i}", "revolute", GROUND, f"post{i}", i * x, axis=z) for i in range(count + 1)
    ]
    heads = [
        Joint(f"head{i}", "revolute", f"post{i}", f"rail{i}", i * x + LENGTH * y, axis=z)
        for i in range(count)
    ]
    pins = [
        Joint(f"pin{i}", "pin", f"post{i + 1}", f"rail{i}", (i + 1) * x + LENGTH * y, axis=z)
        for i in range(count)
    ]
    return Mechanism(
        name=f"ladder-{count}",
        bodies=(*posts, *rails),
        joints=(*feet, *heads, *pins),
        gravity=(0.0, -9.81, 0.0),
        planar=True,
    )
