"""Traces of MPI programs as tables, reports and pictures.

    import mpitrace

    trace = mpitrace.open("heat.slog2")
    calls = trace.calls(rank=0, t0=1.0, t1=1.2).to_pandas()
    print(trace.report())
    trace.draw("heat.png")
    mpitrace.compare("before.slog2", "after.slog2")

Every format that the command ``mpitrace`` reads can be opened: SLOG2, CLOG2, DUMPI, block files of a run that did not end, and
more. Tables go to pandas, polars, pyarrow, DuckDB and whatever else takes Arrow's C stream interface, without a copy. Times that
are given are seconds since the beginning of the trace; times in tables are whole nanoseconds, with ``_ns`` in their names.
"""

from ._native import TraceError, __version__
from ._picture import Picture
from ._report import Comparison, Report, compare
from ._rows import Rows
from ._trace import Trace, Window, open

__all__ = [
    "Comparison",
    "Picture",
    "Report",
    "Rows",
    "Trace",
    "TraceError",
    "Window",
    "__version__",
    "compare",
    "open",
]
