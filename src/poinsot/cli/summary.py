"""A run as numbers for a JSON file."""

from typing import Any

from poinsot.result import Result
from poinsot.result.variables import MOTION


def summarise(result: Result) -> dict[str, Any]:
    """Return what happened, and where everything is at the end; SI units, world axes."""
    return {
        "model": result.model,
        "scheme": result.scheme,
        "engine": result.engine,
        "step": result.h,
        "steps": result.stats.steps,
        "t_end": float(result.time[-1]),
        "status": result.status,
        "newton_iterations": result.stats.newton_iterations,
        "wall_time_s": result.stats.wall_time,
        "energy_start": float(result.energy[0]),
        "energy_end": float(result.energy[-1]),
        "energy_error_max": result.stats.balance_error_max,
        "supplied": {port.name: float(port.energy[-1]) for port in result.outer_ports},
        "dissipated": float(result.dissipated[-1]),
        **(_mechanism(result) if result.observation.bodies else _states(result)),
    }


def _states(result: Result) -> dict[str, Any]:
    return {
        **(_constraints(result) if "constraint_error" in result.observation.whole else {}),
        "final": {name: state.values[-1].tolist() for name, state in result.states.items()},
    }


def _constraints(result: Result) -> dict[str, float]:
    return {
        "constraint_position_max": float(result.constraint_error.max()),
        "constraint_velocity_max": float(result.velocity_constraint_error.max()),
    }


def _mechanism(result: Result) -> dict[str, Any]:
    return {
        "angular_momentum_start": result.angular_momentum[0].tolist(),
        "angular_momentum_end": result.angular_momentum[-1].tolist(),
        **_constraints(result),
        "final": {
            name: {field: getattr(body, field)[-1].tolist() for field in MOTION}
            for name, body in result.observation.bodies.items()
        },
    }
