"""A process of its own with a session of Spark: one Python process cannot have both a cluster and Spark Connect.

    python -m tests.sources.spark_child ADDRESS LEDGER ROUNDS

In each round it fits an endless table, until something stops it, and then counts a small one. What happens is told
on stdout, a line of JSON each.
"""

import json
import signal
import sys
import threading
import time

from discreet import DPGreedyRuleListClassifier, Ledger, Numeric, PrivateCounts, Schema, open_table
from discreet.sources.engines import base as running_queries

SCHEMA = Schema([Numeric("n", cuts=[1])], "y", ["no", "yes"])
VIEW = "CREATE TEMPORARY VIEW {} AS SELECT id % 7.0D AS n, 'no' AS y FROM range(0, {}, 1, 50)"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.log.level": "OFF",
}


def tell(**what):
    print(json.dumps(what), flush=True)


def session_at(address):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if address.startswith("sc:"):
        return builder.remote(address).getOrCreate()
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return builder.master(address).getOrCreate()


def running(session, address):
    """What runs: jobs of a cluster; in Spark Connect what could be interrupted, which it then is."""
    if address.startswith("sc:"):
        return session.interruptAll()
    return session.sparkContext.statusTracker().getActiveJobsIds()


def tell_when_it_runs(session, address):
    """Once tasks of the query run. On a busy machine it takes long until then, and what is stopped before is no query."""
    if address.startswith("sc:"):
        begun = threading.Event()

        def note(stages, **_):
            if stages:
                begun.set()

        session.registerProgressHandler(note)
        begun.wait()
        session.removeProgressHandler(note)
    else:
        while not running(session, address):
            time.sleep(0.1)
    time.sleep(4)
    tell(state="running")


def main(address, ledger_file, rounds):
    session = session_at(address)
    running_queries.PATIENCE = 10.0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not Spark's, which cancels by itself
    session.sql(VIEW.format("endless", 10**12))
    session.sql(VIEW.format("small", 100))
    views = session.catalog.listTables()
    ledger = Ledger.open(ledger_file, epsilon=3.0)
    clf = DPGreedyRuleListClassifier(schema=SCHEMA, ledger=ledger)
    for _ in range(int(rounds)):
        threading.Thread(target=tell_when_it_runs, args=(session, address), daemon=True).start()
        try:
            clf.fit_source(open_table(f"{address}?table=endless"), verbose=True)
        except BaseException as error:
            tell(state="stopped", error=type(error).__name__, says=str(error), at=time.time())
        tell(
            running=list(running(session, address)),
            booked=len(ledger.entries),
            threads=[t.name for t in threading.enumerate() if t.name == "discreet-query"],
        )
        PrivateCounts.from_source(open_table(f"{address}?table=small"), SCHEMA)
        tell(state="used again", nothing_left=session.catalog.listTables() == views)  # a list that needs a worker
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
