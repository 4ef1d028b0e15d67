r"""A four-bar of elastic links: its frequencies over the crank angle [BAPM21, sec. 6.1, fig. 6].

Crank, coupler and follower are Euler-Bernoulli beams that also stretch. The crank is clamped at an
angle, hinges join the links, and a point mass sits at each of the two moving hinges (eq. (48)).

The frequencies of the continuum follow from the dynamic stiffness of a link at a frequency, which
solves the equations of the beam without any element,

.. math::

    \rho A\, \omega^2 u_x + E A\, u_x'' = 0, \qquad \rho A\, \omega^2 u_y - E I\, u_y'''' = 0,

and from counting how many of them lie below a frequency (Wittrick and Williams 1971).
"""

from dataclasses import dataclass

import numpy as np

from poinsot.analysis import modes
from poinsot.bodies.beam import Beam
from poinsot.elements.sections import Section
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Revolute, Weld
from poinsot.result import Array, Result
from poinsot.so3 import Rotation
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

LINKS = ("crank", "coupler", "follower")
#: Crank angle [deg] -> frequencies of the continuum [rad/s], for the numbers of table 1.
EXACT = {
    0: (269.61825731, 305.71636607, 383.35251545),
    72: (291.76582312, 316.81353138, 577.65695309),
    180: (297.14044291, 315.98553517, 545.24088974),
}
#: The crank angle of the run, and others that the check looks at [deg].
ANGLE, OTHERS = 72.0, (36.0, 130.0, 251.0, 310.0)
#: Frequencies are looked for below this [rad/s].
HIGHEST = 4000.0


@dataclass(frozen=True)
class FourBar:
    """The parameters of [BAPM21, table 1], SI units."""

    ground: float = 0.254
    lengths: tuple[float, float, float] = (0.108, 0.2794, 0.2705)  # as LINKS
    areas: tuple[float, float, float] = (1.0774e-4, 4.0645e-5, 4.0645e-5)
    rigidities: tuple[float, float, float] = (11.472, 0.616, 0.616)  # E I
    density: float = 2714.0
    youngs_modulus: float = 7.1e10
    lumped: float = 0.042  # kg, at each of the moving hinges

    def points(self, angle: float) -> Array:
        """Return both ends of all links as complex numbers, the open linkage; angle [rad]."""
        a, b, c = self.lengths
        pin = a * np.exp(1j * angle)
        diagonal = self.ground - pin
        inner = np.arccos((b**2 + abs(diagonal) ** 2 - c**2) / (2 * b * abs(diagonal)))
        joined = pin + b * np.exp(1j * (np.angle(diagonal) + inner))
        return np.array([0, pin, joined, self.ground])


def link(bars: FourBar, k: int, elements: int) -> Beam:
    """Return a link as a planar beam; the hinge masses belong to coupler and follower."""
    moment = bars.rigidities[k] / bars.youngs_modulus
    return Beam(
        length=bars.lengths[k],
        section=Section(area=bars.areas[k], I1=moment, I2=moment, J=2 * moment),
        density=bars.density,
        youngs_modulus=bars.youngs_modulus,
        elements=elements,
        planar=True,
        start_mass=bars.lumped if k else 0.0,
    )


def model(
    angle: float = np.radians(ANGLE),
    *,
    elements: int = 4,
    bars: FourBar = FourBar(),
    gravity: float = 0.0,
) -> Model:
    """Build the linkage in the plane of x and y, its crank clamped at an angle [rad]."""
    loop = Model(gravity=(0, -gravity, 0), name="flexible-four-bar")
    ends, axis, links = bars.points(angle), (0, 0, 1), []
    for k, name in enumerate(LINKS):
        middle, along = (ends[k] + ends[k + 1]) / 2, np.angle(ends[k + 1] - ends[k])
        turned = Rotation.from_axis_angle(axis, float(along))
        beam = link(bars, k, elements)
        links.append(loop.add_body(name, beam, position=_point(middle), rotation=turned))
    crank, coupler, follower = links
    loop.add_joint("clamp", Weld(loop.ground, loop.body("crank.start")))
    loop.add_joint("crank pin", Revolute(crank, coupler, point=_point(ends[1]), axis=axis))
    loop.add_joint("follower pin", Revolute(coupler, follower, point=_point(ends[2]), axis=axis))
    loop.add_joint("pivot", Revolute(loop.ground, follower, point=_point(ends[3]), axis=axis))
    return loop


def _point(z: complex) -> tuple[float, float, float]:
    return float(np.real(z)), float(np.imag(z)), 0.0


def frequencies(degrees: float, elements: int = 4) -> Array:
    """Return the first three frequencies of the model [rad/s]."""
    return modes(model(np.radians(degrees), elements=elements), 3).frequencies


# -- the continuum ---------------------------------------------------------------------------------


def exact(degrees: float, count: int = 3, bars: FourBar = FourBar()) -> Array:
    """Return the frequencies of the continuum [rad/s], to 1e-11."""
    found = []
    for k in range(count):
        low, high = 1.0, HIGHEST
        while high - low > 1e-11 * high:
            mid = (low + high) / 2
            low, high = (low, mid) if _below(mid, degrees, bars) > k else (mid, high)
        found.append((low + high) / 2)
    return np.array(found)


