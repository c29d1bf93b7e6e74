"""Shared memory that a worker process writes and the run reads. It holds the arrays of objects; the rest of an object
is small and goes through a socket.

The memory is an unnamed file: it disappears when the last process that has it ends, however that process ends. It is
divided into slots of one object each; a slot is free again when nothing in the run refers to its arrays. Pages are
reused: the system takes longer to make a page than a process takes to fill it.
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

# Larger than any object. The file has pages only where data was written.
SLOT_BYTES: Final = 1 << 34
# Mappings grow by this step: an object slightly larger than those before rarely needs a new mapping.
MAPPED_BYTES: Final = 1 << 24
# Arrow's alignment of arrays.
ALIGNED_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Stored:
    """An object in a slot: its pickle, and the begin and end of each of its arrays in the slot."""

    pickled: bytes
    arrays: list[tuple[int, int]]


class SharedMemory:
    """The shared file, with the operations of the writer and of the reader. `file` is the descriptor of an existing
    file.

    The reader keeps slots of up to `kept_bytes` mapped. Larger slots count as its memory only while their arrays are in
    use, and are mapped again each time, which costs a twentieth of the time of a message.
    """

    def __init__(self, file: int | None = None, *, kept_bytes: int = 0) -> None:
        self.file = _file() if file is None else file
        self._kept_bytes = kept_bytes
        self._slots: dict[int, mmap.mmap] = {}
        self._free, self._made = deque[int](), 0

    def close(self) -> None:
        """Closes the file; objects that have been read stay valid."""
        os.close(self.file)

    def _mapped(self, slot: int, size: int) -> mmap.mmap:
        """Mapping of at least the first `size` bytes of a slot."""
        mapped = self._slots.get(slot)
        if mapped is None or len(mapped) < size:
            size = -(-size // MAPPED_BYTES) * MAPPED_BYTES
            mapped = self._slots[slot] = mmap.mmap(self.file, size, offset=slot * SLOT_BYTES)
        return mapped

    # In the process that reads

    def free_slot(self) -> int:
        """Number of a free slot."""
        if self._free:
            return self._free.popleft()
        self._made += 1
        os.ftruncate(self.file, self._made * SLOT_BYTES)
        return self._made - 1

    def read(self, slot: int, stored: Stored) -> Any:
        """An object whose arrays are views of its slot. The slot of an object without arrays is free at once."""
        used = _Use(self._mapped(slot, max((end for _, end in stored.arrays), default=1)), slot, self)
        address = pa.py_buffer(used.mapped).address
        arrays = [pa.foreign_buffer(address + begin, end - begin, used) for begin, end in stored.arrays]
        return pickle.loads(stored.pickled, buffers=arrays)

    def release(self, slot: int, mapped: mmap.mmap) -> None:
        """Frees a slot whose arrays nothing refers to any more."""
        if len(mapped) > self._kept_bytes:
            mapped.madvise(mmap.MADV_DONTNEED)
        self._free.append(slot)

    # In the process that writes

    def room(self, slot: int, size: int) -> pa.Buffer:
        """Memory at the beginning of a slot; an array built there needs no copy."""
        return pa.py_buffer(self._mapped(slot, size)).slice(0, size)

    def write(self, slot: int, item: object) -> Stored:
        """Puts an object into a slot; copies the arrays that are not there yet."""
        pickled: list[pickle.PickleBuffer] = []
        head = pickle.dumps(item, protocol=5, buffer_callback=pickled.append)
        buffers = [pa.py_buffer(buffer.raw()) for buffer in pickled]
        room = pa.py_buffer(self._slots[slot]).address if slot in self._slots else None
        made = [buffer.size > 0 and buffer.address == room for buffer in buffers]
        offset = sum(_aligned(buffer.size) for buffer, there in zip(buffers, made, strict=True) if there)
        arrays = list[tuple[int, int]]()
        for buffer, there in zip(buffers, made, strict=True):
            begin = 0 if there else offset
            arrays.append((begin, begin + buffer.size))
            if not there:
                self._copy(buffer, slot * SLOT_BYTES + offset)
                offset += _aligned(buffer.size)
        return Stored(head, arrays)

    def _copy(self, array: pa.Buffer, offset: int) -> None:
        view, done = memoryview(array), 0
        while done < len(view):
            done += os.pwrite(self.file, view[done:], offset + done)


class _Use:
    """Owner of an object's arrays: the slot is freed with the last array that refers to it."""

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
