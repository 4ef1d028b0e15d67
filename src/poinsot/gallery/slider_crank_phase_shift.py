"""Why the paper's slider-crank runs ahead of the benchmark: the rod's inertia [LKB26, fig. 16].

The published benchmark curve belongs to the same mechanism with the rod's three moments of inertia
about other axes. With those, the same integrator meets the curve to a few hundredths of a
millimetre over five seconds.
"""

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.spatial_slider_crank import SliderCrank, model
from poinsot.model import Model
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz.style import COLOURS, Figure, drawing

# What others published: extracts of two solutions in the Library of Computational Benchmark
# Problems of the IFToMM Technical Committee for Multibody Dynamics, problem "Spatial rigid
# slider-crank mechanism", as kept in docs/verification of the Exudyn repository:
# https://www.iftomm-multibody.org/benchmark/problem/Spatial_rigid_slider-crank_mechanism/
# Columns: time [s], position of the slider [m].

#: R. Masoudi, the solution that came with the problem; every tenth of its 299 points, and the last.
MASOUDI = np.column_stack(
    [
        [*(np.arange(1, 30) * 50 / 299), 5.0],
        [
            *(0.249498591, 0.275662953, 0.188148922, 0.217530597, 0.278321759),
            *(0.234415945, 0.192884608, 0.238527913, 0.288465174, 0.199206304),
            *(0.209421456, 0.264900212, 0.252591875, 0.186595360, 0.228634358),
            *(0.289577700, 0.213605788, 0.201825396, 0.252409990, 0.271206396),
            *(0.186353697, 0.219645916, 0.281533590, 0.230073660, 0.194615603),
            *(0.241149820, 0.286518254, 0.196055522, 0.211384899, 0.261012849),
        ],
    ]
)

#: F. González, another solution of the same problem; every 25th point, a quarter of a second apart.
GONZALEZ = np.column_stack(
    [
        np.arange(1, 21) / 4,
        [
            *(0.284855404, 0.184952803, 0.251252901, 0.211754668, 0.224413540),
            *(0.256965540, 0.203206690, 0.289063554, 0.185932589, 0.256509783),
            *(0.205297450, 0.228450093, 0.248819524, 0.206512886, 0.289991578),
            *(0.188208161, 0.262034238, 0.199295373, 0.232687247, 0.240761815),
        ],
    ]
)

#: Where the rod's small moment of inertia, a tenth of the other two, lies.
RODS = {
    "along the rod": SliderCrank(),
    "across, third axis": replace(SliderCrank(), rod_inertia=(4e-3, 4e-3, 4e-4)),
    "across, joint axis": replace(SliderCrank(), rod_inertia=(4e-3, 4e-4, 4e-3)),
}
#: The rod of the paper, and the one that the benchmark's curve belongs to.
PAPER, BENCHMARK = "along the rod", "across, third axis"


def benchmark_model() -> Model:
    """Build the mechanism with the rod that the benchmark's curve belongs to."""
    return model(RODS[BENCHMARK])


def deviations(result: Result, curve: Array) -> Array:
    """Return ours minus theirs [m] at the times of a published curve that the run reached."""
    slider = result.body("slider")
    ours = CubicHermiteSpline(result.time, slider.position[:, 0], slider.velocity[:, 0])
    reached = curve[:, 0] <= result.time[-1] + 1e-9
    return np.asarray(ours(curve[reached, 0]) - curve[reached, 1])


def check(result: Result) -> list[Check]:
    """Compare both rods with the curve that belongs to each."""
    library = "IFToMM library of benchmark problems"
    paper = simulate(model(RODS[PAPER]), h=result.h, t_end=result.t_end)
    ours, theirs = deviations(result, MASOUDI), deviations(paper, GONZALEZ)
    return [
        vanishing("benchmark's rod: largest deviation from Masoudi [m]", ours, 2e-4, library),
        vanishing("paper's rod: largest deviation from González [m]", theirs, 2e-4, library),
    ]


def plot(result: Result) -> "Figure":
    """Plot the slider of each rod with the published points, and the distances between them."""
    runs = {
        name: result if name == BENCHMARK else simulate(model(rod), h=result.h, t_end=result.t_end)
        for name, rod in RODS.items()
    }
    published = {"Masoudi": MASOUDI, "González": GONZALEZ}
    with drawing(9, 9) as figure:
        motion, *distances = figure.subplots(3, 1, height_ratios=(1.5, 1, 1))
        for name, run in runs.items():
            label = f"4e-4 kg m² {name}"
            motion.plot(run.time, run.position("slider")[:, 0], label=label, linewidth=1.2)
        for (who, curve), marker in zip(published.items(), "ox", strict=True):
            motion.plot(*curve.T, marker, color="black", label=who, markersize=5, fillstyle="none")
        motion.set(xlabel="time [s]", ylabel="$x_s$ [m]", ylim=(0.18, 0.32))
        motion.legend(ncols=3)
        motion.set_title("Two published solutions belong to two different rods")
        for ax, who in zip(distances, published, strict=True):
            time = published[who][:, 0]
            for (name, run), colour in zip(runs.items(), COLOURS, strict=False):
                gap = abs(deviations(run, published[who]))
                ax.semilogy(time[: gap.size], gap, ".-", color=colour, label=name, linewidth=0.8)
            ax.set(xlabel="time [s]", ylabel="deviation [m]", ylim=(1e-8, 1))
            ax.set_title(f"Distance from {who}'s solution")
        distances[0].legend(ncols=3, loc="lower right")
    return figure


EXAMPLE = Example(
    title="Phase shift of the slider-crank",
    source="[LKB26, fig. 16]; IFToMM library of benchmark problems",
    scheme="ph-mp",
    h=0.001,
    t_end=5.0,
    model=benchmark_model,
    check=check,
    plot=plot,
)
