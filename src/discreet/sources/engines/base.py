"""What is asked of an engine, with the answers that do for most; and a query that runs in a thread of its own.

So the main thread stays free: for Ctrl-C, and to say how far the query is. (In the main thread, DuckDB does not notice Ctrl-C
before the query has ended.) However a fit ends, its query is cancelled in the engine's own way, and the thread has ended, before
the fit gives up: no query goes on, and the connection is good for another. A share of the work and seconds are all that is ever
shown, never how many records there are.

Nothing here is imported but what is light: the command line asks for the schemes of URLs before it has read a table.
"""

import functools
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from enum import Enum
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, ClassVar, NamedTuple
from urllib.parse import SplitResult


class _Lazily:
    """ibis takes a second to import, and need not be installed: it is imported when it is used."""

    def __getattr__(self, name: str) -> Any:
        import ibis

        return getattr(ibis, name)


ibis: Any = _Lazily()
QUOTED = re.compile(r'''(?:"((?:[^"]|"")+)"\.)?"((?:[^"]|"")+)"''')  # as in SQL: a schema, and a table
SECONDS = 0.1  # between two looks at the clock
PATIENCE = 60.0  # seconds, with a cluster that has lost its last worker


class Cause(Enum):
    """Why something could not be opened, in words of our own; in the order in which they are looked for."""

    NO_EXTENSION = (
        "its extension for such addresses is not installed, and cannot be downloaded from here: install it once where there is a "
        "network (DuckDB: INSTALL httpfs)"
    )
    NO_TABLE = "there is no such table in it: check the name, and the schema it is in (?table=schema.name)"
    NOT_ACCEPTED = "who you are was not accepted: check user and password, and where the engine looks for them"
    NOT_PERMITTED = "you may not read it: ask who owns it"
    LOCKED = "another process has opened it for writing: close that first"
    NO_FILE = "there is no file of this name"
    NO_DATABASE = "there is no database of this name on the server"
    NO_HOST = "there is no such host, or no network"
    NO_ANSWER = "no server answers at this address"
    DAMAGED = "it is cut off, damaged, or something else; get another copy"


class Query(NamedTuple):
    """What is needed of an engine to watch a query and to cancel it."""

    cancel: Callable[[], Any]
    share: Callable[[], float | None] = lambda: None  # which part is done; None if the engine does not say
    begun: Callable[[], AbstractContextManager[Any]] = nullcontext  # around the query, in its thread
    workers: Callable[[], int | None] = lambda: None  # how many there are; None if the engine has none or does not say
    thread: Callable[..., Thread] = Thread


class Engine:
    """An engine, and a connection of ibis to it."""

    title: ClassVar[str] = ""  # as people call it
    name_in_ibis: ClassVar[str] = ""
    extra: ClassVar[str] = ""  # pip install 'discreet[...]'
    schemes: ClassVar[tuple[str, ...]] = ()  # of URLs
    url_forms: ClassVar[str] = ""  # how URLs are written, for a message
    is_server: ClassVar[bool] = True  # whether URLs name a host, and perhaps a user
    errors: ClassVar[Mapping[Cause, str]] = {}  # patterns of what it says, in lower case

    runs_here: ClassVar[bool] = False  # in this process, so that records do not leave it when they come to us
    most_places: ClassVar[int] = 1 << 20  # of one record, in one array
    ignores_case: ClassVar[bool] = True  # of column names
    reads_numbers: ClassVar[bool] = False  # whether it takes a text for the same number as Python does, if we help
    believes_files: ClassVar[bool] = False  # on what the smallest and the largest number of a column are
    finds_places: ClassVar[bool] = False  # of texts in a list, faster than by comparing with one after the other

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.name = self.title or str(connection.name)  # as people call it, or else as ibis does

    # --- where its tables are

    @classmethod
    def open(cls, ibis: Any, parts: SplitResult, table: str, options: Mapping[str, str]) -> Any:
        """The table of this name at a URL, to be read only; ``options`` is what else the URL asks for."""
        raise NotImplementedError

    @classmethod
    def local_path(cls, rest: str) -> str | None:
        """The file on this machine that a URL names, by what follows its scheme; None if it names none."""
        return None

    @classmethod
    def usual_address(cls, parts: SplitResult, place: str | None, table: str) -> str | None:
        """The same text for some ways to write the same URL, of a file at this place if it is one; None if none is known."""
        return None

    # --- how a query runs

    def query(self, watched: bool, plain: bool) -> Query | None:
        """How to watch and cancel a query; None if nobody knows.

        ``plain``: whether the query is about a table as it is (``is_plain``).
        """
        return None

    def batches(self, expression: Any, rows: int, whole: bool = False) -> Iterator[Any]:
        """The answer to a query, some rows at a time; if ``whole``, not before it is complete."""
        yield from self.connection.to_pyarrow_batches(expression, chunk_size=rows)

    def apart(self, query: Any) -> Any:
        """A query whose columns are computed once for each record, however often another query uses them."""
        return query

    def is_plain(self, table: Any) -> bool:
        """Whether nothing was computed from a table or chosen of it: a name, as it is."""
        ops = ibis.expr.operations
        return isinstance(table.op(), ops.PhysicalTable)

    # --- what its columns are

    def check_column_name(self, name: str) -> None:
        """Complain about a name that the engine would take for something else."""

    def as_column(self, values: Any) -> Any:
        """A column in the type that ibis says it has."""
        return values

    def decimal_as_float(self, x: Any) -> Any:
        """Decimals as the nearest 64-bit floating-point numbers. No value may stop it."""
        return x.cast("float64")

    def is_nan(self, x: Any, floating: bool) -> Any:
        """Whether numbers are NaN; ``floating`` if they stand in the table as floating-point numbers."""
        return x.isnan()

    def holds(self, text: str) -> bool:
        """Whether a text can stand in a column at all. Python has texts that no engine has."""
        return not any("\ud800" <= sign <= "\udfff" for sign in text)  # half a surrogate pair

    def as_text(self, text: str) -> Any:
        """A text as the engine reads it from a query."""
        return text

    def text_as_float(self, x: Any) -> Any:
        """Texts that are numbers as 64-bit floating-point numbers; others may be anything, but may not stop it."""
        return x.try_cast("float64")

    def stripped(self, x: Any) -> Any:
        """Texts without what the engine takes for space around them."""
        return x.strip()

    def place_in(self, texts: Sequence[Any], x: Any) -> Any:
        """The place of each value in a list, from 1; that of a missing one comes last, and one that is not there has null."""
        raise NotImplementedError

    def at_place(self, numbers: Sequence[int], place: Any) -> Any:
        """The number at a place in a list, from 1; null if the place is."""
        raise NotImplementedError


