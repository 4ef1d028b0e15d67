"""Tries in a process of its own whether a file can be read: some that are damaged end the process.

libhdf5 follows what a damaged file says: in circles, or to where there is nothing.
"""

import subprocess
import sys
from pathlib import Path

#: A file that takes longer is damaged [s]: what says where numbers are is short.
LONGEST = 20.0


def survives(path: Path) -> bool:
    """Return whether a process could open a file, or was refused by an exception."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from pathlib import Path; "
        "from poinsot.result.source import Opening, read; "
        "path = Path(sys.argv[1]); read(Opening(path), path)"
    )
    nothing = subprocess.DEVNULL
    try:
        tried = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    except OSError:  # no process can be started here
        return True
    return tried.returncode in (0, 1)  # a signal otherwise
