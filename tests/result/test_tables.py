"""A result as a dataset and as a table: named, with units, pleasant to use."""

import csv
import subprocess
import sys

import mechanisms
import numpy as np
import pytest

import poinsot as ps
from poinsot import ph


@pytest.fixture(scope="module")
def pendulum():
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", ps.JointPort("hinge"))
    model.add_marker("tip", rod, position=(1, 0, 0))
    torque = ps.Formula("sin(t)", "t")
    return ps.simulate(model, h=0.01, t_end=0.5, inputs={"motor": torque}, engine="reference")


@pytest.fixture(scope="module")
def cart():
    """A state of two entries, and a port of two."""
    system = ph.linear(
        "cart",
        states=[ph.State("p", 2, unit="kg m/s"), ph.State("s")],
        J=np.zeros((3, 3)),
        R=0.1 * np.eye(3),
        Q=np.eye(3),
        B=[[1, 0], [0, 1], [0, 0]],
        ports=[ph.Port("push", 2, effort="N", flow="m/s")],
    )
    return ps.simulate(system, h=0.1, t_end=1.0, x0={"p": [1, 2], "s": 3})


def test_a_body_is_found_by_name_and_axis(pendulum):
    ds = pendulum.to_xarray()
    z = ds.position.sel(body="rod", axis="z")
    assert z.dims == ("time",)
    assert z.attrs == {
        "long_name": "position of the centre of mass",
        "units": "m",
        "frame": "world",
    }
    assert np.array_equal(z, pendulum.position("rod")[:, 2])
    assert np.array_equal(z.time, pendulum.time)
    tip = ds.marker_position.sel(marker="tip")
    assert np.array_equal(tip, pendulum.marker("tip").position)
    assert np.array_equal(ds.rotation.sel(body="rod"), pendulum.rotation("rod"))


def test_joints_are_found_by_name(pendulum):
    ds = pendulum.to_xarray()
    angle = ds.joint_coordinate.sel(freedom="hinge.angle")
    assert np.array_equal(angle, pendulum.joint("hinge").coordinates["angle"])
    assert angle.freedom_unit == "rad"
    assert angle.freedom_joint == "hinge"
    force = ds.reaction_force.sel(joint="hinge")
    assert force.dims == ("midpoint", "axis")
    assert np.array_equal(force, pendulum.reaction("hinge").force)
    assert bool(ds.joint_complete.sel(joint="hinge"))


def test_ports_are_found_by_name(pendulum):
    ds = pendulum.to_xarray()
    assert np.array_equal(ds.u.sel(channel="motor"), pendulum.port("motor").u[:, 0])
    assert ds.u.sel(channel="motor").u_unit == "N m"
    assert np.array_equal(ds.port_energy.sel(port="motor"), pendulum.port("motor").energy)


def test_entries_of_a_state_or_port_share_its_name(cart):
    ds = cart.to_xarray()
    assert np.array_equal(ds.x.sel(state="p"), cart["p"])
    assert np.array_equal(ds.x.sel(state="s"), cart["s"])
    assert ds.x.sel(state="p").state_unit.values.tolist() == ["kg m/s", "kg m/s"]
    assert np.array_equal(ds.u.sel(channel="push"), cart.port("push").u)


def test_the_kinds_of_energy_add_up(pendulum):
    ds = pendulum.to_xarray()
    assert list(ds.energy_kind.values) == ["kinetic", "gravity"]
    assert np.allclose(ds.energy_part.sum("energy_kind"), ds.energy)
    assert np.allclose(
        ds.energy - ds.energy[0] - ds.supplied + ds.dissipated, ds.balance_error, atol=1e-14
    )


def test_a_dataset_of_a_system_without_bodies_has_none(cart):
    ds = cart.to_xarray()
    assert not {"body", "joint", "axis"} & set(ds.dims)
    assert "position" not in ds