def _below(omega: float, degrees: float, bars: FourBar) -> int:
    """Return how many frequencies lie below omega."""
    ends = bars.points(np.radians(degrees))
    # Unknowns: both moving hinges, where each has its place, and the rotation of every free end.
    places = ((None, None, None, 0, 1, 2), (0, 1, 3, 4, 5, 6), (4, 5, 7, None, None, 8))
    D, inner = np.zeros((9, 9)), 0
    for k, at in enumerate(places):
        member, clamped = _dynamic_stiffness(omega, bars, k)
        inner += clamped
        e = (ends[k + 1] - ends[k]) / bars.lengths[k]
        turn = np.array([[e.real, e.imag, 0], [-e.imag, e.real, 0], [0, 0, 1]])
        T = np.kron(np.eye(2), turn)
        rows, free = zip(*((row, j) for j, row in enumerate(at) if row is not None), strict=True)
        D[np.ix_(rows, rows)] += (T.T @ member @ T)[np.ix_(free, free)]
    for x, y in ((0, 1), (4, 5)):
        D[x, x] -= bars.lumped * omega**2
        D[y, y] -= bars.lumped * omega**2
    return inner + int(np.sum(np.linalg.eigvalsh(D) < 0))


def _dynamic_stiffness(omega: float, bars: FourBar, k: int) -> tuple[Array, int]:
    """Return forces at both ends over (u_x, u_y, theta), and how many clamped modes are below."""
    L, A, EI = bars.lengths[k], bars.areas[k], bars.rigidities[k]
    EA, mass = bars.youngs_modulus * A, bars.density * A
    a, b = omega * np.sqrt(mass / EA) * L, (omega**2 * mass / EI) ** 0.25 * L
    s, c, sh, ch = np.sin(b), np.cos(b), np.sinh(b), np.cosh(b)
    f = EI / (1 - c * ch)
    shear, near = b**3 * (s * ch + c * sh) / L**3, b**2 * s * sh / L**2
    far = b * (s * ch - c * sh) / L
    across, mixed, other = -(b**3) * (s + sh) / L**3, b**2 * (ch - c) / L**2, b * (sh - s) / L
    axial = EA / L * a / np.sin(a)
    D = np.zeros((6, 6))
    D[np.ix_([0, 3], [0, 3])] = axial * np.array([[np.cos(a), -1], [-1, np.cos(a)]])
    D[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] = f * np.array(
        [
            [shear, near, across, mixed],
            [near, far, -mixed, other],
            [across, -mixed, shear, -near],
            [mixed, other, -near, far],
        ]
    )
    whole = int(b / np.pi)
    bending = whole - (1 - (-1) ** whole * int(np.sign(1 - c * ch))) // 2
    return D, int(a / np.pi) + bending


# -- check and figure ------------------------------------------------------------------------------


def check(result: Result) -> list[Check]:
    """Compare frequencies with those of the continuum, at four and twelve elements."""
    source, checks = "exact Euler-Bernoulli values", list[Check]()
    for degrees, theirs in EXACT.items():
        names = [f"omega_{k} at {degrees}° [rad/s], 4 elements per link" for k in (1, 2, 3)]
        ours = frequencies(degrees)
        checks += [
            Check(name, own, other, 3e-4 * other, source)
            for name, own, other in zip(names, ours.tolist(), theirs, strict=True)
        ]
    names = [f"omega_{k} at 72° [rad/s], 12 elements" for k in (1, 2, 3)]
    checks += compare(names, frequencies(72, 12), EXACT[72], 1e-5 * EXACT[72][0], source)
    off = [frequencies(degrees) / exact(degrees) - 1 for degrees in OTHERS]
    return [
        *checks,
        vanishing("largest error at other angles, relative", off, 3e-4, "dynamic stiffness"),
        vanishing("largest balance error of the run [J]", result.stats.balance_error_max, 1e-14),
    ]


def plot(result: Result) -> "Figure":
    """Plot the three frequencies over the crank angle, the linkage, and a run under gravity."""
    angles, fine = np.arange(0, 360, 30), np.arange(0, 361, 4)
    lines = np.array([exact(d) for d in fine.tolist()])
    dots = np.array([frequencies(d) for d in angles.tolist()])
    with drawing(11, 4) as figure:
        place, over, motion = figure.subplots(1, 3, width_ratios=(1, 1.2, 1))
        _draw(place)
        for k in range(3):
            over.plot(fine, lines[:, k], color=COLOURS[k], label=rf"$\omega_{k + 1}$")
            over.plot(angles, dots[:, k], "o", color=COLOURS[k], markersize=4)
        describe(
            over,
            "Frequencies, fig. 6",
            "frequency [rad/s]",
            xlabel="crank angle [°]",
            ncols=3,
            room=0.15,
        )
        over.set_xticks(np.arange(0, 361, 60))
        for name in ("coupler.2", "follower.2"):
            sag = result.position(name) - result.position(name)[0]
            motion.plot(1e3 * result.time, 1e6 * sag[:, 1], label=name)
        describe(motion, "Released under gravity", "deflection [µm]", xlabel="time [ms]", room=0.25)
    return figure


def _draw(ax: "Axes") -> None:
    """Draw the linkage at a few crank angles."""
    for degrees in (*EXACT, *OTHERS):
        ends = FourBar().points(np.radians(degrees))
        shade = 1.0 if degrees == ANGLE else 0.2
        ax.plot(ends.real, ends.imag, "o-", color=COLOURS[0], alpha=shade, markersize=4)
    describe(ax, "Crank, coupler, follower", "y [m]", xlabel="x [m]", aspect="equal")


EXAMPLE = Example(
    title="Frequencies of an elastic four-bar linkage",
    source="[BAPM21, sec. 6.1, table 1]",
    scheme="ph-mp",
    h=5e-4,
    t_end=0.04,
    model=lambda: model(gravity=9.81),
    check=check,
    plot=plot,
)
