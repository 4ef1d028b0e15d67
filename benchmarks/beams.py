"""Ten floating beams of ten elements, hinged to each other: steps a second.

`python -m benchmarks beams` prints a table. The chain lies along x, and falls under its weight; its
beams bend in the plane alone, or in space.
"""

from statistics import median
from time import process_time
from typing import Any

#: Step [s], times [s] of a short and a long run, whose difference counts; beams and elements.
H, T, BEAMS, ELEMENTS = 1e-3, (0.05, 2.05), 10, 10


def chain(*, planar: bool) -> Any:
    """Return the model of the chain."""
    import poinsot as ps

    model = ps.Model(gravity=(0, -9.81, 0))
    beam = ps.Beam(
        length=1.0,
        section=ps.RectangularSection(width=0.02, height=0.03),
        density=2700,
        youngs_modulus=7e10,
        elements=ELEMENTS,
        planar=planar,
    )
    last = model.ground
    for k in range(BEAMS):
        body = model.add_body(f"beam{k}", beam, position=(k + 0.5, 0, 0))
        hinge = ps.Revolute(last, body.start, point=(k, 0, 0), axis=(0, 0, 1))
        model.add_joint(f"hinge{k}", hinge)
        last = body.end
    return model


def beams(repeats: int) -> list[dict[str, Any]]:
    """Return the time of a step of each chain [s], and its iterations a step."""
    import poinsot as ps

    rows = []
    for planar in (True, False):
        model, times, iterations = chain(planar=planar), [], 0.0
        for _ in range(repeats):
            clock = [process_time()]
            for t_end in T:
                options: dict[str, Any] = {"save_every": round(t_end / H), "engine": "compiled"}
                stats = ps.simulate(model, h=H, t_end=t_end, progress=False, **options).stats
                clock.append(process_time())
                iterations = stats.newton_iterations / stats.steps
            start, short, long = clock
            times.append(((long - short) - (short - start)) / ((T[1] - T[0]) / H))
        what = "in the plane" if planar else "in space"
        rows.append({"name": what, "seconds": median(times), "iterations": iterations})
    return rows
