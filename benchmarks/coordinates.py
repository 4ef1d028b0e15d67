"""A ring of four bars on ball joints in directors and in quaternions, microseconds a step.

`python -m benchmarks.coordinates` prints a table. The ring is that of [KB24, sec. 5.5]; it spins
from the start instead of being pushed, so that no time goes into inputs.
"""

from statistics import median
from typing import Any

from benchmarks.environment import pin

SCHEMES = ("ph-mp", "emh-mean", "emh", "null-eml", "reml", "eml")
#: Step [s], steps of a run (Livens' schemes stop after 491 of them), and runs.
H, STEPS, REPEATS = 0.01, 400, 21


def ring() -> Any:
    """Return four bars of ten metres, joined at their ends, turning and folding."""
    import poinsot as ps

    model = ps.Model(name="ring")
    places = ((5, 0, 0), (0, 5, 0), (-5, 0, 0), (0, -5, 0))
    corners = ((5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0))
    bars = []
    for k, place in enumerate(places):
        size = (1, 10, 1) if k % 2 == 0 else (10, 1, 1)
        spin = (0.1 * k, 0.2, 1.0)
        box = ps.Box(mass=10, size=size)
        bars.append(model.add_body(f"bar {k}", box, position=place, angular_velocity=spin))
    for k, corner in enumerate(corners):
        model.add_joint(f"ball {k}", ps.Spherical(bars[k], bars[(k + 1) % 4], point=corner))
    model.project_velocities()
    return model


def microseconds() -> dict[str, float]:
    """Return the time of a step [us] by scheme; all take turns."""
    from benchmarks.size_reduction import seconds

    model = ring()
    for scheme in SCHEMES:
        seconds(model, scheme, "compiled", H, 10 * H)  # compiled, and out of the cold
    rounds = [
        {s: seconds(model, s, "compiled", H, STEPS * H) for s in SCHEMES} for _ in range(REPEATS)
    ]
    return {s: 1e6 * median(times[s] for times in rounds) / STEPS for s in SCHEMES}


def main() -> None:
    """Measure on one core, and print."""
    pin()  # before anything numerical is imported
    found = microseconds()
    print("| scheme | microseconds a step | of ph-mp |\n| :--- | ---: | ---: |")
    for scheme, time in found.items():
        print(f"| `{scheme}` | {time:.3g} | {time / found['ph-mp']:.2f} |")


if __name__ == "__main__":
    main()
