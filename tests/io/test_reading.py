"""Model files are YAML without surprises; whatever the text, it is a model or an error."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as ps
from poinsot.io.reading import read_file, read_text
from poinsot.io.tree import read_tree
from poinsot.io.writing import write

GOOD = (Path(__file__).parent / "everything.yaml").read_text()


def dump(document):
    return write(document.model_dump(exclude_unset=True))


def problems(read, source):
    try:
        read(source)
    except ps.ModelFileError as error:
        return error.problems
    return ()


def test_the_text_of_a_document_is_the_same_document():
    document = read_text(GOOD).document
    assert read_text(dump(document)).document == document
    assert dump(read_text(dump(document)).document) == dump(document)


def test_every_part_can_be_in_a_file():
    model = ps.Model.from_yaml_text(GOOD)
    assert model.check().bodies == 23
    assert model.simulation == ps.Simulation(
        scheme="ph-mp",
        step=0.01,
        t_end=5.0,
        t_start=1.0,
        save_every=2,
        engine="reference",
        newton=ps.Newton(rtol=1e-11),
    )


@pytest.mark.parametrize("number", ["1e-3", "1E-3", "+1e-3", ".001", "0.001", "1.e-3", "10.0e-4"])
def test_every_way_to_write_a_number_is_a_number(number):
    text = f"poinsot: 1\nbodies: {{a: {{point_mass: {{mass: {number}}}}}}}"
    assert ps.Model.from_yaml_text(text).bodies["a"].mass == 1e-3


@pytest.mark.parametrize("number", ["010", "+10", "10.", "1e1", "10e0"])
def test_a_leading_zero_is_not_octal(number):
    text = f"poinsot: 1\nbodies: {{a: {{point_mass: {{mass: {number}}}}}}}"
    assert ps.Model.from_yaml_text(text).bodies["a"].mass == 10


@pytest.mark.parametrize("name", ["yes", "no", "on", "off", "y", "n", "1", "1e-3", "true", "null"])
def test_every_word_can_name_a_body(name):
    model = ps.Model.from_yaml_text(
        f"poinsot: 1\nbodies: {{{name}: {{point_mass: {{mass: 1}}}}}}\n"
        f'joints: {{J: {{spherical: {{bodies: [ground, "{name}"], point: [0, 0, 0]}}}}}}\n'
    )
    assert list(model.bodies) == [name]
    assert list(ps.Model.from_yaml_text(model.to_yaml()).bodies) == [name]


@pytest.mark.parametrize("name", ["yes", "no", "on", "off", "y", "n"])
def test_words_of_other_yaml_versions_are_names_without_quotes(name):
    model = ps.Model.from_yaml_text(
        f"poinsot: 1\nbodies: {{{name}: {{point_mass: {{mass: 1}}}}}}\n"
        f"joints: {{J: {{spherical: {{bodies: [ground, {name}], point: [0, 0, 0]}}}}}}\n"
    )
    assert model.joints["J"].b.name == name


def test_aliases_repeat_values():
    model = ps.Model.from_yaml_text(
        "poinsot: 1\nbodies:\n  a: &ball {sphere: {mass: 1, radius: 2}}\n  b: *ball\n"
    )
    assert model.bodies["a"].shape == model.bodies["b"].shape


def test_empty_sections_and_comments_are_nothing():
    text = "# mine\npoinsot: 1\nbodies:\n  a: {point_mass: {mass: 1}} # one\njoints:\nforces: {}\n"
    assert ps.Model.from_yaml_text(text).check().bodies == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file_of_any_system_is_read(encoding, newline, tmp_path):
    path = tmp_path / "räder.yaml"
    path.write_bytes(GOOD.replace("everything", "Räder").replace("\n", newline).encode(encoding))
    assert read_file(path).document.name == "Räder"


def test_a_model_without_a_name_is_called_like_its_file(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text("poinsot: 1\nbodies: {a: {point_mass: {mass: 1}}}\n")
    assert ps.Model.from_yaml(path).name == "pendulum"
    assert ps.Model.from_yaml_text(path.read_text()).name == "model"


def test_a_run_may_end_before_time_zero():
    text = "poinsot: 1\nsimulation: {t_end: -1, t_start: -5}\n"
    assert ps.Model.from_yaml_text(text).simulation.t_end == -1


def test_both_parsers_of_yaml_find_the_same(monkeypatch):
    fast = read_tree(GOOD)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert read_tree(GOOD) == fast


@given(st.text(max_size=200))
def test_any_text_is_a_model_or_an_error(text):
    with pytest.raises(ps.ModelFileError):
        ps.Model.from_yaml_text(text)


@settings(max_examples=80)
@given(st.binary(max_size=200), st.booleans())
def test_any_file_is_a_model_or_an_error(tmp_path_factory, data, headed):
    path = tmp_path_factory.mktemp("fuzz") / "a.yaml"
    path.write_bytes((b"poinsot: 1\n" if headed else b"") + data)
    assert all(problem.startswith(f"{path}:") for problem in problems(ps.Model.from_yaml, path))


@settings(max_examples=80)
@given(
    st.integers(0, len(GOOD)),
    st.integers(0, 8),
    st.sampled_from(
        ["", "0", "-", "a", "[", "}", ":", '"', "\t", "\n", ".nan", "1e999", "*a", "true"]
    ),
)
def test_a_file_with_a_slip_is_a_model_or_an_error(place, length, slip):
    text = GOOD[:place] + slip + GOOD[place + length :]
    found = problems(ps.Model.from_yaml_text, text)
    assert all(problem.startswith("<text>:") for problem in found)
