"""Sensors: quantities by name, in results, tables and files."""

import numpy as np
import pytest

import poinsot as ps


def machine() -> ps.Model:
    """Return a rod that a motor turns, with a circuit at the hinge."""
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_marker("tip", rod, position=(1, 0, 0))
    coil = ps.ph.linear(
        "coil",
        J=[[0.0]],
        R=[[2.0]],
        Q=[[1 / 0.1]],
        B=[[1.0, 1.0]],
        states=["flux"],
        ports=[ps.ph.Port("shaft", 1, "V", "A"), ps.ph.Port("supply", 1, "V", "A")],
    )
    model.add_system("motor", coil)
    model.connect(ps.ph.Gyrator("motor.shaft", "hinge", C=3.0, unit="N m/A"))
    for name, channel in {
        "turned": "hinge",
        "rate": "hinge.rate",
        "speed": "tip.velocity",
        "axes": "rod.rotation",
        "flux": "motor.flux",
        "pull": "hinge.force",
    }.items():
        model.add_sensor(name, channel)
    return model


@pytest.fixture(scope="module")
def result() -> ps.Result:
    return ps.simulate(machine(), h=1e-3, t_end=0.6, save_every=2, inputs={"motor.supply": 60.0})


def test_sensors_record_what_records_hold(result):
    hinge = result.joint("hinge")
    for name, values in {
        "turned": hinge.coordinates["angle"],
        "rate": hinge.rates["angle"],
        "speed": result.marker("tip").velocity,
        "axes": result.rotation("rod"),
        "flux": result["motor.flux"],
        "pull": hinge.force,
    }.items():
        np.testing.assert_array_equal(result.sensor(name).values, values)
        assert len(result.sensor(name).time) == len(values)
    assert [result.sensor(name).unit for name in ("turned", "rate", "pull")] == [
        "rad",
        "rad/s",
        "N",
    ]


def test_the_rate_of_a_joint_is_the_derivative_of_its_coordinate_over_turns(result):
    turned, rate = result.sensor("turned"), result.sensor("rate").values
    assert abs(turned.values).max() > 2 * np.pi
    slope = (turned.values[2:] - turned.values[:-2]) / (turned.time[2:] - turned.time[:-2])
    assert abs(slope - rate[1:-1]).max() < 2e-4 * abs(rate).max()


def test_displacements_have_rates():
    model = ps.Model(gravity=(0, 0, -9.81))
    block = model.add_body("block", ps.Box(mass=1, size=(1, 1, 1)))
    model.add_joint("rail", ps.Prismatic(model.ground, block, point=(0, 0, 0), axis=(0, 0, 1)))
    run = ps.simulate(model, h=1e-2, t_end=0.5)
    np.testing.assert_allclose(
        run.joint("rail").rates["displacement"], -9.81 * run.time, atol=1e-12
    )


def test_files_and_tables_keep_sensors(result, tmp_path):
    result.save(tmp_path / "run.nc")
    with ps.load(tmp_path / "run.nc") as loaded:
        assert loaded.sensors == result.sensors
        for name in result.sensors:
            np.testing.assert_array_equal(loaded.sensor(name).values, result.sensor(name).values)
        assert loaded.systems == result.systems == ("motor",)
    dataset = result.to_xarray()
    np.testing.assert_array_equal(
        dataset.measured.sel(sensor="speed"), result.marker("tip").velocity
    )
    np.testing.assert_array_equal(
        dataset.measured_mid.sel(sensor_mid="pull"), result.reaction("hinge").force
    )
    assert "rate [rad/s]" in result.to_pandas().columns


def test_a_file_that_a_run_writes_has_its_sensors(tmp_path):
    run = ps.simulate(machine(), h=1e-3, t_end=0.02, output=tmp_path / "run.nc")
    with ps.load(tmp_path / "run.nc") as loaded:
        np.testing.assert_array_equal(loaded.sensor("axes").values, run.rotation("rod"))


def test_results_name_what_they_hold(result):
    assert result.bodies == ("rod",)
    assert result.joints == ("hinge",)
    joint = result.joint("hinge")
    assert len(joint.time) == len(joint.coordinates["angle"]) == len(joint.rates["angle"])
    assert len(joint.midpoint) == len(joint.force) == len(joint.time) - 1
    with pytest.raises(ps.InputError, match=r"no coordinate 'angel' of joint 'hinge'; did you"):
        joint.coordinates["angel"]


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        ("hinge.angel", "no 'angel' of joint 'hinge'; did you mean 'angle'?"),
        ("tip.velocty", "no 'velocty' of marker 'tip'; did you mean 'velocity'?"),
        ("rod", "say what of body 'rod'; known: 'position'"),
        ("hnge.angle", "there is no 'hnge' in 'hnge.angle'; did you mean 'hinge'?"),
        ("both", "joint 'both' has 'both.angle', 'both.displacement'; choose one"),
        (3, "expected the name of a channel such as 'hinge.angle', got 3"),
    ],
)
def test_a_channel_that_is_not_there_is_refused_by_name(channel, message):
    model = machine()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 1, 1)))
    model.add_joint("both", ps.Cylindrical(model.ground, bar, point=(0, 0, 0), axis=(1, 0, 0)))
    with pytest.raises(ps.InputError) as raised:
        model.add_sensor("new", channel)
    assert str(raised.value).startswith(f"sensor 'new': {message}")
    assert "new" not in model.sensors


def test_sensors_are_drawn(result):
    import matplotlib.pyplot as plt

    from poinsot.viz import plot_sensors

    figure = plot_sensors(result, sensors=["turned", "speed"])
    assert len(figure.axes[0].lines) == 4
    plt.close(figure)


def test_model_files_keep_sensors():
    model = ps.Model()
    model.add_body("rod", ps.Box(mass=1, size=(1, 1, 1)))
    model.add_sensor("place", "rod.position")
    assert ps.Model.from_yaml_text(model.to_yaml()).sensors == {"place": "rod.position"}
    text = model.to_yaml().replace("rod.position", "rod.positon")  # codespell:ignore
    with pytest.raises(ps.ModelFileError, match="did you mean 'position'"):
        ps.Model.from_yaml_text(text)
