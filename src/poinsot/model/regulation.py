"""Controllers in continuous time as part of the system of a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from poinsot.bodies.body import Body, Marker
from poinsot.parts.controllers import OUTPUT, Controller
from poinsot.parts.joint import Joint
from poinsot.parts.loads import ForcePort, JointPort, PortPlace, TorquePort
from poinsot.parts.regulators import reading, regulator_law
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.regulators import OUTPUTS, RATES, Reading, Regulator, regulator_system
from poinsot.ph.system import PHSystem, State
from poinsot.result.channels import Channel


@dataclass(frozen=True)
class Regulation:
    """The controllers of a model in continuous time, and what they can measure.

    `closed` are ports that they drive, or that are connected, by name.
    """

    controllers: tuple[Controller, ...]
    joints: Mapping[str, Joint]
    bodies: Mapping[str, Body]
    markers: Mapping[str, Marker]
    closed: Mapping[str, PortPlace]

    @property
    def ports(self) -> dict[str, PortPlace]:
        """Ports whose outputs are the rates of what is read."""
        found: dict[str, PortPlace] = {}
        for controller in self.controllers:
            for channel in controller.reads:
                name = self._port(channel)
                if name and name not in self.closed:
                    found[name] = self._place(channel)
        return found

    def _port(self, channel: Channel) -> str:
        """Return the port whose output is the rate of a channel; one that is closed anyway.

        States and what controllers put out have none.
        """
        if channel.kind in ("state", "signal", "output"):
            return ""
        if channel.kind == "motion":
            turns = channel.which in ("rotation", "angular_velocity")
            return f"{channel.owner}.{'angular_velocity' if turns else 'velocity'}"
        for name, place in self.closed.items():
            if isinstance(place, JointPort) and place.joint == channel.owner:
                freedoms = [freedom.label for freedom in self.joints[place.joint].freedoms()]
                if (place.freedom or freedoms[0]) == channel.which:
                    return name
        return f"{channel.owner}.{channel.which}.rate"

    def _place(self, channel: Channel) -> PortPlace:
        """Return where that port is."""
        if channel.kind != "motion":
            return JointPort(channel.owner, channel.which)
        marker = self.markers.get(channel.owner)
        body = self.bodies[channel.owner] if marker is None else marker.carrier
        if channel.which in ("rotation", "angular_velocity"):
            return TorquePort(body)
        return ForcePort(body, None if marker is None else marker.position)

    @property
    def systems(self) -> list[PHSystem]:
        """What has their states, and ports for what they have measured."""
        found: list[PHSystem] = []
        for controller in self.controllers:
            readings = [reading(channel, "") for channel in controller.reads]
            seen = sum(each.size for each in readings if each.starts)
            law, states = controller.law, [State(name) for name in controller.state_names]
            if isinstance(law, PHSystem):
                states = []
                found.append(law.prefixed(controller.name))
            told = controller.sizes.outputs - controller.driven
            own = regulator_system(controller.name, states, seen, told)
            if own is not None:
                found.append(own.prefixed(controller.name))
        return found

    def of(self, system: Interconnection) -> Interconnection:
        """Return a system whose ports they feed."""
        return replace(system, regulators=tuple(map(self._regulator, self.controllers)))

    def _regulator(self, controller: Controller) -> Regulator:
        reads = [each for channel in controller.reads for each in self._readings(channel)]
        drives = [name for name, _ in _fed(controller)]
        law, name = controller.law, controller.name
        if isinstance(law, PHSystem):
            own = law.prefixed(name)
            states = [(state.name, state.size) for state in own.states]
            drives += [port.name for port in own.ports]
        else:
            states = [(f"{name}.{state}", 1) for state in controller.state_names]
            drives += [f"{name}.{RATES}"] if states else []
        reads += [Reading("state", *state) for state in states]
        made = regulator_law(controller), tuple(reads), tuple(drives)
        return Regulator(name, *made, tuple(state for state, _ in states), controller.states)

    def _readings(self, channel: Channel) -> list[Reading]:
        """Return how a channel is read: what another one puts out, port by port."""
        if channel.kind != "output":
            return [reading(channel, self._port(channel))]
        names = {f"{each.name}.{OUTPUT}": each for each in self.controllers}
        return [Reading("input", *port) for port in _fed(names[channel.owner])]


def _fed(controller: Controller) -> list[tuple[str, int]]:
    """Return the ports that take what a controller puts out, and their sizes."""
    driven = [(port.name, port.size) for port in controller.drives]
    told = controller.sizes.outputs - controller.driven
    return driven + ([(f"{controller.name}.{OUTPUTS}", told)] if told else [])


def continuous(controllers: Iterable[Controller]) -> tuple[Controller, ...]:
    """Return those controllers that are not sampled."""
    return tuple(controller for controller in controllers if controller.every is None)
