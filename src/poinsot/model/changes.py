"""What events may change in a model: joints that are released, loads that are switched."""

from poinsot.errors import InputError, did_you_mean
from poinsot.model.contents import Contents
from poinsot.parts.events import Event, Release, Switch
from poinsot.result.channels import Channel


def require_possible(model: Contents, name: str, event: Event) -> None:
    """Refuse changes of joints and loads that are not there, or that something else needs."""
    what = f"event '{name}'"
    for action in event.actions:
        if isinstance(action, Release):
            _require_joint(model, action.joint, what)
        elif isinstance(action, Switch):
            own = [load for load in model.forces if load not in model.assemblies]
            if action.load not in own:
                hint = did_you_mean(str(action.load), own)
                raise InputError(f"{what}: no load '{action.load}' to be switched; {hint}")


def _require_joint(model: Contents, joint: str, what: str) -> None:
    if joint not in model.joints:
        hint = did_you_mean(str(joint), model.joints)
        raise InputError(f"{what}: no joint '{joint}' to be released; {hint}")
    for controller in model.controllers.values():
        if any(_is_of(channel, joint) for channel in controller.reads):
            raise InputError(
                f"{what}: joint '{joint}' cannot be released: controller '{controller.name}' reads "
                "it; read the motion of its bodies"
            )


def _is_of(channel: Channel, joint: str) -> bool:
    return channel.owner == joint and channel.kind in ("coordinate", "rate", "reaction")
