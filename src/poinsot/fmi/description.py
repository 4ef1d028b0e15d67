"""The file modelDescription.xml of an FMU, in the terms of FMI 2.0 and 3.0."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from poinsot.errors import InputError
from poinsot.fmi.interface import Interface, Variable
from poinsot.model import Simulation
from poinsot.ph.units import exponents

#: What FMI calls the base units of `exponents`.
BASE_UNITS = ("m", "kg", "s", "A", "K")
#: Categories of messages, see `say` in bridge.c.
CATEGORIES = "logEvents", *(f"logStatus{s}" for s in ("Warning", "Discard", "Error", "Fatal"))


@dataclass(frozen=True)
class Description:
    """What an FMU says of itself.

    Parameters
    ----------
    name, identifier, token : str
        The name of the model, that of the binary, and what tells this FMU from others.
    interface : Interface
        Its variables.
    simulation : Simulation
        What it suggests to a simulation.
    """

    name: str
    identifier: str
    token: str
    interface: Interface
    simulation: Simulation

    def xml(self, version: int) -> bytes:
        """Return the file in a version of the standard."""
        root = self._fmi3() if version == 3 else self._fmi2()
        indent(root)
        return b'<?xml version="1.0" encoding="UTF-8"?>\n' + bytes(tostring(root, "utf-8")) + b"\n"

    def _root(self, version: str, token: str, state: str) -> Element:
        """Return all that comes before the variables; capital letters differ."""
        root = Element(
            "fmiModelDescription",
            {
                "fmiVersion": version,
                "modelName": self.name,
                token: self.token,
                "generationTool": f"Poinsot {installed('poinsot')}",
                "variableNamingConvention": "flat",
            },
        )
        how = {
            "modelIdentifier": self.identifier,
            "needsExecutionTool": "true",
            "canHandleVariableCommunicationStepSize": "true",
            f"canGetAndSet{state}": "true",
            f"canSerialize{state}": "true",
        }
        units = {v.unit: _base(v.unit) for v in self.interface.variables if v.unit}
        if version == "2.0":
            how["canNotUseMemoryManagementFunctions"] = "true"
        SubElement(root, "CoSimulation", how)
        _add_units(root, units)
        categories = SubElement(root, "LogCategories")
        for name in CATEGORIES:
            SubElement(categories, "Category", name=name)
        span = {"startTime": self.simulation.t_start, "stopTime": self.simulation.t_end}
        given = {name: repr(value) for name, value in span.items() if value is not None}
        SubElement(root, "DefaultExperiment", given, stepSize=repr(self.simulation.step))
        return root

    def _fmi3(self) -> Element:
        root = self._root("3.0", "instantiationToken", "FMUState")
        variables = SubElement(root, "ModelVariables")
        structure = SubElement(root, "ModelStructure")
        for k, variable in enumerate(self.interface.variables):
            SubElement(variables, "Float64", _common(k, variable) | _numbers(variable))
        for tag in ("Output", "InitialUnknown"):
            for k in self._outputs:
                SubElement(structure, tag, valueReference=str(k))
        return root

    def _fmi2(self) -> Element:
        root = self._root("2.0", "guid", "FMUstate")
        variables = SubElement(root, "ModelVariables")
        structure = SubElement(root, "ModelStructure")
        for k, variable in enumerate(self.interface.variables):
            scalar = SubElement(variables, "ScalarVariable", _common(k, variable))
            SubElement(scalar, "Real", _numbers(variable))
        for tag in ("Outputs", "InitialUnknowns"):
            unknowns = SubElement(structure, tag)
            for k in self._outputs:
                SubElement(unknowns, "Unknown", index=str(k + 1))
        return root

    @property
    def _outputs(self) -> list[int]:
        variables = enumerate(self.interface.variables)
        return [k for k, variable in variables if variable.causality == "output"]


def _common(reference: int, variable: Variable) -> dict[str, str]:
    """Return what both versions say of a variable."""
    fixed = variable.causality == "parameter"
    found = {
        "name": variable.name,
        "valueReference": str(reference),
        "causality": variable.causality,
        "variability": "fixed" if fixed else "continuous",
    }
    if variable.description:
        found["description"] = variable.description
    if fixed:
        found["initial"] = "exact"
    elif variable.causality in ("output", "local"):
        found["initial"] = "calculated"
    return found


def _numbers(variable: Variable) -> dict[str, str]:
    found = {} if not variable.unit else {"unit": variable.unit}
    return found if variable.start is None else found | {"start": repr(float(variable.start))}


def _add_units(root: Element, units: Mapping[str, Mapping[str, str]]) -> None:
    definitions = SubElement(root, "UnitDefinitions")
    for name, base in units.items():
        unit = SubElement(definitions, "Unit", name=name)
        if base is not None:
            SubElement(unit, "BaseUnit", dict(base))


def _base(unit: str) -> dict[str, str]:
    """Return the exponents of the base units of a unit; nothing for one that is not known."""
    try:
        found = dict(zip(BASE_UNITS, exponents(unit), strict=True))
    except InputError:
        return {}
    found["rad"] = 1 if unit.startswith("rad") else 0
    return {name: str(power) for name, power in found.items() if power}
