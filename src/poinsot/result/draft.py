"""A sparse file in memory: only written parts take memory."""

import io
from collections.abc import Iterator

from poinsot.result.store import write_all

PAGE = 4096


class Draft(io.RawIOBase):
    """A file that HDF5 writes to before there is one on disk.

    HDF5 crashes sooner or later if it cannot close a file because the disk is full. A draft never
    is; whoever copies it to disk finds out, and can say so.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[int, bytearray] = {}
        #: What was written: from where to where.
        self.written: list[tuple[int, int]] = []
        self.size = self.place = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self.place = (
            offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.size}[whence]
        )
        return self.place

    def truncate(self, size: int | None = None) -> int:
        """Set the size; what comes after it has never been written."""
        self.size = self.place if size is None else size
        return self.size

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Read; holes are zero."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self.size - self.place))
        for number, inside, part in self._parts(count):
            page = self.pages.get(number)
            width = part.stop - part.start
            view[part] = page[inside : inside + width] if page else bytes(width)
        self.place += count
        return count

    def write(self, data: "memoryview") -> int:  # type: ignore[override]
        """Write."""
        view = memoryview(data).cast("B")
        self.written.append((self.place, self.place + len(view)))
        for number, inside, part in self._parts(len(view)):
            page = self.pages.setdefault(number, bytearray(PAGE))
            page[inside : inside + part.stop - part.start] = view[part]
        self.place += len(view)
        self.size = max(self.size, self.place)
        return len(view)

    def _parts(self, count: int) -> Iterator[tuple[int, int, slice]]:
        """Divide so many bytes from here by pages: number, place inside, part of the bytes."""
        done = 0
        while done < count:
            number, inside = divmod(self.place + done, PAGE)
            width = min(PAGE - inside, count - done)
            yield number, inside, slice(done, done + width)
            done += width

    def copy_to(self, file: io.FileIO) -> None:
        """Write everything to a file on disk; holes stay holes."""
        file.truncate(self.size)
        for number, page in sorted(self.pages.items()):
            file.seek(number * PAGE)
            write_all(file, memoryview(page)[: self.size - number * PAGE])
