"""The results of a run as data: read, write, look up."""

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "results.json"

Results = dict[str, Any]


def save(results: Results, path: Path = FILE) -> None:
    """Write results as JSON; numbers with six significant digits."""
    path.write_text(json.dumps(_rounded(results), indent=1, ensure_ascii=False) + "\n")


def load(path: Path = FILE) -> Results:
    """Read results."""
    found: Results = json.loads(path.read_text())
    return found


def seconds(results: Results, case: str, size: int, code: str, scheme: str) -> float | None:
    """Return the time of one step [s], if it was measured."""
    for row in results.get("steps", []):
        if (row["case"], row["size"]) == (case, size):
            for timing in row["timings"]:
                if (timing["code"], timing["scheme"]) == (code, scheme):
                    return float(timing["seconds"])
    return None


def sizes(results: Results, case: str) -> list[int]:
    """Return the sizes of a case."""
    return [row["size"] for row in results.get("steps", []) if row["case"] == case]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return value
