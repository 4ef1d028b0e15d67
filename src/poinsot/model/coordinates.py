"""Coordinates of models by name, and the schemes that suit them."""

from poinsot.errors import InputError, did_you_mean
from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.ph.gradients import Rule
from poinsot.ph.scheme import Scheme
from poinsot.schemes.records import find_scheme

#: What rotations are described by, and the scheme for it unless another one is given.
COORDINATES = {
    "directors": "ph-mp",
    "quaternions": "emh-mean",
    **dict.fromkeys(PARAMETRISATIONS, "ph-mp"),
}


def require_coordinates(coordinates: str) -> None:
    """Refuse coordinates that there are not."""
    if not isinstance(coordinates, str):
        raise InputError(f"coordinates: expected one of {', '.join(COORDINATES)}")
    if coordinates not in COORDINATES:
        hint = did_you_mean(coordinates, COORDINATES)
        raise InputError(f"no coordinates '{coordinates}'; {hint}")


def require_body_axes(coordinates: str) -> str:
    """Return coordinates that elastic bodies can have, or say which."""
    if coordinates in PARAMETRISATIONS:
        return coordinates
    raise InputError(
        f"elastic bodies need velocities in body axes, not coordinates '{coordinates}'; leave the "
        "coordinates out, or use 'rotations' with scheme 'ph-mp'"
    )


def choose_scheme(scheme: str | Scheme | None, coordinates: str | None) -> Scheme:
    """Return the scheme for a model in some coordinates; None: those that the scheme needs."""
    if coordinates is None:
        return find_scheme(COORDINATES["directors"] if scheme is None else scheme)
    require_coordinates(coordinates)
    method = find_scheme(COORDINATES[coordinates] if scheme is None else scheme)
    if not fits(method, coordinates):
        raise InputError(
            f"scheme '{method.name}' runs in {coordinates_of(method)}, not in {coordinates}; "
            f"leave the coordinates out, or use another scheme such as "
            f"'{COORDINATES[coordinates]}'"
        )
    return method


def coordinates_of(scheme: Scheme) -> str:
    """Return the coordinates that a scheme needs, or takes unless told otherwise."""
    return "directors" if scheme.formulation == "ph" else "quaternions"


def fits(scheme: Scheme, coordinates: str) -> bool:
    """Return whether a scheme integrates models in these coordinates."""
    if coordinates in PARAMETRISATIONS:
        midpoint = scheme.formulation == "ph" and scheme.rule is Rule.MIDPOINT
        return midpoint and not scheme.stabilised
    return coordinates_of(scheme) == coordinates
