"""Write a model as an FMU: model description, resources and binary."""

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

    Variables of the FMU are the inputs u and outputs y of all ports, the energy supplied through
    each, the error of the energy balance, and the sensors. Inputs are held over a communication
    step, which consists of steps of the scheme; the last one is shortened if necessary. The FMU
    supports saving, restoring and serialising its state: a step can be taken back, and a restored
    simulation continues bit by bit.

    The FMU needs Python with Poinsot at run time: the interpreter that wrote it, the one named by
    the environment variable POINSOT_PYTHON, or `python3`.

    Parameters
    ----------
    model : Model
        A model without Python functions; the FMU contains its model file.
    path : path
        File to write, such as `"model.fmu"`. An existing file is replaced.
    version : {3, 2}
        FMI 3.0 or 2.0.
    step : float
        Step size [s]; a parameter of the FMU. Default: that of `model.simulation`.
    scheme : str
        Scheme. Default: that of `model.simulation`, or that of `simulate`.
    outputs : sequence of str
        Channels to export in addition to the sensors, as in `Model.add_sensor`.
    parameters : sequence of str
        Numbers of the model that become parameters of the FMU, such as `"bodies.rod.mass"`; see
        `ensemble`.
    platforms : sequence of str
        Platforms: `"x86_64-linux"`, `"aarch64-linux"`, `"x86_64-windows"`, `"x86_64-darwin"`,
        `"aarch64-darwin"`. Default: this one.
    """
    place = output_path(path, "export_fmu")
    if place.suffix != ".fmu":
        raise InputError(f"export_fmu: '{place}' is not the name of an FMU; it must end in .fmu")
    if not isinstance(model, Model):
        raise InputError(f"export_fmu: expected a Model, got {model!r}")
    if version not in VERSIONS:
        raise InputError(f"export_fmu: version is {version!r}; choose 2 or 3, for FMI 2 and 3")
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
    """Return the simulation options of the FMU; the step size is constant."""
    own = model.simulation or Simulation()
    chosen = replace(own, tolerance=None, h_max=None)
    if scheme is not None:
        chosen = replace(chosen, scheme=scheme, coordinates=None)
    if step is not None:
        chosen = replace(chosen, step=float(step))
    if chosen.step is None:
        raise InputError(
            "export_fmu: no step size; give step=..., or `step` in the section `simulation` of the "
            "model file"
        )
    return chosen
