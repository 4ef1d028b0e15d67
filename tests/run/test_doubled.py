"""The estimated error of a motion is the true one, and where it cannot be it warns."""

import json
import warnings

import mechanisms
import numpy as np
import pytest

import poinsot as ps
from poinsot.cli import main

END, H = 0.64, 0.01
HOW = [("ph-mp", 1), ("ph-mp-ggl", 1), ("ph-mp", 2), ("ph-mp-ggl", 2), ("ph-mp", 3)]


def off(result, exact):
    """Largest distance [m] and angle [rad] of bodies at times that both have."""
    known = np.isin(np.round(exact.time, 9), np.round(result.time, 9))
    distance, angle = [], []
    for name in result.bodies:
        one, other = result.body(name), exact.body(name)
        distance.append(np.linalg.norm(one.position - other.position[known], axis=1).max())
        apart = one.rotation - other.rotation[known]
        angle.append(2 * np.arcsin(np.linalg.norm(apart, axis=(1, 2)).max() / np.sqrt(8)))
    return max(distance), max(angle)


def ratios(seed, scheme, save_every):
    """Estimated errors over true ones of a random mechanism; none if there is no estimate."""
    plan, how = mechanisms.tree(seed), {"scheme": scheme, "t_end": END}
    options = {"save_every": save_every, "estimate_error": True}
    result = ps.simulate(plan.model(), h=H, **options, **how)
    truth = off(result, ps.simulate(plan.model(), h=H / 16, **how))
    if result.status == "warned" or min(truth) < 1e-9:  # no order, or nothing but round-off
        return []
    stats = result.stats
    return [stats.position_error / truth[0], stats.rotation_error / truth[1]]


def test_estimates_are_the_true_errors_of_random_mechanisms_within_a_tenth_for_most():
    seeds = np.random.default_rng(7).integers(0, 10**6, 24)
    found = np.concatenate([ratios(seed, *HOW[k % len(HOW)]) for k, seed in enumerate(seeds)])
    assert found.size > 40
    assert np.mean(abs(found - 1) < 0.1) > 0.8
    assert np.mean((found > 0.5) & (found < 2)) > 0.9


def pendulum():
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    end = model.add_body("end", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(1.5, 0, 0))
    model.add_joint("elbow", ps.Revolute(bar, end, point=(1, 0, 0), axis=(0, 1, 0)))
    return model


def test_a_step_that_is_too_large_warns():
    with pytest.warns(ps.InexactRunWarning, match="the step is too large"):
        result = ps.simulate(pendulum(), h=0.2, t_end=10, estimate_error=True)
    assert result.status == "warned"
    assert result.stats.position_error > 0.01


def test_runs_are_the_same_with_an_estimate_and_files_keep_it(tmp_path):
    plain = ps.simulate(pendulum(), h=1e-3, t_end=0.7)
    told = ps.simulate(pendulum(), h=1e-3, t_end=0.7, estimate_error=True)
    written = ps.simulate(
        pendulum(), h=1e-3, t_end=0.7, estimate_error=True, output=tmp_path / "run.nc"
    )
    assert np.array_equal(plain.position("end"), told.position("end"))
    assert np.isinf(plain.stats.position_error)
    assert 0 < told.stats.position_error == written.stats.position_error
    loaded = ps.load(tmp_path / "run.nc")
    assert loaded.stats.rotation_error == told.stats.rotation_error
    assert "estimated error of the motion" in loaded.summary()


def test_what_cannot_be_compared_is_refused_or_told():
    mass = ps.ph.linear("m", states=["p"], J=[[0.0]], Q=[[1.0]])
    with pytest.raises(ps.InputError, match="compares positions of bodies"):
        ps.simulate(mass, h=0.1, t_end=1, estimate_error=True)
    with pytest.raises(ps.InputError, match="needs a constant step size"):
        ps.simulate(pendulum(), h=0.1, t_end=1, tolerance=1e-3, estimate_error=True)
    sampled = pendulum()
    sampled.add_port("motor", ps.JointPort("hinge"))
    sampled.add_controller(
        "pd", "-hinge_angle", reads=["hinge.angle"], drives=["motor"], every=0.01
    )
    result = ps.simulate(sampled, h=0.01, t_end=0.1, estimate_error=True)
    assert result.status == "done"
    assert np.isinf(result.stats.position_error)
    assert any("no estimate of the error: steps of 0.02 s fail" in note for note in result.notes)


def test_the_command_line_tells_the_estimate(tmp_path, monkeypatch, capsys):
    model, summary = tmp_path / "pendulum.yaml", tmp_path / "run.json"
    model.write_text(pendulum().to_yaml())
    words = f"run {model} --step 0.002 --t-end 1 --estimate-error --summary {summary}"
    monkeypatch.setattr("sys.argv", ["poinsot", *words.split()])
    with pytest.raises(SystemExit) as end, warnings.catch_warnings():
        main()
    assert not end.value.code
    assert "estimated position error [m]" in capsys.readouterr().out
    assert 0 < json.loads(summary.read_text())["position_error"] < 1e-3


def test_a_mechanism_that_stays_where_it_cannot_stay_for_long_is_at_rest():
    """Two bars stand on hinges, off the vertical by round-off: what grows of it is no motion."""
    model = ps.Model(gravity=(0, 0, -9.81))
    tilted = ps.Rotation.from_axis_angle((0, 1, 0), 1e-40)
    lower = model.add_body("lower", ps.Box(mass=1, size=(0.1, 0.1, 1)), position=(0, 0, 0.5))
    upper = model.add_body(
        "upper", ps.Box(mass=1, size=(0.1, 0.1, 1)), position=(1e-40, 0, 1.5), rotation=tilted
    )
    model.add_joint("foot", ps.Revolute(model.ground, lower, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("knee", ps.Revolute(lower, upper, point=(0, 0, 1), axis=(0, 1, 0)))
    result = ps.simulate(model, h=0.05, t_end=3, estimate_error=True)
    assert 0 < np.ptp(result.position("upper")[:, 0]) < 1e-13
    assert result.status == "done"
    assert result.stats.position_error < 1e-13
