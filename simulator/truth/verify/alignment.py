"""Aligns one partition's messages with the expected ones.

Runs of equal bytes are compared as a whole. At a difference, a window ahead of both cursors decides: a message that is
expected a little later came early, or those before it are late or missing; one that came before is doubled. Open
messages (expected and not seen, seen and not expected) are settled at the end, over all partitions.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.sinks.reading import Place, Records
from simulator.truth.verify.findings import Verdict, Wrong
from simulator.truth.verify.tape import MORE, Identity, Item, Tape

# Size of the window ahead of each cursor that is searched for the other cursor's message; the number of next messages,
# of which one must be in it; and the size of the window to search otherwise.
WINDOW: Final = 512
NEXT_MESSAGES: Final = 8
FAR: Final = 32_768
# Messages to pass after a vain search of the larger window, before it is searched again.
PAUSE: Final = 8_192
# Open messages that a partition keeps per side; older ones are settled without looking at other partitions.
MOST_OPEN: Final = 20_000


@dataclass(slots=True)
class Stray:
    """A message that was read but not expected there; `near` is the message that was expected next at that point."""

    item: Item
    near: Item | None


@dataclass(slots=True)
class Stretch:
    """Repeated messages in their old order: the expected ones from `first` up to `next`."""

    first: int
    next: int


class Lane:
    """A partition: both tapes, and the open messages.

    `report(lane, wrong, expected, read, count)` makes a finding; it is called in the order of the messages read.
    `lasting` gives a message without what is renewed when it is sent again, None if that is nothing.
    """

    def __init__(
        self,
        place: Place,
        verdict: Verdict,
        report: Callable[..., None],
        lasting: Callable[[bytes], bytes | None],
    ) -> None:
        self.place = place
        self.expected, self.read = Tape(), Tape()
        # indexes of the first and last message that is right, as read, and of the last one as expected
        self.first_right = self.last_right = self.last_expected = -1
        self.absent: OrderedDict[int, Item] = OrderedDict()  # expected, passed and not seen, by index
        self.strays: deque[Stray] = deque()
        self.settle: Callable[[Lane, Item | None, Stray | None], None]
        self.crossed: Callable[[Lane, Item, int, int], Wrong]
        self._absent: dict[Identity, deque[int]] = {}
        self._early: dict[Identity, int] = {}  # seen before they were expected
        self._ahead = _Window(self.expected), _Window(self.read)
        self._stretch: Stretch | None = None
        self._far = 0  # messages that both tapes must hold ahead of a difference
        self._far_from = 0  # the first expected message from which looking far is worth it
        self._verdict, self._report = verdict, report
        self._earlier = _Earlier(self.expected, lasting)
        self._renewed = False  # a message was repeated with renewed members: later ones may be, too

    @property
    def has_ended(self) -> bool:
        """Whether all of its messages have been read and compared."""
        return self.read.final and not len(self.read)

    # ------------------------------------------------------------------------------------------------------- comparing

    def align(self) -> None:
        """Compares as far as both tapes go. At a difference near the end of a tape it waits for more messages."""
        while len(self.expected) and len(self.read):
            if self._equal_stretch():
                continue
            if not self._ready():
                return
            self._step()
        if self.has_ended and self.expected.final and len(self.expected):
            self._skip(len(self.expected))
        elif self.expected.final and not len(self.expected):
            while len(self.read):
                if not self.read.final and len(self.read) < WINDOW:
                    return
                self._unexpected(self.read.items(self.read.cursor, self.read.cursor + 1)[0], None)
        if self.expected.final and self.has_ended:
            self._end_stretch(reached=True)

    def hunger(self) -> int:
        """Number of messages to read for the expected ones that wait; 0 if those must grow first."""
        waiting = len(self.expected)
        if not waiting:
            return 0
        if len(self.read) and self._far and not self.expected.final and waiting < self._far:
            return 0
        return max(waiting, self._need()) - len(self.read)

    def _need(self) -> int:
        return self._far or WINDOW

    def _ready(self) -> bool:
        """Tests whether both tapes are long enough to decide about a difference."""
        return all(len(tape) >= self._need() or tape.final for tape in (self.expected, self.read))

    def _equal_stretch(self) -> bool:
        """Passes the messages that are equal on both tapes. False: the next ones differ."""
        expected, read = self.expected.ahead(), self.read.ahead()
        assert expected is not None
        assert read is not None
        count = min(expected.num_rows, read.num_rows)
        expected, read = expected.slice(0, count), read.slice(0, count)
        if not _equal(expected, read):
            # usually they differ late, or in the first message
            count = _equal_rows(expected, read)
            if not count:
                return False
        if self._stretch is not None:
            self._end_stretch(reached=self._stretch.next == self.expected.cursor)
        if self._early:  # an equal message came early
            count = 1
            item = self.expected.items(self.expected.cursor, self.expected.cursor + 1)[0]
            if self._take_early(item):
                self.expected.advance(1)
                return True
        self._right(self.expected.cursor + count - 1, self.read.cursor, count)
        self.expected.advance(count)
        self.read.advance(count)
        return True

    def _right(self, expected: int, read: int, count: int = 1) -> None:
        """Counts messages that are right: the last expected one, the first of those read, and their number."""
        self._verdict.right += count
        if self.first_right < 0:
            self.first_right = read
        self.last_right = max(self.last_right, read + count - 1)
        self.last_expected = max(self.last_expected, expected)

    def _step(self) -> None:
        """Decides about the next messages of both sides, which differ in some column."""
        ahead, came = self._ahead
        wanted, item = ahead.head(), came.head()
        if self._take_early(wanted):
            self.expected.advance(1)
            return
        if wanted.identity == item.identity:
            self._report(self, Wrong.ALTERED, wanted, item)
            self._pass_both()
            return
        if self._continues(item):
            self._unexpected(item, None)
            return
        if self._renewed and self._earlier.is_renewed(wanted, item):
            self._end_stretch(reached=self._stretch is not None and self._stretch.next == self.expected.cursor)
            self._right(wanted.index, item.index)
            self._pass_both()
            return
        later, soon = ahead.find(item.identity), came.find(wanted.identity)
        if later is None and soon is None and self._is_new(item) and not self._look_far():
            return
        if later is None:
            self._unexpected(item, wanted if soon is None else None)
            return
        if soon is None or later - self.expected.cursor < soon - self.read.cursor:
            self._skip(later - self.expected.cursor)
        else:
            expected = self.expected.item(later)
            assert expected is not None
            self._early[item.identity] = self._early.get(item.identity, 0) + 1
            self._right(later, item.index)
            self._report(self, self.crossed(self, expected, self.expected.cursor, later), expected, item)
            self.read.advance(1)

    def _continues(self, item: Item) -> bool:
        """Whether a message is the next one of a repeated stretch."""
        stretch = self._stretch
        if stretch is None or stretch.next >= self.expected.cursor or stretch.next in self.absent:
            return False
        again = self.expected.item(stretch.next)
        if again is None:
            return False
        if self._earlier.is_renewed(again, item):
            self._renewed = True
            return True
        return again.identity == item.identity

    def _is_new(self, item: Item) -> bool:
        """Tests whether a message that is not among the next expected ones is not among the earlier ones either."""
        if item.identity in self._absent or self.expected.behind(item.identity) is not None:
            return False
        return self._earlier.find(item) is None

    def _look_far(self) -> bool:
        """Searches the larger window. False: both tapes changed, or must grow first; True: go on with the next messages
        of both sides, which were altered or do not belong to this stream."""
        expected, read = self.expected, self.read
        few = [tape.items(tape.cursor, tape.cursor + NEXT_MESSAGES) for tape in (expected, read)]
        near = any(self._ahead[0].find(item.identity) is not None for item in few[1]) or any(
            self._ahead[1].find(item.identity) is not None for item in few[0]
        )
        if near or expected.cursor < self._far_from:
            self._far = 0
            return True
        if not self._far:
            self._far = FAR
            return False
        self._far = 0
        for offset, item in enumerate(few[1]):
            if (index := expected.find(item.identity)) is not None and index - offset > expected.cursor:
                self._skip(index - offset - expected.cursor)
                return False
        for offset, item in enumerate(few[0]):
            if (index := read.find(item.identity)) is not None and index - offset > read.cursor:
                for strange in read.items(read.cursor, index - offset):
                    self._unexpected(strange, None)
                return False
        self._far_from = expected.cursor + PAUSE
        return True

    def _pass_both(self) -> None:
        self.expected.advance(1)
        self.read.advance(1)

    def _take_early(self, item: Item) -> bool:
        """Tests whether an expected message came early, and takes it off the list."""
        if not (left := self._early.get(item.identity, 0)):
            return False
        if left == 1:
            del self._early[item.identity]
        else:
            self._early[item.identity] = left - 1
        return True

    def _skip(self, count: int) -> None:
        """Passes expected messages that did not come: they are late or missing."""
        first = self.expected.cursor
        over = max(0, count - MOST_OPEN)
        if over:  # a run that is longer than the number of open messages kept
            item = self.expected.item(first)
            self._report(self, Wrong.MISSING, item, None, over)
            self.expected.advance(over)
        for start in range(first + over, first + count, WINDOW):
            items = self.expected.items(start, min(start + WINDOW, first + count))
            for item in items:
                if not self._take_early(item):
                    self.absent[item.index] = item
                    self._absent.setdefault(item.identity, deque()).append(item.index)
            self.expected.advance(len(items))
        while len(self.absent) > MOST_OPEN:
            item = next(iter(self.absent.values()))
            self.found(item)
            self.settle(self, item, None)

    def _unexpected(self, item: Item, near: Item | None) -> None:
        """Handles a message that is none of the next expected ones: late, repeated, or a stray. `near`: the expected
        message that it may be an altered copy of."""
        self.read.advance(1)
        if self._continues(item):
            assert self._stretch is not None
            self._stretch.next += 1
            return
        self._end_stretch(reached=False)
        if indexes := self._absent.get(item.identity):
            late = self.absent[indexes[0]]
            self.found(late)
            self._right(late.index, item.index)
            self._report(self, self.crossed(self, late, late.index + 1, self.expected.cursor), late, item)
            return
        if (index := self.expected.behind(item.identity)) is not None:
            self._stretch = Stretch(index, index + 1)
            return
        if (index := self._earlier.find(item)) is not None and index not in self.absent:
            self._renewed = True
            self._stretch = Stretch(index, index + 1)
            return
        self.strays.append(Stray(item.copied(), None if near is None else near.copied()))
        if near is not None:
            self._skip(1)
        if len(self.strays) > MOST_OPEN:
            self.settle(self, None, self.strays.popleft())

    def found(self, item: Item) -> None:
        """Removes a message from the absent ones."""
        del self.absent[item.index]
        indexes = self._absent[item.identity]
        indexes.remove(item.index)
        if not indexes:
            del self._absent[item.identity]

    def absent_like(self, identity: Identity) -> Item | None:
        """The absent message with this identity, if any."""
        indexes = self._absent.get(identity)
        return self.absent[indexes[0]] if indexes else None

    # ------------------------------------------------------------------------------------------------------------ names

    def _end_stretch(self, *, reached: bool) -> None:
        """Reports repeated messages; `reached`: they end where the stream continues, as after a restart."""
        if self._stretch is None:
            return
        first, count = self._stretch.first, self._stretch.next - self._stretch.first
        reached = reached and self._stretch.next == self.expected.cursor
        self._stretch = None
        self._report(self, Wrong.DOUBLED, self.expected.item(first), None, count, again=reached)


class _Window:
    """The messages ahead of a tape's cursor, by identity."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._first = self._stop = 0
        self._items: deque[Item] = deque()
        self._indexes: dict[Identity, deque[int]] = {}

    def head(self) -> Item:
        self._update()
        return self._items[0]

    def find(self, identity: Identity) -> int | None:
        """Index of the next message with this identity."""
        self._update()
        indexes = self._indexes.get(identity)
        return indexes[0] if indexes else None

    def _update(self) -> None:
        cursor = self._tape.cursor
        if cursor >= self._stop:
            self._items.clear()
            self._indexes.clear()
            self._stop = cursor
        while self._items and self._items[0].index < cursor:
            item = self._items.popleft()
            indexes = self._indexes[item.identity]
            indexes.popleft()
            if not indexes:
                del self._indexes[item.identity]
        # refilled by halves, since each refill costs some calls
        if self._stop - cursor <= WINDOW // 2 and self._stop < self._tape.end:
            for item in self._tape.items(self._stop, cursor + WINDOW):
                self._items.append(item)
                self._indexes.setdefault(item.identity, deque()).append(item.index)
                self._stop = item.index + 1


