"""Public names of packages, imported when they are first used; listed in their stubs."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def publish(package: dict[str, Any], later: tuple[str, ...] = ()) -> None:
    """Give a package its public names; those of the modules `later` when they are first asked for.

    `package` holds what the package has so far: its `globals()`.
    """
    own, file = package["__name__"], Path(package["__file__"])
    stub = ast.parse(file.with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    homes = {alias.name: line.module or "" for line in imports for alias in line.names}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{own}' has no attribute '{name}'")
        home = homes[name]
        module = import_module(f"{home}.{name}" if home == own else home)
        package[name] = module if home == own else getattr(module, name)
        return package[name]

    package["__all__"] = [*package.get("__all__", ()), *homes]
    package["__getattr__"], package["__dir__"] = get, lambda: sorted(package["__all__"])
    for name, home in homes.items():
        if not home.startswith(later):
            get(name)
