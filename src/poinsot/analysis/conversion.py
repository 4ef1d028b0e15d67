"""Conversion of linear systems for other packages: SciPy, python-control, pyMOR."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.analysis.elimination import eliminate
from poinsot.analysis.linear import AnyLinear, LinearPHSystem
from poinsot.errors import InputError, optional
from poinsot.ph.matrices import dense
from poinsot.ph.ports import Port

if TYPE_CHECKING:
    from scipy.signal import StateSpace


def state_space(linear: AnyLinear) -> "StateSpace":
    """Return x' = A x + B u, y = C x + D u in independent states, constraints eliminated.

    An output that holds derivatives of inputs, such as the force of a port whose input is a
    velocity, has no such form and is refused.
    """
    from scipy.signal import StateSpace

    part = eliminate(linear)
    if len(part.feedthrough) > 1:
        raise InputError(
            f"system '{linear.name}': its outputs depend on derivatives of its inputs(it is "
            "improper), so that it has no state space; use frequency_response, or exchange input "
            "and output of the port"
        )
    D = part.feedthrough[0] if part.feedthrough else np.zeros((linear.m, linear.m))
    return StateSpace(part.F, part.G, part.C, D)


def to_control(linear: AnyLinear) -> Any:
    """Return a `control.StateSpace`; inputs and outputs are named after ports."""
    control = optional("control", "analysis")
    form, names = state_space(linear), port_labels(linear.ports)
    return control.ss(form.A, form.B, form.C, form.D, inputs=names, outputs=names, name=linear.name)


def to_pymor(linear: LinearPHSystem) -> Any:
    """Return a `pymor.models.iosys.PHLTIModel`; what is sparse stays sparse.

    pyMOR has (J - R) Q as we do; G is B, and there is no feed-through.
    """
    iosys = optional("pymor.models.iosys", "analysis")
    E, J, R = linear.matrix_E, linear.matrix_J, linear.matrix_R
    return iosys.PHLTIModel.from_matrices(
        J, R, dense(linear.matrix_B), E=E, Q=linear.matrix_Q, name=linear.name
    )


def port_labels(ports: tuple[Port, ...]) -> list[str]:
    """Return the name of every input, and of every output."""
    return [p.name if p.size == 1 else f"{p.name}[{i}]" for p in ports for i in range(p.size)]
