"""Measures tables: how fast datasets are written, how large they are, and how fast the package reads a trace into Arrow.

    tables.py MPITRACE DRAWABLES FOLDER

Makes a synthetic trace and its dataset in the folder, and leaves both there. Prints a line a figure. Processor time is that of the whole command,
so that a million rows a second is what one core does, however many work. Exit status 1 if the best of three runs does not reach a figure.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import mpitrace
import pyarrow

RANKS = 64
RUNS = 3
# To reach: million rows a second by the time of processors, and bytes a row.
DATASET_RATE = 3
READING_RATE = 10
MOST_BYTES = 20

missed: list[str] = []

Spent = tuple[float, float]


def spent(of: int, before: Spent = (0.0, 0.0)) -> Spent:
    """Time by the clock and by the processors, in seconds, since then."""
    usage = resource.getrusage(of)
    return time.perf_counter() - before[0], usage.ru_utime + usage.ru_stime - before[1]


def told(what: str, rows: int, took: Spent) -> float:
    """Prints how fast so many rows were made; gives the rate."""
    clock, processor = took
    rate = rows / processor / 1e6
    print(f"{what:<52} {clock:8.2f} s {processor:8.2f} s  {rate:6.2f} million rows/s a core", flush=True)
    return rate


def to_reach(what: str, reached: bool) -> None:
    """Notes a figure that is not reached."""
    if not reached:
        missed.append(what)


def rows_of(dataset: Path) -> dict[str, int]:
    """Rows of each table of a dataset, as it says itself."""
    tables = json.loads((dataset / "_libtrace.json").read_text())["tables"]
    return {name: table["rows"] for name, table in tables.items()}


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def converted(command: str, trace: Path, dataset: Path, option: list[str]) -> None:
    """Times conversions."""
    rates = []
    for _ in range(RUNS):
        before = spent(resource.RUSAGE_CHILDREN)
        subprocess.run([command, "convert", "--quiet", "--force", *option, trace, dataset], check=True, stderr=subprocess.DEVNULL)
        took = spent(resource.RUSAGE_CHILDREN, before)
        what = " ".join(["dataset", *option])
        rates.append(told(what, sum(rows_of(dataset).values()), took))
    to_reach(f"{what}: {DATASET_RATE} million rows/s a core", max(rates) >= DATASET_RATE)


def read(trace: Path, table: str, rows: int) -> float:
    """Times reading a table into Arrow on one core, without keeping it; gives the best rate."""
    rates = []
    for _ in range(RUNS):
        before = spent(resource.RUSAGE_SELF)
        batches = pyarrow.RecordBatchReader.from_stream(getattr(mpitrace.open(trace), table)())
        found = sum(batch.num_rows for batch in batches)
        took = spent(resource.RUSAGE_SELF, before)
        assert found == rows, f"{table}: {found} rows, the dataset has {rows}"
        rates.append(told(f"Python: {table} into Arrow, one core", rows, took))
    return max(rates)


def main(command: str, drawables: str, folder: Path) -> None:
    trace, dataset = folder / "run.slog2", folder / "run.parquet"
    subprocess.run([command, "synth", "--quiet", "--ranks", str(RANKS), "--drawables", drawables, trace], check=True)
    print(f"{drawables} drawables on {RANKS} ranks, SLOG2 of {trace.stat().st_size / 1e6:.0f} MB", flush=True)
    print(f"{'':<52} {'by clock':>10} {'processors':>10}")
    for option in [["--no-waits"], []]:
        converted(command, trace, dataset, option)
    rows = rows_of(dataset)
    for table, number in rows.items():
        bytes_a_row = size(dataset / table) / number
        print(f"{table}: {number} rows, {bytes_a_row:.1f} bytes a row")
        to_reach(f"{table}: {MOST_BYTES} bytes a row", bytes_a_row <= MOST_BYTES)
    before = spent(resource.RUSAGE_SELF)
    profile = duckdb.sql(
        f"select rank, function, count(*), sum(leave_ns - enter_ns) from '{dataset}/calls/**/*.parquet' group by all"
    ).fetchall()
    took = spent(resource.RUSAGE_SELF, before)
    assert sum(line[2] for line in profile) == rows["calls"], "DuckDB counts other calls than the dataset says"
    told("DuckDB: time by rank and function", rows["calls"], took)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rate = read(trace, "calls", rows["calls"])
    to_reach(f"Python: {READING_RATE} million calls/s", rate >= READING_RATE)
    read(trace, "messages", rows["messages"])
    if missed:
        sys.exit("not reached: " + "; ".join(missed))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
