"""Installs a wheel into a bare environment and runs an example: `python tests/bare_wheel.py WHEEL`.

The example has to run in the compiled engine, with the machine code of the wheel: nothing is built.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAM = """
import poinsot as ps
from poinsot.engine import machine_code
from poinsot.gallery import find_example

for form in machine_code.FORMS:
    path = machine_code.beside_the_package() / machine_code.name_of(form)
    assert machine_code.find(form) is not None, f"no machine code of '{form}': {path}"
result = find_example("spatial-slider-crank").run(t_end=0.5, progress=False)
assert result.engine == "compiled"
assert result.stats.balance_error_max < 1e-13
ps.viz.write_page(result, "page.html")
print(f"poinsot {ps.__version__}: {result!r}, engine {result.engine}")
"""


def main(wheel: str) -> None:
    """Install and run."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        python, command = programs / "python", programs / "poinsot"
        subprocess.run([python, "-m", "pip", "install", "-q", Path(wheel).resolve()], check=True)
        # An empty cache: machine code that was built here before must not help.
        environment = os.environ | {"POINSOT_CACHE": str(Path(folder, "cache"))}
        for words in ([python, "-c", PROGRAM], [command, "--version"], [command, "gallery"]):
            subprocess.run(words, check=True, cwd=folder, env=environment)


if __name__ == "__main__":
    main(*sys.argv[1:])
