"""The model files of the documentation run, and do what they say."""

from pathlib import Path

import numpy as np
import pytest

import poinsot as ps

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_keeps_its_balance(path):
    model = ps.Model.from_yaml(path)
    options = model.simulation.options(engine="reference", t_end=20 * model.simulation.step)
    result = ps.simulate(model, **options)
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-12
    assert result.model == path.stem == model.name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_written_as_it_was_read(path):
    text = ps.Model.from_yaml(path).to_yaml()
    assert ps.Model.from_yaml_text(text).to_yaml() == text


def test_the_slider_crank_starts_as_published():
    """[LKB26, sec. 7.3]: T + V = 0.76643568 J, and the slider moves at 0.24 m/s."""
    model = ps.Model.from_yaml(next(path for path in EXAMPLES if path.stem == "slider-crank"))
    assert model.check().freedoms == 1
    system = model.compile()
    assert system.H(system.start) == pytest.approx(0.76643568, abs=1e-12)
    np.testing.assert_allclose(model.start_velocities()["slider"][0], (0.24, 0, 0), atol=1e-14)


def test_the_pendulum_hangs_at_the_centre_of_mass_that_its_file_says():
    """The file places the centre of mass; the parts say where it is on the composite."""
    model = ps.Model.from_yaml(next(path for path in EXAMPLES if "motor" in path.stem))
    body = model.bodies["pendulum"]
    np.testing.assert_allclose(body.position, body.shape.centre, atol=1e-4)


README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_file_of_the_front_page_runs():
    text = README.split("```yaml\n")[1].split("```")[0]
    model = ps.Model.from_yaml_text(text)
    result = ps.simulate(model, **model.simulation.options(engine="reference", t_end=0.1))
    assert result.stats.balance_error_max < 1e-14
    with pytest.raises(ps.ModelFileError) as error:
        ps.Model.from_yaml_text(text.replace("revolute", "revolut"))
    said = " ".join(README.split())
    assert str(error.value).replace("<text>", "pendulum.yaml") in said
