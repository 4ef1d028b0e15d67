"""Whether two results are the same, to the last bit."""

from dataclasses import fields

import numpy as np


def numbers(result):
    """Every number and text of a result, by name; all but the time that it took."""
    found = {f"stats.{f.name}": getattr(result.stats, f.name) for f in fields(result.stats)}
    del found["stats.wall_time"]
    for f in fields(result):
        if f.name not in ("states", "ports", "sensors", "events", "stats", "observation"):
            found[f.name] = getattr(result, f.name)
    found["supplied"] = result.supplied
    for event in result.events.values():
        for name in ("what", "time", "index", "energy"):
            found[f"event.{event.name}.{name}"] = getattr(event, name)
    seen = result.observation
    for kind in ("whole", "energies"):
        for name, array in getattr(seen, kind).items():
            found[f"{kind}.{name}"] = array
    found["scene"], found["counts"] = seen.scene, seen.counts
    for records in (
        result.states,
        result.ports,
        seen.bodies,
        seen.markers,
        seen.joints,
        {name: result.sensor(name) for name in result.sensors},
    ):
        for record in records.values():
            where = f"{type(record).__name__}.{record.name}"
            for f in fields(record):
                found[f"{where}.{f.name}"] = getattr(record, f.name)
    for joint in seen.joints.values():
        for kind in ("coordinates", "rates"):
            found.update({f"{joint.name}.{kind}.{k}": v for k, v in getattr(joint, kind).items()})
            del found[f"JointRecord.{joint.name}.{kind}"]
    return found


def equal(a, b):
    """Whether two arrays are the same; what is not known (NaN) is so in both."""
    known = isinstance(a, np.ndarray) and a.dtype.kind == "f"
    return np.array_equal(a, b, equal_nan=known)


def assert_same(a, b):
    one, other = numbers(a), numbers(b)
    assert list(one) == list(other)
    assert [name for name in one if not equal(one[name], other[name])] == []
