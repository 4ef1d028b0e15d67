"""Public names of packages, imported when they are first used; listed in their stubs.

Every program starts here, so modules that are slow to import are imported on demand.
"""

from importlib import import_module


def publish(package: dict[str, object], later: tuple[str, ...] = ()) -> None:
    """Give a package its public names; those of the modules `later` when they are first asked for.

    `package` holds what the package has so far: its `globals()`.
    """
    own, file = str(package["__name__"]), str(package["__file__"])
    given, known = package.pop("__all__", None), dict[str, str]()
    first = given if isinstance(given, list) else []

    def homes() -> dict[str, str]:
        if not known:
            known.update(_listed(file))
        return known

    def get(name: str) -> object:
        if name == "__all__":
            return [*first, *homes()]
        if name not in homes():
            raise AttributeError(f"module '{own}' has no attribute '{name}'")
        home = homes()[name]
        module = import_module(f"{home}.{name}" if home == own else home)
        package[name] = module if home == own else getattr(module, name)
        return package[name]

    package["__getattr__"], package["__dir__"] = get, lambda: sorted({*first, *homes()})
    if not own.startswith(later):
        for name, home in homes().items():
            if not home.startswith(later):
                get(name)


def _listed(file: str) -> dict[str, str]:
    """Return names and their modules, from the stub of a file."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: line.module or "" for line in imports for alias in line.names}
