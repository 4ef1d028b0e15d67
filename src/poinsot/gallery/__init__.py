"""Published examples, each with a source, a run, a figure and a check."""

from dataclasses import replace
from importlib import import_module

from poinsot.errors import InputError, did_you_mean
from poinsot.gallery.example import Check, Example

#: Name of an example -> the module that holds it.
MODULES = {
    "dc-motor": "dc_motor",
    "flying-cylindrical-pair": "flying_cylindrical_pair",
    "closed-loop": "closed_loop",
    "spatial-slider-crank": "spatial_slider_crank",
    "slider-crank-phase-shift": "slider_crank_phase_shift",
    "heavy-top": "heavy_top",
    "free-body": "free_body",
    "pendulum": "pendulum",
    "andrews-squeezer": "andrews_squeezer",
    "mass-spring": "mass_spring",
    "spring-pendulum": "spring_pendulum",
    "differential-drive": "differential_drive",
    "gyroscope": "gyroscope",
    "planar-slider-crank": "planar_slider_crank",
    "rolling-coin": "rolling_coin",
    "quaternion-free-body": "quaternion_free_body",
    "quaternion-heavy-top": "quaternion_heavy_top",
    "quaternion-closed-loop": "quaternion_closed_loop",
    "four-bar-modes": "four_bar_modes",
    "flexible-four-bar": "flexible_four_bar",
    "flexible-crank-slider": "flexible_crank_slider",
    "hinged-beam": "hinged_beam",
    "rotor-campbell": "rotor_campbell",
    "ride": "ride",
    "flying-rod": "flying_rod",
    "right-angle-rod": "right_angle_rod",
    "released-ring": "released_ring",
    "swing-up": "swing_up",
    "satellite": "satellite",
    "motor-slider-crank": "motor_slider_crank",
    "robot-arm": "robot_arm",
    "identify": "identify",
    "straight-line": "straight_line",
    "optimal-swing-up": "optimal_swing_up",
}


def find_example(name: str) -> Example:
    """Return the example of that name."""
    if name not in MODULES:
        raise InputError(f"no gallery example '{name}'; {did_you_mean(name, MODULES)}")
    example: Example = import_module(f"poinsot.gallery.{MODULES[name]}").EXAMPLE
    return replace(example, name=name)


__all__ = ["MODULES", "Check", "Example", "find_example"]
