"""Plain data to text and back, bit by bit."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as ps
from poinsot.io.tree import read_tree
from poinsot.io.writing import write

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.one_of(NUMBERS, st.booleans(), st.text(max_size=30), st.integers(-9, 9))
KEYS = st.text(max_size=20)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=40,
)


@given(NUMBERS)
def test_a_number_is_written_to_the_last_bit(number):
    found = float(read_tree(write({"a": number})).plain()["a"])
    assert struct.pack("d", found) == struct.pack("d", number)


@given(st.dictionaries(KEYS, DATA, min_size=1, max_size=5))
def test_what_is_written_is_read(data):
    assert read_tree(write(data)).plain() == data


WORDS = [
    "",
    " a",
    "a ",
    "a: b",
    "#",
    "- a",
    "yes",
    "Null",
    "TRUE",
    "~",
    "1e3",
    ".5",
    "0x1f",
    "é",
    "日本",
]
WORDS += [
    "'",
    '"',
    "\\",
    "a\nb",
    "\t",
    "\x85",
    "\u2028",
    "\ufeff",
    "😀",
    "=",
    "<<",
    "!a",
    "&a",
    "*a",
    "{",
    "]",
]


@pytest.mark.parametrize("word", WORDS)
def test_text_stays_text_as_key_and_value(word):
    assert read_tree(write({word: [word, {"a": word}]})).plain() == {word: [word, {"a": word}]}


def test_lines_are_short_where_they_can_be():
    part = {"box": {"mass": 0.5, "size": [0.1, 0.2, 1 / 3]}, "position": [1 / 3, 2 / 3, 1 / 7]}
    text = write({"poinsot": 1, "bodies": {"a": part, "b": part | {"rotation": [[1 / 3] * 3] * 3}}})
    assert max(map(len, text.splitlines())) <= 100
    assert text.startswith("poinsot: 1\nbodies:\n  a:\n    box: {mass: 0.5, size: [0.1, 0.2, ")


def test_what_a_file_cannot_hold_is_refused():
    with pytest.raises(ps.InputError, match="too long for a name"):
        write({"n" * 300: 1})
    with pytest.raises(ps.InputError, match="an incomplete character"):
        write({"\ud800": 1})
