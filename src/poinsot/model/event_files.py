"""Events of a model, from their entries in a file and back."""

from typing import Any

from poinsot.io import document as files
from poinsot.model.system_files import UnwritableError
from poinsot.parts.events import Action, Event, Lock, Release, Switch


def event_of(entry: files.Event) -> Event:
    """Return the event of an entry."""
    then: Action | list[Action]
    if isinstance(entry.then, list):
        then = [_action(action) for action in entry.then]
    else:
        then = _action(entry.then)
    return Event(entry.when, direction=entry.direction, then=then, reads=entry.reads or ())


def describe_event(name: str, event: Event) -> dict[str, Any]:
    """Return the entry of an event."""
    if not isinstance(event.when, str):
        raise UnwritableError("its function is a Python function")
    actions = [_written(action) for action in event.actions]
    then = actions if isinstance(event.then, tuple) else actions[0]
    known = {"when": event.when, "direction": event.direction, "then": then}
    return known | {"reads": list(event.reads)} if event.reads else known


def _action(entry: files.Plain | files.Change) -> Action:
    if isinstance(entry, files.Change):
        if entry.release is not None:
            return Release(entry.release.joint)
        if entry.lock is not None:
            return Lock(entry.lock.joint)
        assert entry.switch is not None
        return Switch(entry.switch.load, on=entry.switch.on)
    return entry


def _written(action: Action) -> Any:
    if isinstance(action, Release):
        return {"release": {"joint": action.joint}}
    if isinstance(action, Lock):
        return {"lock": {"joint": action.joint}}
    if isinstance(action, Switch):
        return {"switch": {"load": action.load, "on": action.on}}
    return action
