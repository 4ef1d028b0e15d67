"""Units multiply as physics says, and strangers are named."""

import pytest

import poinsot as ps
from poinsot.ph import units


@pytest.mark.parametrize(
    ("unit", "base"),
    [
        ("N", "kg m/s^2"),
        ("J", "N m"),
        ("W", "J/s"),
        ("W", "V A"),
        ("V", "Wb/s"),
        ("Ohm", "V/A"),
        ("F", "C/V"),
        ("H", "Wb/A"),
        ("T", "Wb/m^2"),
        ("Pa", "N/m^2"),
        ("Hz", "1/s"),
        ("N m/rad", "J"),
        ("kg*m^2/s", "N m s"),
        ("m s^-1", "m/s"),
        ("1", "rad"),
    ],
)
def test_derived_units_equal_their_definition(unit, base):
    assert units.exponents(unit) == units.exponents(base)


def test_a_slash_divides_by_the_next_factor_only():
    assert units.exponents("kg/m/s") == (-1, 1, -1, 0, 0)
    assert units.exponents("kg/m s") == (-1, 1, 1, 0, 0)


def test_spaces_around_a_slash_mean_nothing():
    assert units.exponents("m / s") == units.exponents("m/s")


def test_products_add_exponents():
    assert units.product("N m", "rad/s") == units.exponents("W")
    assert units.product("V", "m/s") != units.exponents("W")


def test_format_writes_what_exponents_reads():
    for unit in ("N", "V", "Ohm", "kg m^2/s", "1", "K"):
        assert units.exponents(units.format_exponents(units.exponents(unit))) == units.exponents(
            unit
        )


def test_an_unknown_symbol_is_named_with_a_suggestion():
    with pytest.raises(ps.InputError, match=r"'ohm/m': unknown symbol 'ohm'; did you mean 'Ohm'"):
        units.exponents("ohm/m")


def test_a_fractional_power_is_refused():
    with pytest.raises(ps.InputError, match=r"'0.5' is not an integer"):
        units.exponents("m^0.5")
