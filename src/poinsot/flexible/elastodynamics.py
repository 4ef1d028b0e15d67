"""Linear elastodynamics on a mesh as a port-Hamiltonian system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from poinsot.elements.continua import ElasticMesh, Held
from poinsot.errors import InputError
from poinsot.flexible.stages import ElasticStages
from poinsot.inputs import named, require_name
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import StageEquations
from poinsot.ph.system import State


@dataclass(frozen=True)
class Traction:
    """A port with a force on a named boundary of the mesh.

    u is the force [N], distributed evenly, and y the mean velocity of the boundary [m/s], both
    vectors. With `distributed`, u is the traction [Pa] at each unknown of the boundary, in the
    order of `ElasticMesh.unknowns_on`, and y the velocities there times the boundary mass [m^3/s]
    [BAPM21, rem. 4].
    """

    boundary: str
    distributed: bool = False


@dataclass(frozen=True)
class BodyForce:
    """A port with a force on the whole body.

    u is the force [N], distributed evenly over the volume, and y the mean velocity [m/s], both
    vectors. With `distributed`, u is the force per volume [N/m^3] at each unknown, including fixed
    ones, as returned by `ElasticMesh.interpolate`, and y the velocities times the mass matrix of
    unit density [m^4/s] [BAPM21, rem. 4].
    """

    distributed: bool = False


#: A port, or the name of the boundary that a `Traction` acts on.
Load: TypeAlias = Traction | BodyForce | str


@dataclass(frozen=True, eq=False)
class Continuum(LinearSystem):
    r"""An elastic body with the states velocity v and stress :math:`\sigma`; made by `continuum`.

    [BAPM21, eq. (29)]:

    .. math::

        \begin{bmatrix} M & \\ & C \end{bmatrix}
        \frac{d}{dt} \begin{bmatrix} v \\ \sigma \end{bmatrix}
        = \begin{bmatrix} & -D^\top \\ D & \end{bmatrix} \begin{bmatrix} v \\ \sigma \end{bmatrix}
        + \begin{bmatrix} B \\ 0 \end{bmatrix} u, \qquad
        H = \tfrac12 v^\top M v + \tfrac12 \sigma^\top C \sigma

    `body` is the `ElasticMesh`, which relates the states to the mesh.
    """

    body: ElasticMesh

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return the equations of a step for velocities alone; general ones with feedback."""
        if any(port.by_law for port in self.ports):
            return None
        return ElasticStages(scheme, t, x0, u, h, self)


def continuum(
    name: str,
    mesh: Any,
    *,
    density: float,
    youngs_modulus: float,
    poissons_ratio: float = 0.3,
    held: Held = None,
    ports: Mapping[str, Load] | None = None,
    degree: int = 2,
    plane: Literal["stress", "strain"] = "stress",
    thickness: float = 1.0,
) -> Continuum:
    """Make the port-Hamiltonian system of an elastic body with small deformations.

    Its states are `velocity` [m/s] at the free unknowns, and `stress` [Pa] at Gauss points. An
    unsupported body can also move rigidly, as long as its motion is small.

    Parameters
    ----------
    name : str
        Name of the system.
    mesh, density, youngs_modulus, poissons_ratio, held, degree, plane, thickness
        The body; see `ElasticMesh`.
    ports : mapping
        Port name -> `Traction` (or the name of its boundary), or `BodyForce`.
    """
    body = ElasticMesh(
        mesh=mesh,
        density=density,
        youngs_modulus=youngs_modulus,
        poissons_ratio=poissons_ratio,
        held=held,
        degree=degree,
        plane=plane,
        thickness=thickness,
    )
    free, stress = body.free, body.stress
    D = stress.D[:, free]
    k, n = D.shape
    loads = [_load(body, name, port, load) for port, load in _loads(name, ports).items()]
    columns = [sp.vstack([B[free], sp.csr_array((k, B.shape[1]))]) for _, B in loads]
    return Continuum(
        name=require_name(name, "a system"),
        states=(State("velocity", n, "m/s"), State("stress", k, "Pa")),
        ports=tuple(port for port, _ in loads),
        matrix_E=sp.block_diag([body.M[free][:, free], stress.C], format="csr"),
        matrix_J=sp.block_array([[None, -D.T], [D, None]], format="csr"),
        matrix_R=sp.csr_array((n + k, n + k)),
        matrix_B=sp.csr_array(sp.hstack(columns)) if columns else sp.csr_array((n + k, 0)),
        matrix_Q=sp.eye_array(n + k, format="csr"),
        body=body,
    )


def _loads(name: str, ports: Any) -> Mapping[str, Traction | BodyForce]:
    """Return the ports of a system, checked."""
    loads = {}
    for port, load in named(ports, f"system '{name}': ports", "{'tip': 'right'}").items():
        loads[port] = Traction(load) if isinstance(load, str) else load
        if not isinstance(loads[port], Traction | BodyForce):
            raise InputError(
                f"system '{name}': port '{port}' is {load!r}; give a Traction or a BodyForce"
            )
    return loads


def _load(
    body: ElasticMesh, name: str, port: str, load: Traction | BodyForce
) -> tuple[Port, sp.csr_array]:
    """Return a port and its columns for all unknowns of velocity."""
    if isinstance(load, Traction):
        unknowns, mass = body.unknowns_on(load.boundary), body.surface(load.boundary)
        if not np.isin(unknowns, body.free).any():
            raise InputError(
                f"system '{name}': port '{port}' acts on '{load.boundary}', which is held; choose "
                "another boundary"
            )
        field = Port(port, unknowns.size, "Pa", "m^3/s"), mass
    else:
        unknowns, mass = np.arange(body.unknowns), body.volume()
        field = Port(port, body.unknowns, "N/m^3", "m^4/s"), mass
    if load.distributed:
        return field
    uniform = np.eye(body.dim)[body.directions[unknowns]]
    B = np.asarray(mass @ uniform)
    size = uniform[:, 0] @ B[unknowns, 0]
    return Port(port, body.dim, "N", "m/s"), sp.csr_array(B / size)
