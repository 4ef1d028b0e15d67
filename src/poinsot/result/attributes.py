"""Attributes of a result as a whole, in a dataset or a file."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeAlias, get_type_hints

from poinsot.result.records import Stats
from poinsot.result.result import Result

Attribute: TypeAlias = str | int | float

#: The version of the layout of files. A reader refuses files of a newer one.
FORMAT = 1
#: The numbers of `Stats`: all but the iterations of each step, which are a variable.
STATS = {name: kind for name, kind in get_type_hints(Stats).items() if name != "iterations"}
#: Those that files of earlier versions do not have.
ADDED = ("split_steps", "rejected_steps", "tolerance", "smallest_step", "largest_step")
ESTIMATED = ("position_error", "rotation_error")
#: What are fields of a `Result`, too; and everything that a reader needs to know, with its type.
FACTS = ("scheme", "engine", "t_end", "status", "message", "document")
NEEDED: dict[str, Any] = dict.fromkeys(("title", *FACTS, "scene", "counts"), str)
#: Sentences, a line each. Files of earlier versions have none.
TOLD = ("warnings", "notes")
#: Names of systems and sensors. Files of earlier versions have none.
LISTED = ("systems", "sensors")
NEEDED |= {"step": float, "t_end": float}
NEEDED |= {name: kind for name, kind in STATS.items() if name not in ADDED + ESTIMATED}


def attributes(result: Result) -> dict[str, Attribute]:
    """Return the attributes of a result."""
    return {
        "title": result.model,
        "Conventions": "CF-1.11",
        "source": f"Poinsot {_version()}",
        "poinsot_version": _version(),
        "poinsot_format": FORMAT,
        "date_created": datetime.now(UTC).isoformat(timespec="seconds"),
        "scheme": result.scheme,
        "engine": result.engine,
        "step": float(result.h),
        "t_end": float(result.t_end),
        **progress(result),
        "scene": json.dumps(result.observation.scene.to_dict()),
        "counts": json.dumps(asdict(result.observation.counts)),
        "document": result.document,
        "systems": json.dumps(result.systems),
        "sensors": json.dumps(dict(result.sensors)),
    }


def progress(result: Result) -> dict[str, Attribute]:
    """Return the attributes that change while a run goes on."""
    numbers = {name: getattr(result.stats, name) for name in STATS}
    told = {name: "\n".join(getattr(result, name)) for name in TOLD}
    return {"status": result.status, "message": result.message, **told, **numbers}


def unfinished(t: float) -> str:
    """Return the message of a file whose last time is t [s], and whose run did not say goodbye."""
    return (
        f"written up to t = {t:g} s by a run that is still going on, or was killed: then go on by "
        "poinsot run --resume FILE"
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("poinsot")
    except PackageNotFoundError:
        return "unknown"
