"""`poinsot check`, `plot`, `view` and `report`; help and completion."""

import pytest
from commands import EXAMPLES, here, poinsot

import poinsot as ps
from poinsot.cli.commands import app


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *words: here(monkeypatch, capsys, *words)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "run.nc"
    model = ps.Model.from_yaml(EXAMPLES / "slider-crank.yaml")
    ps.simulate(model, h=0.01, t_end=0.2, engine="reference", output=path)
    return path


def test_check_counts_freedoms_and_shows_the_start(command):
    status, out, _ = command("check", EXAMPLES / "slider-crank.yaml")
    assert status == 0
    assert "degrees of freedom  1" in out
    assert "rod     v = (0.12, -0.24, 0) m/s, omega = (1.92, -0.96, 0.48) rad/s" in out


ROUGH = """
poinsot: 1
bodies:
  arm: {box: {mass: 1, size: [1, 0.1, 0.1]}, position: [0.5, 0.2, 0]}
markers:
  base: {body: ground, position: [0, 0, 0]}
  foot: {body: arm, position: [-0.5, 0, 0], axes: body}
  wall: {body: ground, position: [X, 0, 0]}
  head: {body: arm, position: [0.5, 0, 0], axes: body}
joints:
  hinge: {spherical: {markers: [base, foot]}}
  hook: {spherical: {markers: [wall, head]}}
"""


def test_check_assembles_a_rough_start_and_says_what_moved(command, tmp_path):
    path = tmp_path / "rough.yaml"
    path.write_text(ROUGH.replace("X", "1"))
    status, _, err = command("check", path)
    assert status == 2
    assert "joints are open at the start: 'hinge' by 0.2 m, 'hook' by 0.2 m" in err
    status, out, _ = command("check", path, "--assemble")
    assert status == 0
    assert "arm  by 0.2 m, turned by 0 rad" in out
    assert "arm  at (0.5, 0, 0) m" in out
    path.write_text(f"{path.read_text()}assemble: true\n")
    assert "arm  by 0.2 m" in command("check", path)[1]


def test_check_refuses_what_cannot_be_assembled(command, tmp_path):
    path = tmp_path / "rough.yaml"
    path.write_text(ROUGH.replace("X", "1.5"))
    status, _, err = command("check", path, "--assemble")
    assert status == 2
    assert "joint 'hinge' by 0.25 m" in err
    assert "joint 'hook' by 0.25 m" in err


def test_plot_draws_a_page_beside_the_result_or_where_it_is_told(command, saved, tmp_path):
    assert command("plot", saved)[0] == 0
    assert saved.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert command("plot", saved, "-o", tmp_path / "page.pdf")[0] == 0
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    status, _, err = command("plot", saved, "-o", tmp_path / "page.xyz")
    assert status == 2
    assert "cannot write" in err


def test_view_and_report_write_pages(command, saved, tmp_path):
    for words in (("view", saved, "--html"), ("report", saved, "-o")):
        page = tmp_path / "page.html"
        assert command(*words, page)[0] == 0
        text = page.read_text()
        assert "slider-crank" in text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert 'src="https://' not in text


def test_view_without_viser_writes_the_page_beside_the_result_and_opens_it(
    command, saved, monkeypatch
):
    opened = []
    monkeypatch.setattr("poinsot.cli.looking.find_spec", lambda _: None)
    monkeypatch.setattr("webbrowser.open", opened.append)
    status, out, _ = command("view", saved)
    page = saved.with_suffix(".html")
    assert status == 0
    assert str(page) in out
    assert "poinsot[viewer]" in out
    assert opened == [page.as_uri()]
    assert 'id="picture"' in page.read_text()
    assert command("view", saved, "--no-browser")[0] == 0
    assert len(opened) == 1


def test_view_draws_deflections_larger_and_in_colours_of_stress(command, tmp_path):
    model, run, page = ps.Model(), tmp_path / "run.nc", tmp_path / "page.html"
    section = ps.CircularSection(radius=0.01)
    beam = ps.Beam(length=1, section=section, density=2700, youngs_modulus=7e10, elements=1)
    body = model.add_body("arm", beam, position=(0.5, 0, 0))
    model.add_joint("clamp", ps.Weld(model.ground, body.start))
    ps.simulate(model, h=1e-3, t_end=0.002, output=run)
    assert command("view", run, "--html", page, "--scale", "20", "--colour", "bending")[0] == 0
    assert "bending moment" in page.read_text()
    assert "20 times as large" in page.read_text()
    status, _, err = command("view", run, "--html", page, "--colour", "moment")
    assert status == 2
    assert "colour is 'moment'; known: 'axial', 'shear', 'torsion', 'bending'" in err
    status, _, err = command("view", run, "--colour", "bending")
    assert status == 2
    assert "add --html" in err


@pytest.mark.parametrize("name", ["plot", "view", "report"])
def test_what_is_no_result_is_refused(name, command, tmp_path):
    (tmp_path / "run.nc").write_text("nothing")
    for path in (tmp_path / "run.nc", tmp_path / "missing.nc", tmp_path):
        status, _, err = command(name, path)
        assert status == 2
        assert err.startswith("error: ")
        assert "Traceback" not in err


def test_every_command_shows_an_example(command):
    names = [info.name or info.callback.__name__ for info in app.registered_commands]
    assert {"gallery", "run", "check", "modes", "bode", "plot", "view", "report"} < set(names)
    for name in names:
        status, out, _ = command(name, "--help")
        assert status == 0
        assert f"Example:  poinsot {name}" in out


def test_completion_can_be_installed():
    assert "--install-completion" in poinsot("--help").stdout
