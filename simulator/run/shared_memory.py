"""Memory that a worker process writes and the run reads: objects without their arrays go another way, and are small.

It is a file without a name, so it is gone when the last process that has it ends, however that ends. It has slots, each
with one object at a time; a slot is free again when nothing in the run refers to its arrays. Pages are used over and
over: the system takes longer to make a page than a process takes to fill it.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

# More than an object has. The file has pages only where something was written.
SLOT_BYTES: Final = 1 << 34
# So that a slot is rarely mapped again for an object that is a little larger than those before.
MAPPED_BYTES: Final = 1 << 24
# As Arrow aligns arrays.
ALIGNED_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Stored:
    """An object in a slot: its pickle, and where in the slot its arrays begin and end."""

    pickled: bytes
    arrays: list[tuple[int, int]]


class SharedMemory:
    """The file, with what each of both processes does. `file` is the descriptor of one that is already there.

    The process that reads keeps the pages of slots of up to `kept_bytes`; those of larger ones count as its memory only
    while somebody uses them, and are looked up again each time, which takes a twentieth of the time of a message.
    """

    def __init__(self, file: int | None = None, *, kept_bytes: int = 0) -> None:
        self.file = _file() if file is None else file
        self._kept_bytes = kept_bytes
        self._slots: dict[int, mmap.mmap] = {}
        self._free, self._made = deque[int](), 0

    def close(self) -> None:
        """What has been read stays as it is."""
        os.close(self.file)

    def _mapped(self, slot: int, size: int) -> mmap.mmap:
        """The first bytes of a slot, so many at least."""
        mapped = self._slots.get(slot)
        if mapped is None or len(mapped) < size:
            size = -(-size // MAPPED_BYTES) * MAPPED_BYTES
            mapped = self._slots[slot] = mmap.mmap(self.file, size, offset=slot * SLOT_BYTES)
        return mapped

    # In the process that reads

    def free_slot(self) -> int:
        """A slot to write to."""
        if self._free:
            return self._free.popleft()
        self._made += 1
        os.ftruncate(self.file, self._made * SLOT_BYTES)
        return self._made - 1

    def read(self, slot: int, stored: Stored) -> Any:
        """An object, whose arrays are views of its slot. Without arrays the slot is free at once."""
        used = _Use(self._mapped(slot, max((end for _, end in stored.arrays), default=1)), slot, self)
        address = pa.py_buffer(used.mapped).address
        arrays = [pa.foreign_buffer(address + begin, end - begin, used) for begin, end in stored.arrays]
        return pickle.loads(stored.pickled, buffers=arrays)

    def release(self, slot: int, mapped: mmap.mmap) -> None:
        """Nothing refers to the arrays of a slot any more."""
        if len(mapped) > self._kept_bytes:
            mapped.madvise(mmap.MADV_DONTNEED)
        self._free.append(slot)

    # In the process that writes

    def room(self, slot: int, size: int) -> pa.Buffer:
        """Memory at the beginning of a slot: an array that is made there need not be copied."""
        return pa.py_buffer(self._mapped(slot, size)).slice(0, size)

    def write(self, slot: int, item: object) -> Stored:
        """Put an object into a slot: copy the arrays that are not there yet."""
        pickled: list[pickle.PickleBuffer] = []
        head = pickle.dumps(item, protocol=5, buffer_callback=pickled.append)
        buffers = [pa.py_buffer(each.raw()) for each in pickled]
        room = pa.py_buffer(self._slots[slot]).address if slot in self._slots else None
        made = [each.size > 0 and each.address == room for each in buffers]
        at = sum(_aligned(each.size) for each, there in zip(buffers, made, strict=True) if there)
        arrays = list[tuple[int, int]]()
        for each, there in zip(buffers, made, strict=True):
            begin = 0 if there else at
            arrays.append((begin, begin + each.size))
            if not there:
                self._copy(each, slot * SLOT_BYTES + at)
                at += _aligned(each.size)
        return Stored(head, arrays)

    def _copy(self, array: pa.Buffer, at: int) -> None:
        view, done = memoryview(array), 0
        while done < len(view):
            done += os.pwrite(self.file, view[done:], at + done)


class _Use:
    """What the arrays of an object refer to: with the last of them its slot is free."""

    def __init__(self, mapped: mmap.mmap, slot: int, memory: SharedMemory) -> None:
        self.mapped, self._slot, self._memory = mapped, slot, memory

    def __del__(self) -> None:
        self._memory.release(self._slot, self.mapped)


def _file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("cdcsim")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _aligned(size: int) -> int:
    return -(-size // ALIGNED_BYTES) * ALIGNED_BYTES
