"""Loads Exudyn's build without range checks, the faster of its two; a request before any import."""

import sys
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

sys.exudynFast = True  # type: ignore[attr-defined]
with redirect_stdout(StringIO()):
    import exudyn

#: The module; everything of Exudyn comes through here.
exu: Any = exudyn
