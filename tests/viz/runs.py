"""Short runs to draw pictures of."""

import poinsot as ps
from poinsot.gallery import find_example


def run(name, **options):
    return find_example(name).run(**options)


EVIL = "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"


def evil():
    """A run whose names would do harm if they were taken for anything but names."""
    model = ps.Model(gravity=(0, 0, -9.81), name=f"{EVIL}</title>")
    a = model.add_body(EVIL, ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    b = model.add_body("$x^$_{", ps.Sphere(mass=1, radius=0.1), position=(1, 0, -0.5))
    hinge = ps.Revolute(model.ground, a, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("_'\"><svg onload=alert(1)>", hinge)
    model.add_joint("</script>", ps.Rod(a, b, point_a=(1, 0, 0), point_b=(1, 0, -0.5)))
    model.add_marker("{{script}}", b, position=(1, 0, -0.6))
    model.add_port("</iframe>$", ps.JointPort("_'\"><svg onload=alert(1)>"))
    return ps.simulate(model, h=0.01, t_end=0.2)
