"""The process of an instance of an FMU: `python -m poinsot.fmi.server RESOURCES`.

It serves the requests of `bridge.c`, where their format is described, until the connection closes.
"""

import os
import signal
import struct
import sys
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO

from poinsot.errors import PoinsotError
from poinsot.fmi.instance import DiscardedStepError, Instance, State


class Status(IntEnum):
    """How a call ended, as the standard counts."""

    OK = 0
    DISCARD = 2
    ERROR = 3
    FATAL = 4


class Operation(IntEnum):
    """What is asked for, as `bridge.c` counts."""

    SETUP = 1
    ENTER = 2
    EXIT = 3
    GET = 4
    SET = 5
    STEP = 6
    TERMINATE = 7
    RESET = 8
    SAVE = 9
    RESTORE = 10
    FORGET = 11
    PACK = 12
    UNPACK = 13


class Server:
    """Serves the requests for an instance.

    States that were saved are kept by numbers, from 1 on.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.states: dict[int, State] = {}
        self.next = 1

    def answer(self, operation: int, data: bytes) -> tuple[Status, str, bytes]:
        """Return the status of a request, what is to be logged, and what was asked for."""
        try:
            return Status.OK, "", self._do(Operation(operation), data)
        except DiscardedStepError as error:
            return Status.DISCARD, str(error), self._reached(False)
        except PoinsotError as error:
            return Status.ERROR, str(error), b""
        except Exception as error:  # the host is to hear of it, and no request may stay unanswered
            return Status.ERROR, f"{type(error).__name__}: {error}", b""

    def _do(self, operation: Operation, data: bytes) -> bytes:
        instance = self.instance
        match operation:
            case Operation.SETUP:
                instance.set_up(struct.unpack("=d?d", data)[0])
            case Operation.EXIT:
                instance.initialise()
            case Operation.GET:
                references = struct.unpack(f"={len(data) // 4}I", data)
                return struct.pack(f"={len(references)}d", *instance.get(references))
            case Operation.SET:
                (count,) = struct.unpack_from("=I", data)
                numbers = struct.unpack_from(f"={count}I{count}d", data, 4)
                instance.set(numbers[:count], numbers[count:])
            case Operation.STEP:
                return self._reached(instance.step(*struct.unpack("=dd", data)))
            case Operation.RESET:
                instance.reset()
            case Operation.SAVE:
                return self._kept(instance.state(), *struct.unpack("=Q", data))
            case Operation.RESTORE:
                instance.restore(self._state(data))
            case Operation.FORGET:
                self.states.pop(struct.unpack("=Q", data)[0], None)
            case Operation.PACK:
                return instance.pack(self._state(data))
            case Operation.UNPACK:
                return self._kept(instance.unpack(data), 0)
        return b""

    def _reached(self, stopped: bool) -> bytes:
        return struct.pack("=d?", self.instance.stepping.time, stopped)

    def _kept(self, state: State, number: int) -> bytes:
        """Keep a state under its number, or a new one if that is 0; return it."""
        if not number:
            number, self.next = self.next, self.next + 1
        self.states[number] = state
        return struct.pack("=Q", number)

    def _state(self, data: bytes) -> State:
        (number,) = struct.unpack("=Q", data)
        if number not in self.states:
            raise PoinsotError(f"there is no FMU state {number}; it was freed or never saved")
        return self.states[number]


def serve(instance: Instance, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    server = Server(instance)
    while len(head := requests.read(5)) == 5:
        size, operation = struct.unpack("=IB", head)
        _send(replies, *server.answer(operation, requests.read(size - 1)))


def _send(replies: BinaryIO, status: Status, message: str, data: bytes) -> None:
    text = message.encode()
    body = struct.pack("=iI", status, len(text)) + text + data
    replies.write(struct.pack("=I", len(body)) + body)
    replies.flush()


def main() -> None:
    """Serve the host at standard input and output; what is printed goes to standard error."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host, which ends this
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        instance = Instance.at(Path(sys.argv[1]))
    except Exception as error:
        _send(replies, Status.FATAL, f"{type(error).__name__}: {error}", b"")
        return
    _send(replies, Status.OK, "", b"")
    serve(instance, requests, replies)


if __name__ == "__main__":
    main()
