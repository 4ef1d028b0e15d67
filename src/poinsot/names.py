"""Public names of packages, imported when they are first used; listed in their stubs."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def publish(package: dict[str, Any], later: tuple[str, ...] = ()) -> None:
    """Give a package its public names; those of the modules `later` when they are first asked for.

    `package` holds what the package has so far: its `globals()`.
    """
    own, file, first = package["__name__"], Path(package["__file__"]), package.get("__all__", ())

    @cache
    def homes() -> dict[str, str]:
        import ast  # takes a while, and many programs ask for one module only

        stub = ast.parse(file.with_suffix(".pyi").read_text(encoding="utf-8"))
        imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
        return {alias.name: line.module or "" for line in imports for alias in line.names}

    def get(name: str) -> Any:
        if name == "__all__":
            return [*first, *homes()]
        if name not in homes():
            raise AttributeError(f"module '{own}' has no attribute '{name}'")
        home = homes()[name]
        module = import_module(f"{home}.{name}" if home == own else home)
        package[name] = module if home == own else getattr(module, name)
        return package[name]

    package.pop("__all__", None)
    package["__getattr__"], package["__dir__"] = get, lambda: sorted(get("__all__"))
    if not own.startswith(later):
        for name, home in homes().items():
            if not home.startswith(later):
                get(name)