def as_float(number: float) -> Any:
    """A number as any engine reads it from a text."""
    return ibis.literal(repr(float(number))).cast("float64")


def named(connection: Any, name: str) -> Any:
    """The table; ``schema.table``, or ``"my.schema"."my.table"``, where there is no table of the whole name."""
    try:
        return connection.table(name)
    except Exception:
        if quoted := QUOTED.fullmatch(name):
            database, rest = (part and part.replace('""', '"') for part in quoted.groups())
            return connection.table(rest, database=database and (connection.current_catalog, database))
        database, dot, rest = name.partition(".")
        if not dot:
            raise
        return connection.table(rest, database=database)


class SaidInOurWords(Exception):
    """A query stopped, for a reason that may be said: nothing of what the engine says is in it."""


class WorkersLost(Exception):
    """Nobody is left to do the work. The engine itself would wait for another worker, however long."""


def run(
    engine: Engine, batches: Callable[[], Iterator[Any]], verbose: bool = False, plain: bool = True
) -> Iterator[Any]:
    """The batches, fetched in a thread of their own. When nobody wants more of them, the query is cancelled.

    ``plain``: whether they are about a table as it is (``Engine.is_plain``).
    """
    query = engine.query(verbose, plain)
    if query is None:  # nobody knows how to cancel one
        yield from batches()
        return
    ready: Queue[tuple[Any, BaseException | None]] = Queue(2)
    stopped = Event()

    def fetch() -> None:
        error = None
        try:
            with query.begun():
                for batch in batches():
                    ready.put((batch, None))
                    if stopped.is_set():
                        break
        except BaseException as caught:
            error = caught
        ready.put((None, error))

    thread = query.thread(target=fetch, name="discreet-query", daemon=True)
    check = _patient(query.workers)
    with ExitStack() as stack:
        say = stack.enter_context(_line(engine.name, query.share)) if verbose else lambda: None
        try:
            thread.start()
            while True:
                try:
                    batch, error = ready.get(timeout=SECONDS)
                except Empty:
                    say()
                    check()
                    continue
                if batch is None:
                    thread.join()
                    if error is not None:
                        raise error
                    return
                yield batch
        finally:
            stopped.set()
            while thread.is_alive():  # again, as the query may not have begun yet; a second Ctrl-C ends the waiting
                with suppress(Exception):
                    query.cancel()
                while not ready.empty():  # the thread may be waiting for a place
                    ready.get()
                thread.join(10 * SECONDS)


def _patient(workers: Callable[[], int | None]) -> Callable[[], None]:
    """Complains if there were workers, and have been none for a while. A cluster may take long to give the first one."""
    looked, seen = -math.inf, math.inf  # when we last looked, and when there was one

    def check() -> None:
        nonlocal looked, seen
        now = time.monotonic()
        if now - looked < 1.0:
            return
        looked = now
        if workers():
            seen = now
        elif now - seen > PATIENCE:
            raise WorkersLost

    return check


@contextmanager
def _line(engine: str, share: Callable[[], float | None]) -> Iterator[Callable[[], None]]:
    """A line on the stderr of a terminal, gone at the end. Elsewhere nothing."""
    from rich.console import Console

    start, console = time.monotonic(), Console(stderr=True)
    with console.status(f"{engine} counts the records ...") as status:

        def say() -> None:
            done = None
            if console.is_terminal:
                with suppress(Exception):
                    done = share()
            part = "" if done is None else f"{done:.0%}, "
            status.update(f"{engine} counts the records: {part}{time.monotonic() - start:.0f} s")

        yield say


@functools.cache
def builtin(name: str, *types: Any) -> Any:
    """A function of the engine, by the types of what it takes and of what it gives; ibis has none, or wraps it in CASE."""
    *takes, gives = types
    shape: Callable[..., None] = (lambda x: None) if len(takes) == 1 else (lambda x, y: None)
    return ibis.udf.scalar.builtin(shape, name=name, signature=(tuple(takes), gives))
