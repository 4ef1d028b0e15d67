"""A model as an FMU: its file, its variables, and the binary that serves them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from poinsot.errors import InputError, StorageError
from poinsot.fmi.binary import SOURCE, binary, find_platforms, source
from poinsot.fmi.description import Description
from poinsot.fmi.instance import INTERFACE, MODEL, Instance
from poinsot.fmi.interface import Interface
from poinsot.io.writing import write
from poinsot.model import Model, Simulation
from poinsot.model.describe import describe
from poinsot.result import output_path

VERSIONS = (2, 3)
#: Which Python serves an FMU, unless POINSOT_PYTHON names another one; see bridge.c.
PYTHON = "python.txt"


def export_fmu(
    model: Model,
    path: str | PathLike[str],
    *,
    version: int = 3,
    step: float | None = None,
    scheme: str | None = None,
    outputs: Sequence[str] = (),
    parameters: Sequence[str] = (),
    platforms: Sequence[str] | None = None,
) -> Interface:
    """Write a model as an FMU for co-simulation; return its interface.

    Inputs u and outputs y of its ports, the energy put in through each, and the balance of energy
    are variables of the FMU, its sensors too. Inputs are held over a communication step, which
    takes steps of the scheme; the last of these is shorter if need be. FMU states are checkpoints:
    a step can be taken back, and a run goes on bit by bit from a serialised state.

    The FMU needs Python with Poinsot where it runs: the interpreter that wrote it, the one named by
    the environment variable POINSOT_PYTHON, or else `python3`.

    Parameters
    ----------
    model : Model
        Without Python functions: the FMU has its file.
    path : path
        The file, `"model.fmu"`; one that exists is replaced.
    version : {3, 2}
        Of the standard: FMI 3.0 or 2.0.
    step : float
        Step of the scheme [s]; default: that of `model.simulation`. It is a parameter of the FMU.
    scheme : str
        Default: that of `model.simulation`, or as in `simulate`.
    outputs : sequence of str
        Channels that are outputs besides the sensors, as in `add_sensor`.
    parameters : sequence of str
        Numbers of the model that are parameters of the FMU, such as `"bodies.rod.mass"`; see
        `ensemble`.
    platforms : sequence of str
        For which ones: `"x86_64-linux"`, `"aarch64-linux"`, `"x86_64-windows"`, `"x86_64-darwin"`,
        `"aarch64-darwin"`; default: this one.
    """
    place = output_path(path, "export_fmu")
    if place.suffix != ".fmu":
        raise InputError(f"export_fmu: '{place}' is no name of an FMU; let it end in .fmu")
    if not isinstance(model, Model):
        raise InputError(f"export_fmu: expected a Model, got {model!r}")
    if version not in VERSIONS:
        raise InputError(f"export_fmu: version is {version!r}; FMI 2 and 3 can be written")
    chosen = find_platforms(platforms, version)
    simulation = _simulation(model, step, scheme)
    text = write(describe(model, simulation))
    own = Model.from_yaml_text(text)
    interface = Interface.of(own, simulation, tuple(parameters), tuple(outputs))
    Instance(own, interface).initialise()
    facts = json.dumps(interface.facts, indent=1)
    token = sha256(f"{version}{text}{facts}".encode()).hexdigest()[:32]
    identifier = re.sub(r"\W", "_", place.stem, flags=re.ASCII)
    identifier = identifier if re.match(r"[A-Za-z_]", identifier) else f"model_{identifier}"
    described = Description(model.name, identifier, token, interface, simulation)
    contents: dict[str, bytes] = {
        "modelDescription.xml": described.xml(version),
        f"resources/{MODEL}": text.encode(),
        f"resources/{INTERFACE}": facts.encode(),
        f"resources/{PYTHON}": sys.executable.encode(),
        f"documentation/{SOURCE}": source().encode(),
    }
    for platform in chosen:
        folder = platform.name if version == 3 else platform.old_name
        contents[f"binaries/{folder}/{identifier}{platform.suffix}"] = binary(platform)
    try:
        with ZipFile(place, "w", ZIP_DEFLATED) as file:
            for name, data in contents.items():
                file.writestr(ZipInfo(name), data, ZIP_DEFLATED)
    except OSError as error:
        raise StorageError(f"cannot write to '{place}': {error.strerror}") from error
    return interface


def _simulation(model: Model, step: float | None, scheme: str | None) -> Simulation:
    """Return how the FMU runs its model: in steps of one size."""
    own = model.simulation or Simulation()
    chosen = replace(own, tolerance=None, h_max=None)
    if scheme is not None:
        chosen = replace(chosen, scheme=scheme, coordinates=None)
    if step is not None:
        chosen = replace(chosen, step=float(step))
    if chosen.step is None:
        raise InputError(
            "export_fmu: step is not given; write it to the model, simulation: {step: ...}, or "
            "give it here"
        )
    return chosen
