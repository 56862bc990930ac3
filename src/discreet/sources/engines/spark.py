"""Spark: a session on this machine or in a cluster, or Spark Connect.

It puts a setting in place of ``${...}``, even within a text, and ibis writes some signs in a way that Spark does not read.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar
from urllib.parse import SplitResult
from uuid import uuid4

from ..._utils.errors import SchemaError
from .base import Cause, Engine, Query, builtin, ibis, named

PLAIN = re.compile(r"[\w .,:;<>=+*/()-]*", re.ASCII)


class Spark(Engine):
    """What is peculiar to Spark."""

    title = "Spark"
    name_in_ibis = "pyspark"
    extra = "spark"
    schemes = ("spark", "sc")
    url_forms = "spark://HOST:PORT?table=NAME (a cluster), spark://local?table=NAME or sc://HOST:PORT?table=NAME (Spark Connect)"
    most_places = 48  # Java does not compile what is longer: 400,000 records by 190 sets took 31 s, in one piece 45 s
    errors: ClassVar[Mapping[Cause, str]] = {Cause.NO_TABLE: "table_or_view_not_found"}

    @classmethod
    def open(cls, ibis: Any, parts: SplitResult, table: str, options: Mapping[str, str]) -> Any:
        """A table or view of a session, which is the one there is, if there is one."""
        from pyspark.sql import SparkSession

        if parts.scheme == "sc":
            kept = "".join(f";{key}={value}" for key, value in options.items())
            builder = SparkSession.builder.remote(f"sc://{parts.netloc}/{kept}")
        else:
            local = parts.netloc.partition(":")[0] == "local"
            builder = SparkSession.builder.master("local[*]" if local else f"spark://{parts.netloc}")
            for key, value in options.items():
                builder = builder.config(key, value)
        return named(ibis.pyspark.connect(builder.getOrCreate()), table)

    def query(self, watched: bool, plain: bool) -> Query:
        """The jobs of the query are a group, by a name that no other has; in Spark Connect, they have a tag."""
        session, name = self.connection._session, f"discreet-{uuid4()}"
        if type(session).__module__.startswith("pyspark.sql.connect"):
            return _connect_query(session, name, watched)
        from pyspark import InheritableThread  # with the main thread's settings, such as its pool

        context = session.sparkContext

        def share() -> float | None:
            tracker = context.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(name)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
            return _part([(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage])

        def begun() -> AbstractContextManager[Any]:
            context.setJobGroup(name, "discreet")  # of this thread, which ends
            return nullcontext()

        def workers() -> int:
            return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # one is the driver

        return Query(lambda: context.cancelJobGroup(name), share, begun, workers, InheritableThread)

    def check_column_name(self, name: str) -> None:
        """Names have settings put into them, too."""
        if "${" in name:
            raise SchemaError(f"Spark would put a setting in place of a part of the column name {name!r}; rename it")

    def as_text(self, text: str) -> Any:
        """Whatever is not quite plain, in hexadecimal."""
        return text if PLAIN.fullmatch(text) else ibis.literal(text.encode(), type="binary").cast("string")

    def stripped(self, x: Any) -> Any:
        """What ibis writes for two of these signs, Spark reads as the letters v and f: it would make "alse" of "false"."""
        return builtin("btrim", "string", "string", "string")(x, self.as_text(" \t\n\r\v\f"))


def _connect_query(session: Any, name: str, watched: bool) -> Query:
    noted: list[float | None] = [None]

    def note(stages: Any, **_: Any) -> None:
        noted[0] = _part([(stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()])

    @contextmanager
    def begun() -> Iterator[None]:
        session.addTag(name)  # of this thread, which ends
        if watched:
            session.registerProgressHandler(note)
        try:
            yield
        finally:
            if watched:
                session.removeProgressHandler(note)

    return Query(lambda: session.interruptTag(name), lambda: noted[0], begun)


def _part(tasks: list[tuple[int, int]]) -> float | None:
    all_of_them = sum(n for _, n in tasks)
    return sum(done for done, _ in tasks) / all_of_them if all_of_them else None
