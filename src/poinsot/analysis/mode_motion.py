"""Mode shapes as motions: results that can be played, plotted and saved."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.errors import InputError
from poinsot.frames.places import frame_vectors
from poinsot.inputs import count, number
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import counted
from poinsot.ph.system import PHSystem
from poinsot.result import Lazy, Result, StateRecord, Stats
from poinsot.result.history import History
from poinsot.result.store import Table
from poinsot.run.recorder import columns_of
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.floating import FloatingPlace
from poinsot.systems.statics.frames import FramePlace
from poinsot.systems.statics.places import place_of, state_at

if TYPE_CHECKING:
    from poinsot.analysis.eigenmodes import Modes

#: Largest turn [rad], or displacement as a part of the size of what moves, unless told otherwise.
SWING = 0.2
#: Time in which modes that do not oscillate are shown to and fro [s].
TO_AND_FRO = 1.0


def mode_motion(modes: "Modes", mode: int, amplitude: float | None, frames: int) -> Result:
    """Return one period of a mode as a result, see `Modes.motion`."""
    at, name = modes.linear.about, modes.linear.name
    if at is None:
        raise InputError(
            f"modes: '{name}' is not the linearisation of a model, so that there is no motion to "
            "show; use ps.analysis.modes(model)"
        )
    mode = modes.checked(mode)
    count(frames, "modes: frames", 3)
    if amplitude is not None and not number(amplitude, "modes: amplitude") > 0:
        raise InputError(f"modes: amplitude is {amplitude:g}; it must be positive")
    value, system = modes.eigenvalues[mode], at.system
    period = 2 * np.pi / value.imag if value.imag else TO_AND_FRO
    # A motion without a phase of its own is begun, and ends, in the middle.
    turned = 1.0 if value.imag else -1j
    phases = np.linspace(0, 2 * np.pi, frames)
    if isinstance(system, MechanicalForm) and at.freedoms is not None:
        place, w = motion_of(modes, mode)
        scale = _scale(w, place.sizes, amplitude)
        if isinstance(place, FloatingPlace):
            scale = _of_frames(modes, mode, place, amplitude)
        states = _of_places(system, place, scale * turned * w, phases, period)
    else:
        shape = np.asarray(at.T @ modes.shapes[:, mode]) * turned
        # The largest displacement of a shape is 1 already.
        scale = amplitude or _scale(shape, system.sizes(at.x), None)
        states = at.x + scale * (np.exp(1j * phases)[:, None] * shape).real
    told = f"mode {mode}, {modes.kinds[mode]} at {modes.hertz[mode]:.4g} Hz"
    return _shown(system, phases / (2 * np.pi) * period, states, told)


def _scale(shape: Any, sizes: Vector, amplitude: float | None) -> float:
    """Return what a shape is multiplied by: its largest entry becomes the amplitude."""
    if amplitude is None:
        shape, amplitude = shape / sizes, SWING
    return amplitude / (float(np.max(abs(shape), initial=0.0)) or 1.0)


def _of_frames(modes: "Modes", mode: int, place: FloatingPlace, amplitude: float | None) -> float:
    """Return what a shape of elastic bodies is multiplied by: frames on them move so far."""
    moved = np.array(list(modes.bodies(mode).values()))
    positions = frame_vectors(place.system.bodies.directors(place.zeta))[:, 0]
    sizes = np.ones(moved.shape)
    sizes[:, 0] = float(np.max(np.ptp(positions, axis=0), initial=0.0)) or 1.0
    return _scale(moved, sizes, amplitude)


def motion_of(modes: "Modes", mode: int) -> tuple[FramePlace | CoordinatePlace, Any]:
    """Return where a mechanical system was linearised, and how it moves in a mode; complex (k,)."""
    at: Any = modes.linear.about
    place = place_of(at.system, at.x, at.t)
    if isinstance(place, CoordinatePlace):
        return place, modes.shapes[: at.freedoms, mode]
    moved = np.concatenate([np.concatenate(pair) for pair in modes.bodies(mode).values()])
    return place, place.twists.own(moved.real) + 1j * place.twists.own(moved.imag)


def _of_places(
    system: MechanicalForm,
    place: FramePlace | CoordinatePlace,
    w: Any,
    phases: Vector,
    period: float,
) -> Array:
    """Return states whose bodies turn rigidly, and whose joints are closed as far as they can be.

    Joints close to first order by themselves; where they cannot be closed, they stay so.
    """
    states = []
    for turn in np.exp(1j * phases):
        step = (w * turn).real
        there = place.moved(step) or place.at(place.step(step))
        states.append(state_at(system, there, (2j * np.pi / period * w * turn).real))
    return np.array(states)


def _shown(system: PHSystem, time: Vector, states: Array, told: str) -> Result:
    """Return a result of states that no run led to."""
    turned = system.angles(states[0])
    table = Table(columns_of(system, turned.size), len(states))
    middle, before = np.append(time[0], (time[1:] + time[:-1]) / 2), states[0]
    for t, t_mid, x in zip(time, middle, states, strict=True):
        turned = counted(system.angles(x), turned)
        row = {"time": t, "x": x, "energy": system.near(turned).H(x), "turned": turned}
        row |= {"stage_time": t_mid, "stage_x": (before + x) / 2}
        table.append({**dict.fromkeys(table.columns, 0), **row})
        before = x
    history = History(table, len(states))
    units = {state.name: state.unit for state in system.states}
    return Result(
        model=system.name,
        scheme=told,
        engine="none",
        h=float(time[1] - time[0]),
        t_end=float(time[-1]),
        states=Lazy(
            units, lambda name: StateRecord(name, units[name], history.state(system.slices[name]))
        ),
        ports={},
        stats=Stats(0, 0, 0.0, 0.0, 0.0, 0.0, history.iterations),
        time=history.at_times("time"),
        midpoint=history.at_midpoints("stage_time"),
        energy=history.at_times("energy"),
        dissipated=history.at_times("dissipated"),
        balance_error=history.at_times("balance_error"),
        observation=system.observer().observe(history),
        notes=("this is a mode shape, not a simulation",),
    )
