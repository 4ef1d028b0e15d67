"""The JSON schema says of a file what the reader says."""

import json
from pathlib import Path

import jsonschema
import pytest

from poinsot.io import schema
from poinsot.io.tree import read_tree

GOOD = (Path(__file__).parent / "everything.yaml").read_text()


def errors(text):
    validator = jsonschema.Draft202012Validator(schema())
    return list(validator.iter_errors(read_tree(text).plain()))


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()


def test_the_schema_accepts_a_good_file():
    assert errors(GOOD) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("poinsot: 1", "poinsot: 2"),
        ("gravity: [0, 0, -9.81]", "gravity: [0, 0]"),
        ("box: {mass", "bix: {mass"),
        ("mass: 0.12", "mass: heavy"),
        ("mass: 0.12", "mas: 0.12"),
        ("{revolute: ", "{spherical: "),
        ("axes: body", "axes: moon"),
        ("engine: reference", "engine: steam"),
        ("box: {mass: 0.12", "sphere: {mass: 1, radius: 1}, box: {mass: 0.12"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(right, wrong):
    assert errors(GOOD.replace(right, wrong, 1))
