"""Elastic continua as port-Hamiltonian systems: structure, balances, solutions in closed form."""

from math import pi, sqrt

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import skfem
from scipy.sparse.linalg import spsolve
from skfem.models.elasticity import lame_parameters, linear_elasticity

import poinsot as ps

MATERIAL = {"density": 2.0, "youngs_modulus": 10.0, "poissons_ratio": 0.25}
MESHES = {
    "line": skfem.MeshLine(np.linspace(0, 1, 4)),
    "triangles": skfem.MeshTri().refined(1),
    "quadrilaterals": skfem.MeshQuad.init_tensor(np.array([0, 0.3, 1]), np.array([0, 0.6, 1])),
    "tetrahedra": skfem.MeshTet(),
    "hexahedra": skfem.MeshHex(),
}


def ends(mesh):
    """Name the boundaries at x = 0 and x = 1."""
    return mesh.with_boundaries({"left": lambda x: x[0] == 0, "right": lambda x: x[0] == 1})


def continuum(mesh, **options):
    """Make a system of a mesh with named ends."""
    return ps.flexible.continuum("body", ends(mesh), **MATERIAL | options)


def frequencies(body, k):
    """Return the lowest natural frequencies of a body [rad/s]."""
    K, M = (A[body.free][:, body.free].toarray() for A in (body.K, body.M))
    return np.sqrt(abs(scipy.linalg.eigh(K, M, eigvals_only=True)[:k]))


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("cells", MESHES)
def test_a_continuum_is_a_port_hamiltonian_system(cells, degree):
    system = continuum(
        MESHES[cells],
        degree=degree,
        held="left",
        ports={
            "tip": "right",
            "traction": ps.flexible.Traction("right", distributed=True),
            "weight": ps.flexible.BodyForce(),
            "field": ps.flexible.BodyForce(distributed=True),
        },
    )
    assert system.defects(np.random.default_rng(0).normal(size=system.n)).holds()


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("cells", MESHES)
def test_rigid_motions_have_no_strain_and_the_mass_of_the_body(cells, degree):
    body = continuum(MESHES[cells], degree=degree, thickness=3.0 if cells == "line" else 1.0).body
    R, volume = body.rigid, 3.0 if cells == "line" else 1.0
    assert abs(body.K @ R).max() < 1e-13 * abs(body.K).max()
    assert R[:, 0] @ body.M @ R[:, 0] == pytest.approx(2.0 * volume)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("cells", ["triangles", "quadrilaterals", "tetrahedra", "hexahedra"])
def test_with_stress_at_gauss_points_stiffness_is_that_of_the_displacement_method(cells, degree):
    body = continuum(MESHES[cells], plane="strain", degree=degree).body
    expected = linear_elasticity(*lame_parameters(10.0, 0.25)).assemble(body.basis)
    assert abs(body.K - sp.csr_array(expected)).max() < 1e-12 * abs(body.K).max()


