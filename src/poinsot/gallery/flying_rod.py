"""The flying spaghetti: a rod without supports, in the plane [SV86] and in space [SV88].

A force and a moment act at its lower end and are gone after a while. From then on energy and both
momenta are constant, and the centre of mass moves along a line: with the impulse P of the force

    p = P,    r_c(t) = r_c(0) + (P t - int_0^t F(s) s ds) / m,    t after the load.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.elements.sections import SectionLaw
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate
from poinsot.model import Model
from poinsot.model.rods import ElasticRod
from poinsot.parts.loads import ForcePort, TorquePort
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_energy_kinds
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: Ends of the rod at the start [m]; the load acts on the first.
LOWER, UPPER = np.array([6.0, 0.0, 0.0]), np.array([0.0, 8.0, 0.0])


@dataclass(frozen=True)
class FlyingRod:
    """Parameters of [SV86], SI units; `in_space()` are those of [SV88].

    The load is constant up to `pulse`; in space it grows up to `pulse` and is gone after twice
    that time.
    """

    axial: float = 1e4  # EA = GA
    bending: float = 100.0  # EI = GJ
    mass: float = 1.0  # rho A
    inertia: float = 10.0  # rho I; about the axis of the rod it is twice that
    force: tuple[float, float, float] = (8.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, -80.0)
    pulse: float = 2.5
    triangular: bool = False
    elements: int = 20

    @property
    def end_of_load(self) -> float:
        """When the load is gone [s]."""
        return 2 * self.pulse if self.triangular else self.pulse

    def share(self, t: float) -> float:
        """Return which share of the load acts at a time [s]."""
        if self.triangular:
            return max(0.0, min(t, self.end_of_load - t)) / self.pulse
        return 1.0 if t < self.pulse else 0.0

    @property
    def momentum(self) -> Array:
        """Linear momentum after the load [kg m/s]; both histories have the same impulse."""
        return self.pulse * np.array(self.force)

    def centre(self, t: float) -> Array:
        """Return where the centre of mass is at a time after the load [m]."""
        mass = self.mass * np.linalg.norm(UPPER - LOWER)
        flown = self.momentum / mass * (t - self.end_of_load / 2)
        return np.asarray((LOWER + UPPER) / 2 + flown)


def in_space(elements: int = 20) -> FlyingRod:
    """Return the rod of [SV88], which is pushed out of its plane."""
    return FlyingRod(
        bending=500.0,
        force=(20.0, 0.0, 0.0),
        torque=(0.0, 100.0, -200.0),
        triangular=True,
        elements=elements,
    )


def model(rod: FlyingRod = FlyingRod()) -> Model:
    """Build the rod, body `rod`, with the ports `force` and `torque` at its lower end."""
    section = SectionLaw(
        stiffness=3 * (rod.axial,) + 3 * (rod.bending,),
        mass=rod.mass,
        inertia=(rod.inertia, rod.inertia),
    )
    flight = Model(name="flying-rod")
    body = flight.add_body(
        "rod", ElasticRod([LOWER, UPPER], section, rod.elements, normal=(0, 0, 1))
    )
    force, torque = np.array(rod.force), np.array(rod.torque)
    flight.add_port("force", ForcePort(body.start, value=lambda t: rod.share(t) * force))
    flight.add_port("torque", TorquePort(body.start, value=lambda t: rod.share(t) * torque))
    return flight


def shape(result: Result, t: float, name: str = "rod") -> Array:
    """Return the nodes of a rod at a time [m]; shape (nodes, 3)."""
    nodes = [body for body in result.observation.bodies if body.startswith(f"{name}.")]
    at = int(np.argmin(abs(result.time - t)))
    return np.array([result.position(node)[at] for node in nodes])


def ends(result: Result) -> Array:
    """Return lower and upper end at 2.5 s and at 5 s [m]; shape (2, 2, 3)."""
    return np.array([shape(result, t)[[0, -1]] for t in (2.5, 5.0)])


def refined(rods: Sequence[FlyingRod], h: float) -> Array:
    """Return the ends in the limit of small elements and steps, halved from rod to rod."""
    runs = [
        simulate(model(rod), h=h / 2**k, t_end=5.0, progress=False) for k, rod in enumerate(rods)
    ]
    return extrapolate([ends(run) for run in runs])


#: What `ends` returns by spectral elements of degree 44 and DOP853 with a tolerance of 1e-5; the
#: front of the load that starts with a jump leaves an error of some millimetres.
ENDS_IN_PLANE = np.array(
    [
        [(4.962732, 4.476012, 0.0), (3.583084, 6.111844, 0.0)],
        [(9.782562, 8.203309, 0.0), (8.074899, 1.759137, 0.0)],
    ]
)
#: The same in space, by degree 20 and with a tolerance of 1e-8; degree 16 differs by up to 8e-5.
ENDS_IN_SPACE = np.array(
    [
        [(3.606829, 0.044692, 0.427252), (3.981762, 8.531724, 0.540473)],
        [(19.213617, 1.625544, 2.127239), (12.952985, 6.809448, -3.028775)],
    ]
)


def check(result: Result) -> list[Check]:
    """Compare with the impulse of the load, and limits of small elements and steps."""
    rod, space = FlyingRod(), in_space()
    flight = simulate(model(space), h=result.h, t_end=10.0, progress=False)
    expected = [*rod.momentum, *rod.centre(result.time[-1])]
    names = [
        *(f"linear momentum, {axis} [kg m/s]" for axis in "xyz"),
        *(f"centre of mass at the end, {axis} [m]" for axis in "xyz"),
    ]
    found = [*result.linear_momentum[-1], *_centre(result, rod)]
    plane = refined([FlyingRod(elements=n) for n in (10, 20, 40)], 0.05) - ENDS_IN_PLANE
    deep = refined([in_space(n) for n in (10, 20, 40)], 0.05) - ENDS_IN_SPACE
    spectral = "spectral elements, DOP853"
    return [
        *compare(names, found, expected, 1e-11, "impulse of the load"),
        *_kept(result, rod.end_of_load, "in the plane"),
        vanishing(
            "linear momentum in space - impulse [kg m/s]",
            flight.linear_momentum[-1] - space.momentum,
            1e-11,
        ),
        *_kept(flight, space.end_of_load, "in space"),
        vanishing("error of ends in the plane, h, l -> 0 [m]", plane, 5e-3, spectral),
        vanishing("error of ends in space, h, l -> 0 [m]", deep, 3e-4, spectral),
    ]


def _centre(result: Result, rod: FlyingRod) -> Array:
    """Return the centre of mass at the end [m]: nodes at the ends have half of the others' mass."""
    nodes = shape(result, result.time[-1])
    weights = np.r_[0.5, np.ones(rod.elements - 1), 0.5] / rod.elements
    return np.asarray(weights @ nodes)


