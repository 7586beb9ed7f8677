"""Rows of a table of a trace."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._native import NativeTrace


class Rows:
    """Rows of a table, by the time at which they begin.

    Nothing is read before it is asked for, and then as it is taken, so a table may be larger than memory. Takers of Arrow's C stream
    interface read an object of this class as it is: ``pyarrow.table(rows)``, ``polars.DataFrame(rows)``, ``duckdb.sql("from rows")``.
    What could not be read of the trace is told by a ``UserWarning``: by the methods of this class after reading, and by whoever else takes rows when
    the trace is asked for rows the next time.
    """

    def __init__(
        self,
        trace: NativeTrace,
        table: str,
        ranks: Optional[set[int]],
        window: Optional[tuple[float, float]],
        with_waits: bool = False,
    ) -> None:
        self._trace = trace
        self._table = table
        self._ranks = ranks
        self._window = window
        self._with_waits = with_waits

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns, and their types in Arrow."""
        return dict(self._trace.columns(self._table, self._with_waits))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows, by Arrow's PyCapsule interface. Columns have the types that they have, whatever schema is asked for."""
        rows = self._trace.rows(self._table, self._ranks, self._window, self._with_waits)
        self._warn()
        return rows

    def __len__(self) -> int:
        """Number of rows, which are read to be counted."""
        rows = self._trace.count(self._table, self._ranks, self._window)
        self._warn()
        return rows

    def _warn(self) -> None:
        """Tells what could not be read of the trace so far, at the line that called a method of this class."""
        for note in sorted(self._trace.take_notes()):
            warnings.warn(note, stacklevel=3)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a ``pyarrow.Table``. Needs pyarrow."""
        import pyarrow

        table = pyarrow.table(self)
        self._warn()
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a ``pandas.DataFrame``. Needs pandas and pyarrow.

        Columns of whole numbers in which a value is missing become columns of pandas' own integers with ``<NA>``, so that no number
        is rounded. Names are categories.
        """
        import pandas
        import pyarrow

        integers = {
            pyarrow.int32(): pandas.Int32Dtype(),
            pyarrow.int64(): pandas.Int64Dtype(),
            pyarrow.uint64(): pandas.UInt64Dtype(),
        }
        table = self.to_arrow()
        # Columns without a gap stay numpy's, which is what most code expects.
        whole = {field.name for field, column in zip(table.schema, table.columns) if not column.null_count}
        frame = table.select([name for name in table.column_names if name in whole]).to_pandas()
        with_gaps = [name for name in table.column_names if name not in whole]
        for name, column in table.select(with_gaps).to_pandas(types_mapper=integers.get).items():
            frame[name] = column
        return frame[table.column_names]

    def to_polars(self) -> polars.DataFrame:
        """The rows as a ``polars.DataFrame``. Needs polars."""
        import polars

        frame = polars.DataFrame(self)
        self._warn()
        return frame

    def __repr__(self) -> str:
        return f"<{self._table} of {self._trace.name()}: {', '.join(self.columns)}>"
