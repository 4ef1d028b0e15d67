"""Locations of numbers in an HDF5 file: the length of a dataset, the value of an attribute.

A file that is written by the HDF5 library is unreadable if the process is killed between two of its
writes. Changing these few bytes in place keeps it complete at all times. That requires the oldest
form of object headers, version 1, which have no checksums; see "Disk Format: Level 2A" of the HDF5
File Format Specification.
"""

import struct
from collections.abc import Iterator
from io import FileIO

DATASPACE, ATTRIBUTE, CONTINUATION = 0x01, 0x0C, 0x10


class UnknownForm(Exception):
    """The header of an object has a form that this module does not read."""


def length_place(file: FileIO, header: int) -> int:
    """Return where the first dimension of a dataset is kept: 8 bytes, little-endian."""
    for kind, place in _messages(file, header):
        if kind == DATASPACE:
            (version,) = _read(file, place, "<B")
            _require(version == 1, "dataspace")
            return place + 8
    raise UnknownForm("no dataspace")


def attribute_places(file: FileIO, header: int) -> dict[str, int]:
    """Return where the values of the attributes of an object are kept."""
    found = {}
    for kind, place in _messages(file, header):
        if kind == ATTRIBUTE:
            version, _, *sizes = _read(file, place, "<BBHHH")
            _require(version in (1, 2, 3), "attribute")
            # Version 3 has one more byte, the encoding of the name; version 1 pads to 8 bytes.
            first = place + (9 if version == 3 else 8)
            width = 8 if version == 1 else 1
            (text,) = _read(file, first, f"<{sizes[0]}s")
            name = text.rstrip(b"\0").decode()
            found[name] = first + sum(-(-size // width) * width for size in sizes)
    return found


def _messages(file: FileIO, header: int) -> Iterator[tuple[int, int]]:
    """Return kind and place of each message in the header of an object."""
    version, _, count, _, size = _read(file, header, "<BBHII")
    _require(version == 1, "object header")
    pieces = [(header + 16, size)]
    while pieces:
        place, size = pieces.pop(0)
        end = place + size
        while place + 8 <= end and count > 0:
            kind, size = _read(file, place, "<HH")
            if kind == CONTINUATION:
                pieces.append(_read(file, place + 8, "<QQ"))
            yield kind, place + 8
            place, count = place + 8 + size, count - 1


def _read(file: FileIO, place: int, form: str) -> tuple:  # type: ignore[type-arg]
    file.seek(place)
    data = file.read(struct.calcsize(form))
    _require(len(data) == struct.calcsize(form), "end of file")
    return struct.unpack(form, data)


def _require(known: bool, what: str) -> None:
    if not known:
        raise UnknownForm(f"unknown form of {what}")