def test_a_square_under_uniform_tension_is_in_plane_stress():
    mesh = ends(skfem.MeshTri().refined(1)).with_boundaries({"bottom": lambda x: x[1] == 0})
    body = ps.flexible.ElasticMesh(mesh=mesh, held={"left": "x", "bottom": "y"}, **MATERIAL)
    tension = body.surface("right") @ np.eye(2)[body.directions[body.unknowns_on("right")]][:, 0]
    u = spsolve(body.K[body.free][:, body.free].tocsc(), tension[body.free])
    exact = body.interpolate(lambda x: np.array([x[0] / 10.0, -0.25 * x[1] / 10.0]))
    assert u == pytest.approx(exact[body.free], abs=1e-14)
    stress = body.stress_of(u)
    assert stress.reshape(-1, 3) == pytest.approx(np.tile([1.0, 0, 0], (stress.size // 3, 1)))
    assert body.displacement(stress) == pytest.approx(u, abs=1e-14)


# -- the manufactured solution u = c sin(pi x) sin(pi y) ... exp(i omega t) --------------------


def manufactured(mesh, degree, omega=1.3):
    """Solve for a harmonic body force; return the errors of velocity and stress in the mean."""
    mesh = mesh.with_boundaries({"all": mesh.boundary_facets()})
    load = {"load": ps.flexible.BodyForce(distributed=True)}
    options = {"held": "all", "degree": degree, "ports": load, "plane": "strain"}
    system = ps.flexible.continuum("body", mesh, **MATERIAL | options)
    body, dim = system.body, mesh.dim()
    c = np.array([1.0, 2.0, -0.5])[:dim]
    lam, mu = lame_parameters(10.0, 0.25)
    if dim == 1:
        lam, mu = 10.0, 0.0

    def u(x):
        return c.reshape(-1, *[1] * (x.ndim - 1)) * np.prod(np.sin(pi * x), axis=0)

    def slopes(x, a, b=None):
        sines, cosines = np.sin(pi * x), np.cos(pi * x)
        if a == b:
            return -(pi**2) * np.prod(sines, axis=0)
        for k in (a,) if b is None else (a, b):
            sines[k] = pi * cosines[k]
        return np.prod(sines, axis=0)

    def force(x):
        second = [[slopes(x, a, b) for b in range(dim)] for a in range(dim)]
        laplace = sum(second[a][a] for a in range(dim))
        div = [
            (lam + mu) * sum(c[b] * second[a][b] for b in range(dim)) + mu * c[a] * laplace
            for a in range(dim)
        ]
        return -2.0 * omega**2 * u(x) - np.array(div)

    # i omega E e = J e + B f for the displacement v / (i omega), stress eliminated point by point.
    E, J, B = system.matrix_E, system.matrix_J, system.matrix_B
    n = body.free.size
    stress_of = body.stress.inverse @ J[n:, :n]
    dynamic = sp.csc_array(-(omega**2) * E[:n, :n] - J[:n, n:] @ stress_of)
    displacement = spsolve(dynamic, B[:n] @ body.interpolate(force))
    e = np.append(1j * omega * displacement, stress_of @ displacement)
    residual = 1j * omega * (E @ e) - J @ e - B @ body.interpolate(force)
    assert abs(residual).max() < 1e-9 * abs(J @ e).max()
    fine = skfem.Basis(mesh, body.basis.elem, intorder=2 * degree + 3)
    v = np.asarray(fine.interpolate(body.whole(e[:n].imag)))
    x = np.asarray(fine.global_coordinates())
    velocity = sqrt(np.sum((v - omega * u(x)) ** 2 * fine.dx))
    x = np.asarray(body.basis.global_coordinates())
    pairs = {1: [(0, 0)], 2: [(0, 0), (1, 1), (0, 1)]}.get(
        dim, [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    )
    grad = [[c[a] * slopes(x, b) for b in range(dim)] for a in range(dim)]
    trace = sum(grad[a][a] for a in range(dim))
    exact = np.array([mu * (grad[a][b] + grad[b][a]) + (a == b) * lam * trace for a, b in pairs])
    found = np.moveaxis(e[n:].real.reshape(*x.shape[1:], -1), -1, 0)
    return velocity, sqrt(np.sum((found - exact) ** 2 * body.basis.dx))


CONVERGENCE = {
    "line-1": (skfem.MeshLine, 1, (8, 16)),
    "line-2": (skfem.MeshLine, 2, (4, 8)),
    "triangles-1": (skfem.MeshTri.init_tensor, 1, (16, 32)),
    "triangles-2": (skfem.MeshTri.init_tensor, 2, (8, 16)),
    "quadrilaterals-1": (skfem.MeshQuad.init_tensor, 1, (8, 16)),
    "quadrilaterals-2": (skfem.MeshQuad.init_tensor, 2, (4, 8)),
    "tetrahedra-1": (skfem.MeshTet.init_tensor, 1, (6, 12)),
    "tetrahedra-2": (skfem.MeshTet.init_tensor, 2, (2, 4)),
    "hexahedra-1": (skfem.MeshHex.init_tensor, 1, (4, 8)),
    "hexahedra-2": (skfem.MeshHex.init_tensor, 2, (2, 4)),
}


@pytest.mark.parametrize("case", CONVERGENCE)
def test_a_manufactured_solution_converges_with_the_order_of_the_elements(case):
    kind, degree, sizes = CONVERGENCE[case]
    dim = {"l": 1, "tri": 2, "q": 2, "tet": 3, "h": 3}[
        next(k for k in ("l", "tri", "q", "tet", "h") if case.startswith(k))
    ]
    grids = [np.linspace(0, 1, k + 1) for k in sizes]
    coarse, fine = (manufactured(kind(*dim * [x]), degree) for x in grids)
    velocity, stress = np.log2(np.divide(coarse, fine))
    assert velocity > degree + 1 - 0.25
    assert stress > degree - 0.2


# -- motion ------------------------------------------------------------------------------------


def test_a_bar_vibrates_with_the_frequencies_of_the_closed_form():
    body = continuum(skfem.MeshLine(np.linspace(0, 1, 17)), held="left", thickness=0.01).body
    exact = np.array([1, 3, 5]) * pi / 2 * sqrt(10.0 / 2.0)
    assert frequencies(body, 3) == pytest.approx(exact, rel=1e-4)


def test_a_slender_plane_cantilever_vibrates_as_an_euler_bernoulli_beam():
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 13), np.linspace(0, 0.02, 2))
    body = continuum(mesh, held="left", thickness=0.1).body
    exact = 1.87510406871196117**2 * sqrt(10.0 / 2.0 * 0.02**2 / 12)
    assert frequencies(body, 1)[0] == pytest.approx(exact, rel=2e-3)


def test_energy_grows_by_what_the_ports_supply():
    system = continuum(
        MESHES["triangles"], held="left", ports={"tip": "right", "weight": ps.flexible.BodyForce()}
    )
    force = lambda t: np.array([np.sin(3 * t), 1.0 - t])  # noqa: E731
    result = ps.simulate(
        system, h=0.02, t_end=2.0, scheme="ph-mp", inputs={"tip": force, "weight": [0.0, -0.4]}
    )
    supplied = result.port("tip").energy + result.port("weight").energy
    assert result.energy.max() > 1e-2
    assert abs(result.energy - supplied).max() < 1e-13 * result.energy.max()


def test_a_bar_that_is_pulled_moves_as_in_the_closed_form():
    # A constant force F at the end of a held bar: a sum of modes about the static displacement.
    system = continuum(
        skfem.MeshLine(np.linspace(0, 1, 33)), held="left", thickness=0.1, ports={"tip": "right"}
    )
    result = ps.simulate(system, h=2e-3, t_end=0.6, scheme="ph-mp", inputs={"tip": [0.3]})
    tip = system.body.on_nodes(system.body.displacement(result["stress"]))[:, 0, -1]
    k = (2 * np.arange(4000) + 1) * pi / 2
    modes = 2 * np.sin(k) * np.sin(k) / k**2 * (1 - np.cos(np.outer(result.time, k * sqrt(5.0))))
    exact = 0.3 / (10.0 * 0.1) * modes.sum(axis=1)
    assert tip == pytest.approx(exact, abs=5e-3 * exact.max())


def test_a_step_for_velocities_alone_is_the_step_of_the_general_equations():
    system = continuum(MESHES["triangles"], held="left", ports={"tip": "right"})
    general = ps.ph.linear(
        "general",
        states=system.states,
        ports=system.ports,
        **{name: getattr(system, f"matrix_{name}") for name in "EJBQ"},
    )
    x0 = np.random.default_rng(4).normal(size=system.n)
    one, other = (
        ps.simulate(s, h=0.1, t_end=1.0, scheme=scheme, x0=x0, inputs={"tip": [1.0, 2.0]})
        for s, scheme in ((system, "ph-mp"), (general, "ph-dg"))
    )
    for state in ("velocity", "stress"):
        assert one[state] == pytest.approx(other[state], abs=1e-11 * abs(one[state]).max())


@pytest.mark.parametrize(("cells", "motions"), [("line", 1), ("triangles", 3), ("hexahedra", 6)])
def test_a_free_body_keeps_its_momentum(cells, motions):
    system = continuum(MESHES[cells])
    body = system.body
    assert frequencies(body, motions) == pytest.approx(0, abs=1e-5)
    rng = np.random.default_rng(3)
    x0 = rng.normal(size=system.n)
    momentum = body.rigid.T @ body.M
    result = ps.simulate(system, h=0.05, t_end=1.0, scheme="ph-mp", x0=x0)
    start = momentum @ result["velocity"][0]
    assert momentum @ result["velocity"].T == pytest.approx(
        np.tile(start[:, None], len(result.time)), abs=1e-12
    )
    assert result.energy == pytest.approx(result.energy[0], rel=1e-12)


def test_outputs_of_a_boundary_are_velocities_times_the_boundary_mass():
    traction = ps.flexible.Traction("right", distributed=True)
    system = continuum(MESHES["quadrilaterals"], held="left", ports={"edge": traction})
    body = system.body
    linear = body.interpolate(lambda x: np.array([x[0] * x[1], x[0]]))
    v = np.append(linear[body.free], np.zeros(system.n - body.free.size))
    y = system.matrix_B.T @ v
    edge = body.unknowns_on("right")
    mass = body.surface("right")[edge].toarray()
    assert np.linalg.solve(mass, y) == pytest.approx(linear[edge])
    assert np.ones(edge.size) @ mass @ np.ones(edge.size) == pytest.approx(2.0)  # area, twice


def test_two_bars_joined_end_to_end_vibrate_as_one():
    half, whole = (skfem.MeshLine(np.linspace(0, length, 9)) for length in (1, 2))
    first = continuum(half, held="left", degree=1, ports={"end": "right"})
    second = continuum(half, degree=1, ports={"start": "left"})
    joined = ps.ph.interconnect(
        first.prefixed("first"),
        second.prefixed("second"),
        connections=ps.ph.Transformer("first.end", "second.start"),
        name="two bars",
    )
    one = ps.flexible.continuum("one", ends(whole.refined(1)), held="left", degree=1, **MATERIAL)
    found = ps.analysis.modes(joined).eigenvalues.imag
    assert found[found > 1e-6][:3] == pytest.approx(frequencies(one.body, 3), rel=1e-9)


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "held", "motion"),
    [
        ("line", None, "move along x"),
        ("triangles", {"left": "x"}, "move along y"),
        ("triangles", {"right": "y", "left": "y"}, "move along x"),
        ("hexahedra", {"left": "x"}, "can still"),
    ],
)
def test_displacement_of_a_body_that_can_move_as_a_rigid_one_is_refused(cells, held, motion):
    body = continuum(MESHES[cells], held=held).body
    with pytest.raises(ps.InputError, match=motion):
        body.displacement(np.zeros(body.stress.C.shape[0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"density": 0}, "density is 0; it must be positive"),
        ({"youngs_modulus": -1.0}, "youngs_modulus is -1.0"),
        ({"poissons_ratio": 0.5}, "below 0.5"),
        ({"thickness": 0.0}, "thickness"),
        ({"degree": 3}, "it must be 1 or 2"),
        ({"plane": "stres"}, "'stress' or 'strain'"),
        ({"held": "lft"}, "did you mean 'left'"),
        ({"held": {"left": "z"}}, "held in 'z'; give directions from 'xy'"),
        ({"held": "left", "ports": {"tip": "left"}}, "'left', which is held"),
        ({"ports": {"tip": 3}}, "give a Traction or a BodyForce"),
    ],
)
def test_what_is_no_elastic_body_is_refused(options, message):
    with pytest.raises(ps.InputError, match=message):
        continuum(MESHES["triangles"], **options)