class _Earlier:
    """The last expected messages before the cursor, by what lasts of them when they are sent again."""

    def __init__(self, tape: Tape, lasting: Callable[[bytes], bytes | None]) -> None:
        self._tape, self._lasting = tape, lasting
        self._indexes: dict[int, int] = {}  # the last index, by the hash of what lasts
        self._stop = 0

    def is_renewed(self, expected: Item, read: Item) -> bool:
        """Whether a message is an expected one but for the members that are renewed."""
        if expected.value is None or read.value is None or expected.value == read.value:
            return False
        lasts = self._lasting(read.value)
        return lasts is not None and lasts == self._lasting(expected.value)

    def find(self, read: Item) -> int | None:
        """Index of the last message before the cursor that came again as this one; None: there is none."""
        if read.value is None or (lasts := self._lasting(read.value)) is None:
            return None
        cursor = self._tape.cursor
        first = max(self._tape.first, self._stop, cursor - FAR)
        if len(self._indexes) > 2 * FAR:
            self._indexes, first = {}, max(self._tape.first, cursor - FAR)
        for item in self._tape.items(first, cursor):
            if item.value is not None and (own := self._lasting(item.value)) is not None:
                self._indexes[hash(own)] = item.index
        self._stop = cursor
        index = self._indexes.get(hash(lasts))
        found = None if index is None else self._tape.item(index)
        return index if found is not None and self.is_renewed(found, read) else None


def _common(expected: Records, read: Records) -> list[str]:
    names = read.schema.names
    return ["value", *(name for name in MORE if name in names and name in expected.schema.names)]


def _equal(expected: Records, read: Records) -> bool:
    return all(expected.column(name).equals(read.column(name)) for name in _common(expected, read))


def _equal_rows(expected: Records, read: Records) -> int:
    """Number of equal rows at the beginning. The first row is compared alone, then halves are."""
    low, high = 0, expected.num_rows  # equal up to low, different within high
    if not _equal(expected.slice(0, 1), read.slice(0, 1)):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if _equal(expected.slice(low, middle - low), read.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low
