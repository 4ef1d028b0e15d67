"""The wiring of a model: ports and channels by name, and their connections."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from poinsot.errors import InputError, did_you_mean
from poinsot.model.contents import Contents
from poinsot.model.regulation import Regulation, continuous
from poinsot.parts.loads import JointPort, PortPlace
from poinsot.parts.transmissions import Transmission
from poinsot.ph.ports import Port
from poinsot.result import Lazy
from poinsot.result.channels import Channel, Known, find_channel


@dataclass(frozen=True)
class Wiring:
    """Ports and channels of a model by name."""

    model: Contents

    def port(self, name: str, what: str) -> Port:
        """Return a port of a system, one that was added, or that of a joint's free direction."""
        model = self.model
        of_systems = {port.name: port for system in model.systems.values() for port in system.ports}
        if name in of_systems:
            return of_systems[name]
        place = self.place(name)
        if place is None:
            known = [*of_systems, *model.ports, *model.joints]
            raise InputError(f"{what}: no port '{name}'; {did_you_mean(name, known)}")
        return place.place(name, model.joints)[0]

    def place(self, name: str) -> PortPlace | None:
        """Return where a port that was added is, or that of a joint, `joint` or `joint.freedom`."""
        joint, _, freedom = name.rpartition(".")
        if name in self.model.ports:
            return self.model.ports[name]
        if name in self.model.joints:
            return JointPort(name)
        return JointPort(joint, freedom) if joint in self.model.joints else None

    def require_free(self, port: str, what: str) -> None:
        """Refuse a port that is connected or driven."""
        if any(port in each.ports for each in self.model.connections):
            raise InputError(f"{what}: port '{port}' is connected twice; connect each port once")
        for each in self.model.controllers.values():
            if any(port == driven.name for driven in each.drives):
                raise InputError(f"{what}: port '{port}' is driven by controller '{each.name}'")

    def driven(self, names: Sequence[str], what: str) -> list[Port]:
        """Return the ports that a controller drives; each must be free."""
        ports = [self.port(name, what) for name in names]
        for port in ports:
            self.require_free(port.name, what)
            if port.status == "fed":
                raise InputError(
                    f"{what}: port '{port.name}' has an input already; leave one of them out"
                )
        if len({port.name for port in ports}) < len(ports):
            raise InputError(f"{what}: drives contains a port twice")
        return ports

    def read(self, names: Sequence[str], reader: str, *, sampled: bool) -> list[Channel]:
        """Return the channels that a controller reads, which is sampled or not."""
        there: dict[bool, dict[str, int]] = {True: {}, False: {}}
        for each in self.model.controllers.values():
            there[each.every is not None].update(each.signals)
        outputs = {} if sampled else there[False]
        known = replace(self.channels, signals=there[True], outputs=outputs)
        for name in names:
            self._require_no_loop(name, reader, known)
        return [find_channel(name, known, f"controller '{reader}'") for name in names]

    def _require_no_loop(self, channel: str, reader: str, known: Known) -> None:
        """Refuse samples of what a controller of continuous time puts out, or the reader itself."""
        owner = str(channel).rpartition(".")[0] or channel
        signals = *known.signals, *known.outputs
        if channel in (*known.states, *signals) or channel in self.model.joints:
            return
        if owner == reader:
            raise InputError(
                f"controller '{reader}': cannot read '{channel}': its output would depend on "
                "itself, an algebraic loop; give it states"
            )
        if channel in self.model.controllers:
            there = ", ".join(f"'{name}'" for name in self.model.controllers[channel].signals)
            raise InputError(
                f"controller '{reader}': specify which channel of controller '{channel}' to read: "
                f"{there}"
            )
        if owner in self.model.controllers and self.model.controllers[owner].every is None:
            raise InputError(
                f"controller '{reader}': cannot read '{channel}': at the instant of a sample what "
                f"'{owner}' puts out follows from what '{reader}' does, an algebraic loop; read "
                f"states of '{owner}', leave out every, or give it to both"
            )

    @property
    def channels(self) -> Known:
        """What sensors can record and controllers read."""
        model = self.model
        joints, systems = model.joints, [*model.systems.values(), *self.regulation.systems]
        return Known(
            Lazy(joints, lambda name: tuple(f.label for f in joints[name].freedoms())),
            {
                **dict.fromkeys(model.carried_markers, "marker"),
                **dict.fromkeys(model.bodies, "body"),
            },
            {s.name: (s.size, s.unit) for each in systems for s in each.states},
        )

    @property
    def _closed(self) -> dict[str, PortPlace]:
        """Ports of the mechanism that are connected or driven."""
        names = [name for each in self.model.connections for name in each.ports]
        names += [p.name for each in self.model.controllers.values() for p in each.drives]
        places = {name: self.place(name) for name in names}
        return {name: place for name, place in places.items() if place is not None}

    @property
    def with_ports(self) -> dict[str, Transmission | PortPlace]:
        """All parts that have a port: those of joints only if something is joined to them."""
        model = self.model
        added: dict[str, Transmission | PortPlace] = {**model.transmissions, **model.ports}
        return {**added, **self._closed, **self.regulation.ports}

    @property
    def regulation(self) -> Regulation:
        """The controllers in continuous time."""
        model = self.model
        regulated = continuous(model.controllers.values())
        driven = [port.name for each in regulated for port in each.drives]
        joined = [name for each in model.connections for name in each.ports]
        known = {name: place for name, place in self._closed.items() if name in driven + joined}
        return Regulation(regulated, model.joints, model.bodies, model.carried_markers, known)