def test_a_mesh_without_names_says_how_to_name_boundaries():
    with pytest.raises(ps.InputError, match="with_boundaries"):
        ps.flexible.continuum("body", skfem.MeshTri(), held="left", **MATERIAL)


@pytest.mark.parametrize("cells", MESHES)
def test_an_inverted_cell_is_refused(cells):
    mesh = MESHES[cells].refined(2 if cells == "tetrahedra" else 1)
    inner = np.setdiff1d(np.arange(mesh.p.shape[1]), np.unique(mesh.facets[:, mesh.f2t[1] < 0]))
    p = mesh.p.copy()
    p[:, inner[0]] += 0.9
    tangled = type(mesh)(p, mesh.t)
    with pytest.raises(ps.InputError, match=r"inverted|no volume"):
        continuum(tangled)


def test_a_flat_cell_is_refused():
    p = np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 0.0]])
    with pytest.raises(ps.InputError, match="cell 0 has no volume"):
        continuum(skfem.MeshTri(p, np.array([[0], [1], [2]])))


def test_what_is_no_mesh_is_refused():
    with pytest.raises(ps.InputError, match="expected a scikit-fem mesh"):
        ps.flexible.continuum("body", 3, **MATERIAL)


def test_curved_cells_need_the_second_degree():
    mesh = skfem.MeshTri2.init_circle(2)
    with pytest.raises(ps.InputError, match="use degree=2"):
        ps.flexible.ElasticMesh(mesh=mesh, degree=1, **MATERIAL)
    body = ps.flexible.ElasticMesh(mesh=mesh, **MATERIAL)
    R = body.rigid
    assert R[:, 0] @ body.M @ R[:, 0] == pytest.approx(2.0 * pi, rel=1e-3)
