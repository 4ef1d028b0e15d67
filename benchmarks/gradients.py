"""Gradients by 1 to 40 numbers against compiled runs: ``python -m benchmarks.gradients``.

What a step of a gradient costs in multiples of a step of a run, which saves nothing but its end, or
every step; both in machine code, on one core. Then what does not depend on how many steps there
are: the models that are built near the model. Then whole gradients in multiples of whole runs, all
that `ps.gradient` and `ps.simulate` do. And how much memory a gradient takes at most, over numbers
of steps. Times are medians of processor time; every gradient is measured right after a run.
"""

import resource
import subprocess
import sys
from itertools import pairwise
from statistics import median
from time import process_time

from benchmarks.environment import pin

#: Small enough that gradients of chaotic motions do not overflow over all steps.
H = 0.001
STEPS = 30_000
COUNTS = (1, 5, 20, 40)
REPEATS = 3
#: What does not depend on the number of steps is seen with so few of them.
FEW = 10
#: Numbers of steps over which whole gradients are compared with whole runs, and of parameters.
WHOLE, PARAMETERS = (100, 1_000, 10_000), 20
#: What is derived: where a body is in the end.
LOSS = "{0}.position.x + {0}.position.y + {0}.position.z"
#: Numbers of steps of which memory is measured, and what states may take of it [bytes].
LENGTHS, MEMORY = (10_000, 100_000, 400_000), 2**25


def chain(links):
    """Return a chain of links on ball joints, held at one end and let fall."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name=f"chain of {links}")
    before = model.ground
    for k in range(links):
        shape = ps.Box(mass=1.0 + 0.1 * k, size=(1.0, 0.6, 0.4))
        link = model.add_body(f"link{k}", shape, position=(k + 0.5, 0, 0))
        model.add_joint(f"J{k}", ps.Spherical(before, link, point=(k, 0, 0)))
        before = link
    return model, f"link{links - 1}"


def slider_crank():
    """Return the spatial slider-crank of the gallery."""
    from poinsot.gallery import spatial_slider_crank as crank

    return crank.model(crank.SliderCrank()), "slider"


def with_friction():
    """Return the slider-crank with dry friction in its hinges and drag."""
    import poinsot as ps

    model, body = slider_crank()
    for name, joint in model.joints.items():
        if isinstance(joint, ps.Revolute | ps.Prismatic):
            law = {"coulomb": 0.02, "viscous": 0.01, "slip": 0.01}
            model.add_force(f"friction in {name}", ps.JointFriction(name, **law))
    model.add_force("drag", ps.Drag(model.body(body), quadratic=0.1))
    return model, body


def rod():
    """Return an elastic rod of 8 elements that falls from a clamped end."""
    import poinsot as ps

    model, section = ps.Model(gravity=(0, 0, -9.81), name="rod"), ps.CircularSection(radius=0.02)
    material = {"youngs_modulus": 2e6, "shear_modulus": 8e5, "density": 1500, "damping_time": 0.01}
    shape = ps.ElasticRod([(0, 0, 0), (1, 0, 0.1)], section, 8, **material)
    model.add_joint("clamp", ps.Weld(model.ground, model.add_body("rod", shape).start))
    return model, "rod.end"


def four_bar():
    """Return a four-bar of four hinges, three of whose constraints repeat others."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name="four-bar")
    points = [(0, 0, 0), (0, 0.1, 0.3), (0, 0.6, 0.5), (0, 0.7, 0)]
    before = model.ground
    for k, (a, b) in enumerate(pairwise(points)):
        middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
        shape = ps.RigidBody(mass=1 + 0.2 * k, inertia=(0.02, 0.02, 0.01))
        body = model.add_body(f"bar{k}", shape, position=middle)
        model.add_joint(f"J{k}", ps.Revolute(before, body, point=a, axis=(1, 0, 0)))
        before = body
    model.add_joint("J3", ps.Revolute(model.ground, before, point=points[3], axis=(1, 0, 0)))
    return model, "bar2"


