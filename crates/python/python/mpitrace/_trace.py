"""Traces and windows of them."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Optional, SupportsIndex, Union

from . import _native
from ._files import FileName, existing_files
from ._picture import Picture
from ._report import Report
from ._rows import Rows

if TYPE_CHECKING:
    from ._native import NativeTrace

# A picture of more seconds shows nothing of any trace.
MAX_PICTURE = 1e9

Ranks = Union[SupportsIndex, Iterable[SupportsIndex], None]
Phases = Union[SupportsIndex, tuple[SupportsIndex, SupportsIndex]]


def _ranks(rank: Ranks) -> Optional[set[int]]:
    if rank is None:
        return None
    if isinstance(rank, (str, bytes, bytearray)):
        # They would be taken as their characters.
        raise TypeError(f"rank {rank!r}: expected a whole number, or several")
    # Numbers of numpy and pandas are whole numbers, too.
    wanted = {operator.index(one) for one in rank} if isinstance(rank, Iterable) else {operator.index(rank)}
    for one in wanted:
        if not 0 <= one < 1 << 32:
            raise ValueError(f"rank {one}: expected a number from 0 to {(1 << 32) - 1}")
    return wanted


def _phases(phases: Phases) -> str:
    """Phases as ``mpitrace report --focus`` names them."""
    try:
        numbers = [operator.index(one) for one in (phases if isinstance(phases, Iterable) else (phases,))]
    except TypeError:
        raise TypeError(f"phases {phases!r}: expected a whole number, or two") from None
    if len(numbers) not in (1, 2) or min(numbers) < 1:
        raise ValueError(f"phases {phases!r}: expected a number from 1 on, or two of them")
    return f"phase {'-'.join(map(str, numbers))}"


def _times(t0: float, t1: float) -> tuple[float, float]:
    begin, end = float(t0), float(t1)
    if not begin <= end:
        raise ValueError(f"from {t0} to {t1}: expected two times in seconds, the first no later than the second")
    return begin, end


class Window:
    """A stretch of time of a trace: everything that overlaps it. Of an SLOG2 file nothing else is read. A notebook shows its picture."""

    def __init__(self, native: NativeTrace, bounds: Optional[tuple[float, float]]) -> None:
        self._native = native
        self._bounds = bounds
        self._whole: Optional[tuple[float, float]] = None

    @property
    def name(self) -> str:
        """Name of the trace's first file."""
        return self._native.name()

    @property
    def t0(self) -> float:
        """Begin in seconds."""
        return self._edges()[0]

    @property
    def t1(self) -> float:
        """End in seconds."""
        return self._edges()[1]

    def _edges(self) -> tuple[float, float]:
        if self._bounds is not None:
            return self._bounds
        # A trace that is no SLOG2 file is read from end to end for it, once.
        if self._whole is None:
            self._whole = self._native.bounds() or (0.0, 0.0)
        return self._whole

    def _part(self, t0: Optional[float], t1: Optional[float]) -> Optional[tuple[float, float]]:
        """The part of the window between two times, each of which may be left out."""
        if t0 is None and t1 is None:
            return self._bounds
        first, last = self._bounds or (-math.inf, math.inf)
        asked = _times(-math.inf if t0 is None else t0, math.inf if t1 is None else t1)
        begin, end = max(asked[0], first), min(asked[1], last)
        # Nothing of the window lies between these times, and nothing at all behind all times.
        return (begin, end) if begin <= end else (math.inf, math.inf)

    def _seen(self) -> Optional[tuple[float, float]]:
        """The part of the window in which the trace is; the window where the trace is elsewhere."""
        if self._bounds is None:
            return None
        begin, end = self._bounds
        if begin == -math.inf or end == math.inf or end - begin > MAX_PICTURE:
            first, last = self._native.bounds() or (0.0, 0.0)
            begin, end = min(max(begin, first), last), max(min(end, last), first)
        return begin, end

    def table(
        self,
        name: str,
        *,
        rank: Ranks = None,
        t0: Optional[float] = None,
        t1: Optional[float] = None,
    ) -> Rows:
        """Rows of a table by its name: ``calls``, ``regions``, ``messages``, ``operations``, ``transfers``, ``accesses``, ``files``,
        ``arrows``, ``events``, ``waits``, ``timelines``, ``ranks`` or ``communicators``.

        :param rank: rows of this rank or of these ranks only; of messages and other arrows, those with such a rank at either end
        :param t0: rows that end at this time or later, in seconds; those of ``timelines``, ``ranks`` and ``communicators`` have no times
        :param t1: rows that begin at this time or earlier, in seconds
        """
        return Rows(self._native, name, _ranks(rank), self._part(t0, t1))

    def calls(
        self,
        *,
        rank: Ranks = None,
        t0: Optional[float] = None,
        t1: Optional[float] = None,
        waits: bool = False,
    ) -> Rows:
        """Calls of MPI functions: ``rank``, ``thread``, ``function``, ``enter_ns``, ``leave_ns`` and the arguments that the trace has.

        :param waits: with the columns ``waiting_ns``, how long the call waited for other ranks, and ``culprit_rank``, for whom most. The trace
            is read from end to end for them. Of a trace with more than a million waits, the shortest count as none, and a warning says which.
        """
        return Rows(self._native, "calls", _ranks(rank), self._part(t0, t1), waits)

    def regions(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Regions and functions of the program."""
        return self.table("regions", rank=rank, t0=t0, t1=t1)

    def messages(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Messages: ``source_rank``, ``dest_rank``, ``send_ns``, ``receive_ns``, ``tag``, ``bytes``."""
        return self.table("messages", rank=rank, t0=t0, t1=t1)

    def operations(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Operations below MPI: file calls, requests at servers, transfers of devices."""
        return self.table("operations", rank=rank, t0=t0, t1=t1)

    def transfers(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Which operation carried how many bytes of which call."""
        return self.table("transfers", rank=rank, t0=t0, t1=t1)

    def events(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Markers, texts and other events."""
        return self.table("events", rank=rank, t0=t0, t1=t1)

    def waits(self, *, rank: Ranks = None, t0: Optional[float] = None, t1: Optional[float] = None) -> Rows:
        """Who waited for whom, as the report has it: ``rank`` waited in the call ``function`` that began at ``enter_ns``, from ``from_ns`` to
        ``to_ns``, for ``culprit_rank``, by ``pattern``. With ``line`` and ``enter_ns`` a wait finds its call.

        The trace is read from end to end for it. Of more than a million waits there are the longest.

        :param rank: waits of this rank or these ranks, or for them
        """
        return self.table("waits", rank=rank, t0=t0, t1=t1)

    def timelines(self) -> Rows:
        """The timelines: what the numbers in the column ``line`` of other tables stand for."""
        return Rows(self._native, "timelines", None, None)

    def ranks(self) -> Rows:
        """The ranks: ``rank``, ``threads`` (how many of them called MPI), ``host`` where the trace tells it."""
        return Rows(self._native, "ranks", None, None)

    def communicators(self) -> Rows:
        """The communicators: a row for each ``communicator`` and ``communicator_rank`` with the ``rank`` in MPI_COMM_WORLD that it is, and the
        ``name`` that the program gives the communicator."""
        return Rows(self._native, "communicators", None, None)

    def report(self, *, region: Optional[str] = None, phases: Optional[Phases] = None) -> Report:
        """Why the program is slow.

        :param region: look at the time in which a rank is in this region only
        :param phases: look at this iteration of the main loop, or from one to another, counted from 1
        """
        if region is not None and phases is not None:
            raise ValueError("region and phases: give one of them")
        focus = None
        if region is not None:
            focus = f"region {region}"
        elif phases is not None:
            focus = _phases(phases)
        return Report(self._native.report(self._bounds, focus))

    def draw(
        self,
        path: Optional[FileName] = None,
        *,
        timelines: Optional[str] = None,
        categories: Union[str, Iterable[str]] = (),
        only_io: bool = False,
        width: int = 1600,
        height: Optional[int] = None,
        dark: bool = False,
        colors: str = "file",
    ) -> Picture:
        """A picture with a row for each timeline, written to a file if one is named. Of a window that goes beyond the trace, what the trace has of it.

        :param path: a name that ends in ``.svg`` or ``.png``, of a file that is replaced if it is there; ``-`` is SVG on stdout
        :param timelines: numbers or names of timelines, as ``0-63,!5,server*``
        :param categories: one name or several of what to draw, in which ``*`` matches any text
        :param only_io: draw calls on files, operations below them, servers and devices only
        :param width: pixels from left to right, 400 to 20000
        :param height: pixels from top to bottom, 200 to 20000; as many as needed unless given
        :param dark: light on black
        :param colors: ``file`` for those that the trace gives its categories, ``class`` for those of the viewer
        """
        if not all(0 <= pixels < 1 << 32 for pixels in (width, height or 0)):
            raise ValueError(f"width {width}, height {height}: expected pixels, from 400 by 200 to 20000 by 20000")
        if colors not in ("file", "class"):
            raise ValueError(f"colors {colors!r}: expected 'file' or 'class'")
        file = None if path is None else os.fsdecode(path)
        if file not in (None, "-"):
            # A folder that is not there is an OSError, as everywhere in Python.
            os.stat(os.path.dirname(file) or os.curdir)
        names = [categories] if isinstance(categories, str) else list(categories)
        return Picture(
            *self._native.picture(
                file, self._seen(), timelines, names, only_io, (width, height), dark, colors == "class"
            )
        )

    def _repr_svg_(self) -> str:
        return self.draw(width=1000).svg

    def __repr__(self) -> str:
        try:
            first, last = self._edges()
        except _native.TraceError as error:
            # Whoever has a damaged trace still has to be told what it is.
            return f"<{self._native.format()} trace {self.name}: {error}>"
        return f"<{self._native.format()} trace {self.name}: {first:.6f} s to {last:.6f} s>"


class Trace(Window):
    """A trace, from begin to end."""

    @property
    def format(self) -> str:
        """Name of the format."""
        return self._native.format()

    def window(self, t0: float, t1: float) -> Window:
        """What overlaps the time from ``t0`` to ``t1``, in seconds."""
        return Window(self._native, _times(t0, t1))


def open(*files: FileName) -> Trace:
    """Opens a trace of any format that ``mpitrace`` reads.

    :param files: the file of the trace; the block files of a run, or a folder with them; the metafile of a DUMPI trace

    Raises ``TraceError`` if the files are no trace, with the place in the file and what was expected there, and ``OSError`` if there is no such file.
    """
    paths = existing_files(files)
    return Trace(_native.NativeTrace(paths), None)
