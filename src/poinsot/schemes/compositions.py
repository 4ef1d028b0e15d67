r"""Steps composed of substeps, for a higher order.

A symmetric scheme of order two becomes one of order four or six if a step of size h is composed
of substeps :math:`\gamma_i h` with

.. math:: \sum \gamma_i = 1, \qquad \sum \gamma_i^3 = 0, \qquad \gamma_i = \gamma_{s+1-i}

and, for order six, two further conditions [HLW06, V.3]. What every substep conserves, the step
conserves.

As h goes to 0, a step of the midpoint rule under constraints leaves positions unchanged, and maps
velocities v to (2 P - I) v, with the projection P onto those that the constraints allow: the normal
part changes its sign. Such steps cannot be composed, but pairs of them can, because they go to the
identity. With velocities on the constraints, as in the stabilised form, single steps can be
composed.
"""

from collections.abc import Sequence
from dataclasses import replace

from poinsot.errors import InputError
from poinsot.ph.matrices import Vector, nonzero
from poinsot.ph.scheme import Scheme
from poinsot.ph.system import PHSystem

#: Order -> the first half of the fractions, and whose they are. Of the many compositions that
#: there are, these have the least error for their number of substeps.
HALVES = {
    4: ((1 / (4 - 4 ** (1 / 3)),) * 2, "S90"),
    6: (
        (
            0.21375583945878254555518066964857,
            0.18329381407425713911385974425217,
            0.17692819473098943794898811709929,
            -0.44329082681170215849622829626258,
            0.11728560432865935385403585669136,
        ),
        "SS05",
    ),
}


def composed(scheme: Scheme, order: int) -> Scheme:
    """Return the scheme of a higher order that is composed of a symmetric one of order two."""
    half, source = HALVES[order]
    whole = *half, 1 - 2 * sum(half), *reversed(half)
    pairs = tuple(gamma / 2 for gamma in whole for _ in range(2))
    return replace(
        scheme,
        name=f"{scheme.name}-{order}",
        order=order,
        substeps=whole if scheme.stabilised else pairs,
        citations=(*scheme.citations, source, "HLW06"),
    )


def require_reversible(
    scheme: Scheme, system: PHSystem, x: Vector, laws: Sequence[str] = ()
) -> None:
    """Refuse a system that some substeps cannot go back with: they would create what it loses.

    A law at a port may take energy away as well as a damper; `laws` are those of controllers in
    continuous time, by name.
    """
    if min(scheme.substeps) > 0:
        return
    back = f"scheme '{scheme.name}' goes back in time within its steps"
    remedy = f"take it away, or '{scheme.name.rpartition('-')[0]}'"
    at_ports = [f"port '{port.name}'" for port in system.ports if port.by_law]
    for law in (*at_ports, *(f"controller '{name}'" for name in laws)):
        raise InputError(f"{back}, which the law of {law} does not; {remedy}")
    if nonzero(system.R(x)) or system.r(x, system.z(x)) is not None:
        raise InputError(
            f"{back}, where dampers, friction and other losses of system '{system.name}' would "
            f"create energy; {remedy}"
        )
