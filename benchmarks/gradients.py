"""Gradients by 1 to 20 parameters against runs, both engines: ``python -m benchmarks.gradients``.

What a gradient costs in multiples of a run of the reference engine, on which its sweep runs, with
the models that are built near the model apart; and of a compiled run, beside central differences.
"""

from time import process_time

import poinsot as ps
from poinsot.analysis import Final

from poinsot.gallery import spatial_slider_crank as crank

H, STEPS = 0.01, 400
BODIES = ("crank", "rod", "slider")
PATHS = [
    *(f"bodies.{name}.mass" for name in BODIES),
    "bodies.rod.inertia",
    *(f"joints.{name}.point" for name in ("A", "B", "C")),
    "gravity",
    "initial.crank.angular_velocity.x",
]


def numbers(count):
    """Return paths of so many numbers of the slider-crank."""
    single = []
    for path in PATHS:
        vector = path.split(".")[-1] in ("inertia", "point", "gravity")
        single += [f"{path}.{k}" for k in range(3)] if vector else [path]
    return single[:count]


def seconds(function, repeat=3):
    """Return the least processor time of some calls [s]."""
    times = []
    for _ in range(repeat):
        began = process_time()
        function()
        times.append(process_time() - began)
    return min(times)


def main():
    """Print the table."""
    model = crank.model(crank.SliderCrank())
    how = {"h": H, "t_end": H * STEPS}
    loss = Final("slider.position.x")

    def run(engine):
        return lambda: ps.simulate(model, engine=engine, progress=False, **how)

    reference, compiled = seconds(run("reference")), seconds(run("compiled"))
    print(f"{STEPS} steps of the spatial slider-crank: reference {reference:.3f} s, ", end="")
    print(f"compiled {compiled:.4f} s")
    print("parameters  models [s]  whole [s]  / reference  without models  / compiled")
    for count in (1, 5, 10, 20):
        paths = numbers(count)

        def build(paths=paths):
            own = _Run.of(
                model, paths, (H, 0.0, how["t_end"]), None, None, None, None, "auto", None, 1e9
            )
            return own.variations.directions

        def whole(paths=paths):
            return ps.gradient(model, loss, paths, **how)

        models, took = seconds(build, 1), seconds(whole)
        print(
            f"{len(paths):10d} {models:11.2f} {took:10.2f} {took / reference:12.2f} "
            f"{(took - models) / reference:15.2f} {took / compiled:11.0f}"
        )


if __name__ == "__main__":
    main()
