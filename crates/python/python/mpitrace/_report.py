"""Reports on traces, and comparisons of them."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from . import _native
from ._files import FileName, existing_files

if TYPE_CHECKING:
    from ._native import NativeComparison, NativeReport


def _framed(page: str, height: int) -> str:
    """A page in a frame of its own, so that its style is not that of the notebook."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0"></iframe>'


class Report:
    """Why a program is slow: who waits for whom, efficiencies, the critical path.

    Each part of ``mpitrace report --json`` is an attribute: ``report.efficiencies["parallel"]``, ``report.waits[0]["seconds"]``.
    ``print(report)`` prints the report as the command does, and a notebook shows the page of ``mpitrace report --html``. What the
    numbers mean is defined in docs/user/report.md of libtrace; times are seconds.
    """

    def __init__(self, native: NativeReport) -> None:
        self._native = native
        self._values: dict[str, Any] = json.loads(native.json())

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"a report has no '{name}'") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    @property
    def verdict(self) -> str:
        """Where the time goes, in a sentence or two."""
        return self._native.verdict()

    def to_dict(self) -> dict[str, Any]:
        """All of the report."""
        return self._values

    def html(self) -> str:
        """A page with the report and pictures, which needs no other file."""
        return self._native.html()

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<report: {self.verdict}>"

    def _repr_html_(self) -> str:
        return _framed(self.html(), 900)


class Comparison:
    """What became slower or faster from one trace to another.

    ``print(comparison)`` prints what ``mpitrace compare`` does; a notebook shows its page.
    """

    def __init__(self, native: NativeComparison) -> None:
        self._native = native

    @property
    def words(self) -> str:
        """The change in a sentence."""
        return self._native.words()

    def to_dict(self) -> dict[str, Any]:
        """All tables of the comparison: lists of rows, each a dictionary."""
        return json.loads(self._native.json())

    def html(self) -> str:
        """A page with the comparison, which needs no other file."""
        return self._native.html()

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<comparison: {self.words}>"

    def _repr_html_(self) -> str:
        return _framed(self.html(), 700)


def compare(before: FileName, after: FileName, *more: FileName) -> Comparison:
    """Compares traces: the first with the others, such as the run before a change with that after it."""
    return Comparison(_native.compare(existing_files((before, after, *more))))