def springs():
    """Return a chain of 8 hinges with springs, dampers and friction."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name="springs")
    before = model.ground
    for k in range(8):
        shape = ps.Box(mass=1.0 + 0.1 * k, size=(1.0, 0.6, 0.4))
        link = model.add_body(f"link{k}", shape, position=(k + 0.5, 0, 0))
        model.add_joint(f"J{k}", ps.Revolute(before, link, point=(k, 0, 0), axis=(0, 1, 0)))
        hinge = ps.JointSpring(f"J{k}", stiffness=40.0, damping=1.0, rest=0.1)
        model.add_force(f"hinge{k}", hinge)
        friction = ps.JointFriction(f"J{k}", coulomb=0.2, viscous=0.1, slip=0.05)
        model.add_force(f"friction{k}", friction)
        ends = {"point_a": (k - 0.3, 0, 0.5), "point_b": (k + 0.5, 0, 0.3)}
        spring = ps.Spring(before, link, **ends, stiffness=30.0, damping=0.5)
        model.add_force(f"spring{k}", spring)
        before = link
    return model, "link7"


def platform():
    """Return a body that hangs on 20 springs with dampers."""
    import numpy as np

    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name="platform")
    shape = ps.Box(mass=4.0, size=(1.0, 1.0, 0.2))
    body = model.add_body("platform", shape, position=(0, 0, 1))
    for k in range(20):
        way = np.array([np.cos(0.1 * np.pi * k), np.sin(0.1 * np.pi * k), 0])
        ends = {"point_a": 1.5 * way + (0, 0, 2 + 0.3 * way[0]), "point_b": 0.5 * way + (0, 0, 1.1)}
        spring = ps.Spring(model.ground, body, **ends, stiffness=30.0 + k, damping=0.5)
        model.add_force(f"spring{k}", spring)
    return model, "platform"


def with_motors(links):
    """Return a chain of hinges, each with a motor and its circuit."""
    import poinsot as ps

    model, before = ps.Model(gravity=(0, 0, -9.81), name=f"{links} motors"), None
    for k in range(links):
        shape = ps.Box(mass=1.0 + 0.1 * k, size=(1.0, 0.1, 0.1))
        link = model.add_body(f"link{k}", shape, position=(k + 0.5, 0, 0))
        hinge = ps.Revolute(before or model.ground, link, point=(k, 0, 0), axis=(0, 1, 0))
        model.add_joint(f"J{k}", hinge)
        coil = ps.ph.linear(
            f"coil{k}",
            states=[ps.ph.State("flux", unit="Wb")],
            J=[[0.0]],
            R=[[1.2]],
            Q=[[500.0]],
            B=[[1.0, 1.0]],
            ports=[ps.ph.Port("supply", 1, "V", "A"), ps.ph.Port("shaft", 1, "V", "A")],
        )
        model.add_system(f"coil{k}", coil)
        model.connect(ps.ph.Gyrator(f"J{k}", f"coil{k}.shaft", C=0.5, unit="N m/A"))
        before = link
    return model, f"link{links - 1}"


def controlled(every=None):
    """Return a cart with a pole and a controller in continuous time, or a sampled one."""
    import poinsot as ps

    model = ps.Model(gravity=(0, 0, -9.81), name="controlled")
    cart = model.add_body("cart", ps.Box(mass=1.0, size=(0.3, 0.2, 0.1)))
    shape, spin = ps.Box(mass=0.2, size=(0.02, 0.02, 1.0)), (0, 2, 0)
    pole = model.add_body("pole", shape, position=(0, 0, -0.5), angular_velocity=spin)
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_joint("pin", ps.Revolute(cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", ps.JointPort("rail"))
    reads = ["rail", "rail.rate", "pin"]
    law = "-3*rail - rail_rate + sin(pin)"
    model.add_controller("law", law, reads=reads, drives=["motor"], every=every)
    return model, "pole"


#: Mechanisms, and how they are run.
MODELS = {
    "slider-crank": (slider_crank, {}),
    "stabilised": (slider_crank, {"scheme": "ph-mp-ggl"}),
    "in body axes": (slider_crank, {"coordinates": "rotations"}),
    "quaternions": (slider_crank, {"scheme": "emh-mean"}),
    "with friction": (with_friction, {}),
    "chain of 4": (lambda: chain(4), {}),
    "chain of 16": (lambda: chain(16), {}),
    "four-bar": (four_bar, {}),
    "elastic rod": (rod, {}),
    "springs": (springs, {}),
    "springs, ggl": (springs, {"scheme": "ph-mp-ggl"}),
    "platform": (platform, {}),
    "platform, ggl": (platform, {"scheme": "ph-mp-ggl"}),
    "2 motors": (lambda: with_motors(2), {}),
    "4 motors": (lambda: with_motors(4), {}),
    "controlled": (controlled, {}),
    "sampled": (lambda: controlled(H), {}),
}
#: Numbers of the parts of springs and platform, by kind.
OF_PARTS = {
    "springs": {
        "hinge": ("stiffness", "damping", "rest"),
        "friction": ("coulomb", "viscous"),
        "spring": ("stiffness", "damping"),
    },
    "platform": {"spring": ("stiffness", "damping")},
}


def numbers(model, count):
    """Return paths of so many numbers of a model, or of as many as there are.

    Masses come first, then inertia, gravity and the points of joints; of springs and platform, it
    is those of what acts.
    """
    import poinsot as ps

    if model.name in OF_PARTS:
        kinds = OF_PARTS[model.name].items()
        acting = [
            f"forces.{force}.{number}"
            for kind, names in kinds
            for number in names
            for force in model.forces
            if force.startswith(kind)
        ]
        return acting[:count]
    if model.name == "rod":
        of_rod = ("youngs_modulus", "shear_modulus", "density", "damping_time")
        return [*(f"bodies.rod.{name}" for name in of_rod), *(f"gravity.{k}" for k in range(3))][
            :count
        ]
    bodies = list(model.bodies)
    paths = [f"bodies.{name}.mass" for name in bodies]
    for name in bodies:
        what = "inertia" if isinstance(model.body(name).shape, ps.RigidBody) else "size"
        paths += [f"bodies.{name}.{what}.{k}" for k in range(3)]
    paths += [f"gravity.{k}" for k in range(3)]
    # Hinges that close a loop in a plane do not fit if they are moved out of it.
    along = (1, 2) if model.name == "four-bar" else (0, 1, 2)
    paths += [f"joints.{name}.point.{k}" for name in model.joints for k in along]
    return paths[:count]


def took(function):
    """Return the processor time of a call [s]."""
    began = process_time()
    function()
    return process_time() - began


def measure(name):
    """Print what gradients of a model cost."""
    import poinsot as ps
    from poinsot.analysis import Final

    make, options = MODELS[name]
    model, body = make()
    loss = Final(LOSS.format(body))
    how = {"h": H, "engine": "compiled", **options}
    end = H * STEPS
    for count in dict.fromkeys(len(numbers(model, count)) for count in COUNTS):
        paths, rows = numbers(model, count), []

        def gradient(t_end, paths=paths):
            return took(lambda: ps.gradient(model, loss, paths, t_end=t_end, **how))

        gradient(FEW * H)  # imports, and machine code is read
        for _ in range(REPEATS):
            bare = took(
                lambda: ps.simulate(model, t_end=end, progress=False, save_every=STEPS, **how)
            )
            saved = took(lambda: ps.simulate(model, t_end=end, progress=False, **how))
            rows.append((bare, saved, gradient(FEW * H), gradient(end)))
        bare, saved, fixed, whole = (median(each) for each in zip(*rows, strict=True))
        steps = whole - fixed
        print(
            f"{name:14s}{count:5d}{1e6 * bare / STEPS:10.2f}{1e6 * saved / STEPS:10.2f}"
            f"{1e6 * steps / STEPS:13.2f}{steps / bare:8.1f}{steps / saved:9.1f}{fixed:11.2f}",
            flush=True,
        )


def compare(name):
    """Print what gradients of a model cost from beginning to end."""
    import poinsot as ps
    from poinsot.analysis import Final

    make, options = MODELS[name]
    model, body = make()
    paths, loss = numbers(model, PARAMETERS), Final(LOSS.format(body))
    ratios = []

    def both(t_end):
        how = {"h": H, "t_end": t_end, "engine": "compiled", **options}
        run = took(lambda: ps.simulate(model, progress=False, **how))
        return run, took(lambda: ps.gradient(model, loss, paths, **how))

    for steps in WHOLE:
        both(H * FEW)
        rows = [both(H * steps) for _ in range(2 * REPEATS + 1)]
        run, gradient = (median(each) for each in zip(*rows, strict=True))
        ratios.append(f"{1e3 * run:10.0f}{1e3 * gradient:10.0f}{gradient / run:6.1f}")
    print(f"{name:14s}{len(paths):5d}" + "".join(ratios), flush=True)


def peak(steps):
    """Print the most memory that a gradient over so many steps took [MB]."""
    import poinsot as ps
    from poinsot.analysis import Final

    model, body = slider_crank()
    how = {"h": H, "t_end": H * steps, "engine": "compiled", "memory": MEMORY}
    ps.gradient(model, Final(LOSS.format(body)), ["bodies.rod.mass"], **how)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


def main():
    """Print the tables."""
    pin()
    if len(sys.argv) > 1:
        peak(int(sys.argv[1]))
        return
    print(f"per step, over {STEPS} steps; and what does not depend on how many there are")
    print("mechanism   numbers  run [us]  saved [us]  gradient [us]  / run  / saved  fixed [s]")
    for name in MODELS:
        measure(name)
    print("whole runs and gradients [ms], and their ratio, over so many steps")
    print(f"mechanism   numbers{WHOLE[0]:26d}{WHOLE[1]:26d}{WHOLE[2]:26d}")
    for name in MODELS:
        compare(name)
    print(f"most memory of a gradient, of which {MEMORY / 2**20:.0f} MB for states")
    for steps in LENGTHS:
        command = [sys.executable, "-m", "benchmarks.gradients", str(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{steps:10d} steps {done.stdout.strip():>6s} MB", flush=True)


if __name__ == "__main__":
    main()