def test_a_table_has_names_and_units(pendulum):
    table = pendulum.to_pandas()
    assert table.index.name == "time [s]"
    assert table.shape[0] == pendulum.time.size
    assert np.array_equal(table["rod.position.z [m]"], pendulum.position("rod")[:, 2])
    assert np.array_equal(table["rod.rotation.xz [1]"], pendulum.rotation("rod")[:, 0, 2])
    assert np.array_equal(table["hinge.angle [rad]"], pendulum.joint("hinge").coordinates["angle"])
    assert np.array_equal(table["angular_momentum.y [kg m^2/s]"], pendulum.angular_momentum[:, 1])
    assert table.columns.is_unique
    assert {dtype.kind for dtype in table.dtypes} == {"f"}


def test_midpoints_are_in_the_row_of_the_time_after_them(pendulum):
    table = pendulum.to_pandas()
    force = table["hinge.force.z [N]"]
    assert np.isnan(force.iloc[0])
    assert np.array_equal(force.iloc[1:], pendulum.reaction("hinge").force[:, 2])
    assert np.array_equal(table["motor.u [N m]"].iloc[1:], pendulum.port("motor").u[:, 0])


def test_a_table_of_a_system_has_its_states(cart):
    table = cart.to_pandas()
    assert {"p[0] [kg m/s]", "p[1] [kg m/s]", "s", "push.u[1] [N]"} <= set(table.columns)
    assert np.array_equal(table["p[1] [kg m/s]"], cart["p"][:, 1])


def test_a_text_file_has_all_digits(pendulum, tmp_path):
    pendulum.to_csv(tmp_path / "run.csv")
    back = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    table = pendulum.to_pandas().reset_index()
    assert np.array_equal(back, table.to_numpy(), equal_nan=True)
    with open(tmp_path / "run.csv", newline="") as file:
        assert next(csv.reader(file))[:2] == ["time [s]", "energy [J]"]


def test_a_text_file_needs_a_folder(cart, tmp_path):
    with pytest.raises(ps.InputError, match="to_csv: there is no folder"):
        cart.to_csv(tmp_path / "results" / "run.csv")


def test_all_at_once_is_what_each_body_and_joint_shows_by_itself(tmp_path):
    kinds = ("Revolute", "Cylindrical", "Universal", "Planar", "Spherical", "Weld", "Prismatic")
    for seed in (5, 6, 7):
        model = mechanisms.full(seed, bodies=4, kinds=kinds).model()
        body = next(iter(model.bodies.values()))
        model.add_marker("tip", body, position=(0.1, 0.2, 0.3), rotation=(0.6, 0.8, 0, 0))
        options = {"h": 0.02, "t_end": 0.1, "engine": "reference"}
        whole = ps.simulate(model, **options).to_xarray()
        streamed = ps.simulate(model, **options, output=tmp_path / "run.nc").to_xarray()
        for name in whole.data_vars:
            if whole[name].dtype.kind == "f":
                error = abs(streamed[name] - whole[name]).max()
                assert error <= 1e-11 * max(1, abs(whole[name]).max()), name


@pytest.mark.parametrize("scheme", ["eml", "emh"])
def test_a_run_in_quaternions_has_the_same_tables(scheme, pendulum, tmp_path):
    model = ps.Model.from_yaml_text(pendulum.document)
    result = ps.simulate(model, scheme=scheme, h=0.01, t_end=0.1, engine="reference")
    assert list(result.to_pandas().columns) == list(pendulum.to_pandas().columns)
    result.to_csv(tmp_path / "run.csv")
    back = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    assert np.array_equal(back, result.to_pandas().reset_index().to_numpy(), equal_nan=True)
    ds = result.to_xarray()
    assert np.allclose(ds.energy_part.sum("energy_kind"), ds.energy)
    assert np.array_equal(ds.x.sel(state="rod.q"), result["rod.q"])
    assert ds.attrs["scheme"] == scheme


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("poinsot", {"xarray", "pandas", "h5py", "h5netcdf"}),
        ("poinsot.cli.commands", {"xarray", "pandas", "matplotlib"}),
    ],
)
def test_importing_the_package_or_its_commands_imports_no_tables(module, heavy):
    code = f"import sys, {module}; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
