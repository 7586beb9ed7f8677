"""Asks Spark, with two workers on this machine, about the dataset of tables.py, and compares its answers with those of the command.

    spark.py MPITRACE FOLDER

The folder has run.slog2 and run.parquet.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

PROFILE = "select function, count(*), sum(leave_ns - enter_ns) from calls group by all"
LATE = "select culprit_rank, count(*), sum(to_ns - from_ns) from waits where pattern = 'late sender' group by all"
CAUSED = """
    select c.function, count(*), bool_and(o.enter_ns >= c.enter_ns and o.leave_ns <= c.leave_ns)
    from calls c join regions o using (call_id) group by all order by all"""


def told_by(command: str, *arguments: str | Path) -> Any:
    """What the command says as JSON."""
    said = subprocess.run([command, *arguments], check=True, stdout=subprocess.PIPE)
    return json.loads(said.stdout)


def main(command: str, folder: Path) -> None:
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for table in ["calls", "regions", "waits"]:
        spark.read.parquet(f"{folder}/run.parquet/{table}").createOrReplaceTempView(table)

    def asked(what: str, query: str) -> list[list]:
        begun = time.perf_counter()
        rows = [list(row) for row in spark.sql(query).collect()]
        print(f"Spark, 2 workers: {what:<40} {time.perf_counter() - begun:8.2f} s", flush=True)
        return rows

    profile = asked("time by function", PROFILE)
    late = asked("late senders by culprit", LATE)
    caused = asked("operations by the CallID of their call", CAUSED)
    spark.stop()

    of_category = told_by(command, "stats", "--format", "json", "--by", "category", folder / "run.slog2")
    counts = {row["category"]: row["count"] for row in of_category if row["category"].startswith("MPI_")}
    assert {function: calls for function, calls, _ in profile} == counts, "calls of other functions than mpitrace stats has"
    groups = told_by(command, "report", "--json", folder / "run.slog2")["waits"]
    waits = sum(group["count"] for group in groups if group["pattern"] == "late-sender")
    # Of more waits than a dataset may have, it has the longest.
    assert sum(row[1] for row in late) <= waits
    assert all(inside for _, _, inside in caused), f"operations outside of their calls: {caused}"
    calls, late, caused = (sum(row[1] for row in rows) for rows in [profile, late, caused])
    print(f"{calls} calls, as mpitrace stats has them; {late} of the {waits} late senders of mpitrace report; {caused} operations in their calls")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
