"""Pairs of options instead of their product: every value of both, and every one many times."""


def in_turn(first, second, times=1):
    """Return pairs in which every value of `first` meets so many of `second`, by turns."""
    first, second = list(first), list(second)
    rows = [
        (value, second[(k + shift) % len(second)])
        for k, value in enumerate(first)
        for shift in range(times)
    ]
    assert {value for _, value in rows} == set(second), "some values are in no pair"
    return rows
