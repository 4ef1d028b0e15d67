r"""A straight strip of steel, bent into a ring and let go.

What it stores as a ring of circumference L is :math:`E = 2 \pi^2 EI / L`. It has no momentum, and
stays symmetric. Curvature fades from the free ends with waves before it, whose shape does not
change: with the Fresnel integral S and :math:`c^2 = EI / (\rho A)`, near an end [AN05]

.. math:: \kappa(s, t) = 2 \kappa_0\, S\!\left(\frac{s}{\sqrt{2 \pi c t}}\right),

so that it bends more before it straightens: by 1.428 times, which breaks spaghetti.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from poinsot.elements.sections import RectangularSection
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.flying_rod import coloured, shape, smooth
from poinsot.model import Model
from poinsot.model.rods import ElasticRod
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_energy_kinds
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing

#: The largest curvature over that at the start [AN05]: 2 S(sqrt 2).
OVERSHOOT = 1.428


@dataclass(frozen=True)
class Strip:
    """A strip of spring steel, SI units."""

    length: float = 1.0
    width: float = 0.02
    thickness: float = 5e-4
    youngs_modulus: float = 2.1e11
    shear_modulus: float = 8e10
    density: float = 7800.0
    elements: int = 48

    @property
    def bending(self) -> float:
        """EI [N m^2]."""
        return self.youngs_modulus * self.width * self.thickness**3 / 12

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.density * self.width * self.thickness * self.length

    @property
    def diffusion(self) -> float:
        """The constant c of waves [m^2/s]."""
        return float(np.sqrt(self.bending * self.length / self.mass))

    @property
    def energy(self) -> float:
        """What the ring stores [J]."""
        return 2 * np.pi**2 * self.bending / self.length


def wave(xi: Array) -> Array:
    """Return the curvature over that at the start where s = xi sqrt(c t) [AN05]."""
    from scipy.special import fresnel

    return np.asarray(2 * fresnel(xi / np.sqrt(2 * np.pi))[0])


def model(strip: Strip = Strip()) -> Model:
    """Build the ring, body `strip`, straight without stress, that does not stretch or shear."""
    radius = strip.length / (2 * np.pi)
    ring = Model(name="released-ring")
    ring.add_body(
        "strip",
        ElasticRod(
            lambda s: (radius * np.sin(2 * np.pi * s), radius * np.cos(2 * np.pi * s), 0.0),
            RectangularSection(width=strip.width, height=strip.thickness),
            strip.elements,
            youngs_modulus=strip.youngs_modulus,
            shear_modulus=strip.shear_modulus,
            density=strip.density,
            normal=(0, 0, 1),
            natural=[(0, 0, 0), (strip.length, 0, 0)],
            rigid=("shear", "extension"),
        ),
    )
    return ring


def curvatures(result: Result, strip: Strip) -> Array:
    """Return the curvature of every element over that of the ring; shape (times, elements)."""
    names = [f"strip.{k}" for k in range(strip.elements + 1)]
    tangents = np.stack([result.rotation(name)[:, :, 2] for name in names], axis=1)
    angles = np.unwrap(np.arctan2(tangents[:, :, 1], tangents[:, :, 0]), axis=1)
    return np.asarray(-np.diff(angles, axis=1) * strip.elements / (2 * np.pi))


#: Where waves are looked at, over sqrt(c t): up to the first trough.
XI = np.linspace(0.3, 6.0, 115)


@cache
def early(strip: Strip = Strip(elements=160)) -> tuple[Array, Array]:
    """Return times [s] and curvature over that of the ring at `XI`; (times, XI), from an end on.

    At early times only: later on waves of the other end disturb them.
    """
    result = simulate(model(strip), h=4e-6, t_end=6e-4, save_every=5, progress=False)
    s = (np.arange(strip.elements) + 0.5) * strip.length / strip.elements
    later = np.flatnonzero(result.time > 2e-4)
    found = curvatures(result, strip)
    times = result.time[later]
    waves = [
        np.interp(XI, s / np.sqrt(strip.diffusion * t), found[k])
        for k, t in zip(later, times, strict=True)
    ]
    return times, np.array(waves)


def check(result: Result) -> list[Check]:
    """Compare with the energy of the ring, what symmetry keeps, and the waves of [AN05]."""
    strip = Strip()
    momentum = np.sqrt(2 * strip.mass * strip.energy)
    nodes = np.stack([result.position(f"strip.{k}") for k in range(strip.elements + 1)], axis=1)
    mirrored = nodes[:, ::-1] * (-1, 1, 1)
    waves = early()[1].mean(axis=0)
    return [
        Check("energy of the ring [J]", result.energy[0], strip.energy, 1e-5, "2 pi^2 EI / L"),
        vanishing("change of energy [J]", result.energy - result.energy[0], 1e-12),
        vanishing("linear momentum, relative", result.linear_momentum / momentum, 1e-11),
        vanishing(
            "angular momentum, relative",
            result.angular_momentum / (momentum * strip.length),
            1e-11,
        ),
        vanishing("difference from its mirror image [m]", nodes - mirrored, 1e-9),
        vanishing("largest shear and extension of elements [m]", result.constraint_error, 1e-12),
        Check("largest curvature over that of the ring", waves.max(), OVERSHOOT, 0.02, "[AN05]"),
        vanishing("its mean wave - Fresnel integral", waves - wave(XI), 0.06, "[AN05]"),
    ]


def plot(result: Result) -> "Figure":
    """Plot shapes, waves of curvature and energies."""
    with drawing(10, 8) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(1.4, 1))
        shapes = figure.add_subplot(grid[0, :])
        for t, colour in coloured(np.arange(0.0, 0.1001, 0.01)):
            shapes.plot(*smooth(shape(result, t, "strip")[:, :2]).T, color=colour, linewidth=2.0)
        title = "The strip every 10 ms, from the ring on"
        describe(shapes, title, "y [m]", xlabel="x [m]", aspect="equal")
        waves = figure.add_subplot(grid[1, 0])
        times, found = early()
        for k in np.linspace(0, times.size - 1, 6).astype(int):
            waves.plot(XI, found[k], color=COLOURS[5], linewidth=0.8)
        waves.plot(XI, found.mean(axis=0), color=COLOURS[0], label="mean of 0.2 to 0.6 ms")
        waves.plot(XI, wave(XI), "--", color=COLOURS[1], label="Fresnel integral [AN05]")
        title = "Curvature over that of the ring, near an end"
        describe(waves, title, "", xlabel=r"distance from the end over $\sqrt{c\,t}$")
        waves.legend(loc="lower right")
        energy = figure.add_subplot(grid[1, 1])
        plot_energy_kinds(result, energy, title="Energy", ylim=(-0.05, 1.15))
        energy.legend(ncols=2, loc="upper right")
    return figure


EXAMPLE = Example(
    title="Released ring",
    source="[AN05]",
    scheme="ph-mp",
    h=2e-4,
    t_end=0.15,
    model=model,
    check=check,
    plot=plot,
)
