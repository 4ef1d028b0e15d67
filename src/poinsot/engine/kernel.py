"""How kernels are compiled: with products fused and no errors of division; kept on disk."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

#: A product may be fused with a sum; sums are not reordered.
FUSED = {"contract"}
#: Kernels own no memory: counting references to arrays would take as long as small steps do.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": FUSED, "_nrt": False}


def entry(function: F) -> F:
    """Compile a kernel that Python calls; its machine code is kept on disk with all it calls."""
    compiled: Any = numba.njit(cache=True, error_model="numpy", fastmath=FUSED)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        # Numba looks at the age of the function's own file only, not of those that it calls; and it
        # reads what another version of the engine kept, types that are gone included, unless it
        # takes it for that of another Numba.
        file = compiled._cache._cache_file
        file._source_stamp = _stamp()
        engine = hashlib.sha256(repr(file._source_stamp).encode()).hexdigest()
        file._version = f"{numba.__version__}, engine {engine}"
    return cast(F, compiled)


def _stamp() -> tuple[tuple[str, float, int], ...]:
    """Return name, age and size of every file of the engine: when one changes, all is compiled."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


def kernel(function: F) -> F:
    """Compile a kernel that kernels call."""
    return cast(F, numba.njit(**OPTIONS)(function))


def inline(function: F) -> F:
    """Compile a function of a few numbers into the kernels that call it."""
    return cast(F, numba.njit(forceinline=True, **OPTIONS)(function))
