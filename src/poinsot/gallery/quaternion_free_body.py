r"""The free body in unit quaternions, by Livens' principle [KB24, sec. 5.3].

EML keeps the generalised energy and the angular momentum, not the total energy of the rates:

.. math:: E = p \cdot v - \tfrac12 v \cdot M(q) v, \qquad
          E_\mathrm{tot} = \tfrac12 v \cdot M(q) v = \tfrac12 \Omega \cdot J \Omega

[KB24, eq. (74) and (80)]. Nor does it keep q·v = 0, which Hamilton's form does.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery import quaternion_free_body_figures as figures
from poinsot.gallery.example import Check, Example
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.free_body import Tumbling, body_rates, model
from poinsot.gallery.quaternion_states import along, quaternion
from poinsot.result import Result, SimulationError
from poinsot.run import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

#: Quaternion at 2 s of runs with h = 0.05 s, scalar first.
AT_END = {
    "eml": (0.8893103274, 0.3448648773, 0.0097788031, -0.3001661757),
    "emh": (-0.3445115004, -0.3905135198, -0.8531376773, 0.0310985619),
}
#: Steps [s] and time [s] at which runs are compared with the elliptic functions.
STEPS, COMPARED = (2.5e-3, 1.25e-3, 6.25e-4), 0.25


def total_energy(result: Result) -> Array:
    """Return the energy of the rates [J] [KB24, eq. (80)]; shape (times,)."""
    return np.asarray(body_rates(result) ** 2 @ Tumbling().inertia / 2)


def as_far_as_it_goes(scheme: str, *, h: float, t_end: float) -> Result:
    """Simulate; return what there is if a step has no solution."""
    try:
        return simulate(model(), scheme=scheme, h=h, t_end=t_end)
    except SimulationError as error:
        if error.result is None:
            raise
        return error.result


def errors(runs: list[Result]) -> tuple[Array, Array]:
    """Return the errors of Omega [rad/s] and of R at the end of runs; shape (runs,) each."""
    tumbling, t = Tumbling(), runs[0].time[-1]
    rates = [np.linalg.norm(body_rates(run)[-1] - tumbling.body_rates(t)[0]) for run in runs]
    turns = [np.linalg.norm(run.rotation("body")[-1] - tumbling.rotation(t)[0]) for run in runs]
    return np.array(rates), np.array(turns)


def check(result: Result) -> list[Check]:
    """Compare with an independent code of the schemes, and with elliptic functions."""
    tumbling, momentum = Tumbling(), result.angular_momentum[-1]
    runs = [simulate(model(), scheme=result.scheme, h=h, t_end=COMPARED) for h in STEPS]
    off_rates, off_turns = errors(runs)
    limit = extrapolate([run.rotation("body")[-1] for run in runs])
    hamiltonian = simulate(model(), scheme="emh", h=result.h, t_end=result.t_end)
    code, elliptic = "independent code of EML and EMH", "elliptic functions"
    total = total_energy(result)
    return [
        Check("energy (74) at the start [J]", result.energy[0], 2500.0, 1e-9, "[KB24, fig. 6]"),
        Check("change of energy (74) [J]", np.ptp(result.energy), 0.0, 1e-10, "[KB24, eq. (96)]"),
        Check("energy (80) at the end [J]", total[-1], 2258.919944144, 1e-8, code),
        Check("greatest energy (80) [J]", total.max(), 2812.110044173, 1e-8, code),
        *(
            Check(f"L_{i + 1} at the end [kg m^2/s]", momentum[i], L, 1e-11, "[KB24, eq. (100)]")
            for i, L in enumerate(tumbling.momentum)
        ),
        Check("largest |g|", result.constraint_error.max(), 0.0, 1e-14, "[KB24, fig. 7]"),
        *(
            Check(f"{scheme.upper()}: q_{i} at 2 s", ours, theirs, 6e-11, code)
            for scheme, run in (("eml", result), ("emh", hamiltonian))
            for i, (ours, theirs) in enumerate(
                zip(quaternion(run, "body")[-1], AT_END[scheme], strict=True)
            )
        ),
        Check("EML: greatest |q·v| [1/s]", abs(along(result, "body")).max(), 5.063575, 1e-6, code),
        Check(
            "EMH: greatest |q·p| [kg m^2/s]",
            abs(along(hamiltonian, "body")).max(),
            0.0,
            1e-11,
            "theory",
        ),
        Check("order of Omega", np.log2(off_rates[1] / off_rates[2]), 2.0, 0.1, elliptic),
        Check("order of the rotation", np.log2(off_turns[1] / off_turns[2]), 2.0, 0.1, elliptic),
        Check(
            "error of the rotation at 0.25 s",
            abs(limit - tumbling.rotation(COMPARED)[0]).max(),
            0.0,
            1e-8,
            "elliptic functions, h -> 0",
        ),
    ]


def plot(result: Result) -> "Figure":
    """Draw figures 5 to 8 of the paper, convergence, and q·v in a longer run."""
    tumbling = Tumbling()
    exact = tumbling.body_rates(np.linspace(0, result.time[-1], 1000))
    longer = {
        scheme: as_far_as_it_goes(scheme, h=result.h, t_end=10.0) for scheme in ("eml", "emh")
    }
    convergence = {}
    for scheme in ("eml", "emh", "eml-mean", "emh-mean"):
        runs = [simulate(model(), scheme=scheme, h=h, t_end=COMPARED) for h in (1e-2, 5e-3, *STEPS)]
        convergence[scheme] = errors(runs)[1]
    return figures.plot(
        result,
        total_energy(result),
        (body_rates(result), exact),
        {scheme: (run.time, along(run, "body")) for scheme, run in longer.items()},
        (np.array((1e-2, 5e-3, *STEPS)), convergence),
    )


EXAMPLE = Example(
    name="quaternion-free-body",
    title="Free rotation in unit quaternions",
    source="[KB24, sec. 5.3]",
    scheme="eml",
    h=0.05,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