def changes(result: Result, end_of_load: float) -> dict[str, Array]:
    """Return how energy and momenta have changed since the load was gone, relative to them."""
    free = result.time > end_of_load
    kept = {
        "energy": result.energy[:, None],
        "linear momentum": result.linear_momentum,
        "angular momentum": result.angular_momentum,
    }
    flown = {name: values[free] for name, values in kept.items()}
    return {
        name: np.linalg.norm(values - values[0], axis=1) / np.linalg.norm(values[0])
        for name, values in flown.items()
    }


def _kept(result: Result, end_of_load: float, where: str) -> list[Check]:
    return [
        vanishing(f"change of {name} after the load, {where}", values, 1e-11)
        for name, values in changes(result, end_of_load).items()
    ]


def plot(result: Result) -> "Figure":
    """Plot shapes in the plane and in space, and energies."""
    space = in_space()
    flight = simulate(model(space), h=result.h, t_end=7.5, progress=False)
    with drawing(10, 8) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(1.3, 1), width_ratios=(1.5, 1))
        plane = figure.add_subplot(grid[0, :])
        _plot_shapes(result, plane)
        title = "The rod in the plane, every half second; a dot is the end that was loaded"
        describe(plane, title, "y [m]", xlabel="x [m]", aspect="equal")
        deep = figure.add_subplot(grid[1, 0], projection="3d")
        _plot_shapes(flight, deep, axes=(0, 2, 1))
        deep.set(xlim=(-1, 36), ylim=(-5, 5), zlim=(-1, 9))
        deep.set(yticks=(-4, 0, 4), zticks=(0, 4, 8))
        deep.set_zlabel("y [m]", labelpad=-5)
        deep.set_box_aspect((3.7, 1, 1), zoom=1.15)
        deep.view_init(elev=20, azim=-70)
        describe(deep, "In space", "z [m]", xlabel="x [m]")
        energy = figure.add_subplot(grid[1, 1])
        plot_energy_kinds(result, energy, title="Energy in the plane", ylim=(-10, 540))
        energy.legend(ncols=2, loc="upper right")
    return figure


def _plot_shapes(result: Result, ax: Any, axes: Sequence[int] = (0, 1)) -> None:
    """Draw the rod every half second up to 7.5 s, with its loaded end as a dot."""
    for t, colour in coloured(np.arange(0.0, 7.6, 0.5)):
        axis = smooth(shape(result, t)[:, axes])
        ax.plot(*axis.T, color=colour, linewidth=2.0)
        ax.plot(*axis[:1].T, "o", color=colour, markersize=4)


def smooth(nodes: Array) -> Array:
    """Return a curve through the nodes of a rod; shape (201, ...)."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(np.linspace(0, 1, len(nodes)), nodes)
    return np.asarray(curve(np.linspace(0, 1, 201)))


def coloured(times: Array) -> Iterator[tuple[float, Any]]:
    """Return each of some times with its colour, from dark to light."""
    from matplotlib import colormaps

    colours = colormaps["viridis"](np.linspace(0, 0.9, times.size))
    yield from zip(times.tolist(), colours, strict=True)


EXAMPLE = Example(
    title="Flying rod",
    source="[SV86], [SV88]",
    scheme="ph-mp",
    h=0.025,
    t_end=15.0,
    model=model,
    check=check,
    plot=plot,
)
