"""A ledger on a PostgreSQL server, for an organisation that shares one between machines.

The URL says who, where and which ledger:
``postgresql://USER@HOST:PORT/DATABASE?ledger=NAME``. A ledger is a schema of this name in the database ("discreet" unless another
is given), so that rights can be granted for each. A password is no part of it: libpq takes it from ``PGPASSWORD``, ``~/.pgpass``
or a service file. What does not have this very form is refused, and not repeated.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote

from .entries import LedgerBudget
from .ledger_places import BusyError, LedgerError, MissingError, OutOfReachError, Place, T
from .ledger_rows import Run, create

FORM = "postgresql://USER@HOST:PORT/DATABASE?ledger=NAME"
URL = re.compile(
    r"postgres(?:ql)?://(?:([\w.-]+)@)?(\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::([0-9]+))?(?:/([\w.-]*))?(?:\?([^#@]*))?",
    re.ASCII,
)
OPTIONS = ("ledger", "host", "port", "service", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout")
NAME, VALUE = re.compile("[a-z_][a-z0-9_]{0,62}"), re.compile(r"[\w./ -]*", re.ASCII)
LOCK_TIMEOUT = "1s"  # then it is tried again, so that one is told
MISSING, FASTER = ("42P01", "3F000"), ("42P07", "42P06", "23505")  # codes of PostgreSQL
LOCKED = ("55P03", "40001", "40P01")  # another transaction was faster, and nothing happened
NOT_LET_IN, NOT_ALLOWED = "28", "42501"


def is_url(where: str) -> bool:
    """Whether it is meant as an address, well written or not."""
    return "://" in where


def is_address(where: str) -> bool:
    """Whether it is well written."""
    try:
        return bool(PostgreSQLPlace(where))
    except LedgerError:
        return False


class PostgreSQLPlace(Place):
    """A schema of a database."""

    locked = " FOR UPDATE"

    def __init__(self, where: str) -> None:
        found = URL.fullmatch(where)
        options = parse_qsl(found[5] or "", keep_blank_values=True) if found else []
        given = dict(options)
        if not found or len(given) < len(options) or not all(k in OPTIONS and VALUE.fullmatch(v) for k, v in options):
            raise LedgerError(
                f"the address of a ledger must be {FORM}, with options among {', '.join(OPTIONS)}. A password may not stand in "
                "it: put it into PGPASSWORD, ~/.pgpass or a service file"
            )
        self._schema = given.pop("ledger", "discreet")
        if not NAME.fullmatch(self._schema):
            raise LedgerError("the name of a ledger on PostgreSQL consists of a-z, 0-9 and _, and begins with a letter")
        parts = {"user": found[1], "host": found[2].strip("[]"), "port": found[3], "dbname": unquote(found[4] or "")}
        self._options = {key: value for key, value in (parts | given).items() if value}
        self.where, self.shown = where, f"{self._schema} on PostgreSQL"

    def make(self, whole: LedgerBudget) -> None:
        """See ``Place``."""

        def work(run: Run) -> None:
            run(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
            create(run, whole)

        with suppress(FileExistsError):
            self.attempt(True, work)

    def attempt(self, write: bool, work: Callable[[Run], T]) -> T:
        """See ``Place``. A COMMIT whose answer is lost raises: it may be booked, and is not granted."""
        try:
            import psycopg
        except ImportError:
            raise ImportError("a ledger on PostgreSQL needs psycopg: pip install 'discreet[postgres]'") from None
        problem: Exception
        try:
            address = psycopg.conninfo.make_conninfo(**self._options, application_name="discreet")
            with psycopg.connect(address, autocommit=True, prepare_threshold=None) as connection:

                def run(sql: str, *given: Any) -> list[tuple[Any, ...]]:
                    cursor = connection.execute(sql.replace("?", "%s"), given)
                    return cursor.fetchall() if cursor.description else []

                run(f"BEGIN ISOLATION LEVEL {'READ COMMITTED' if write else 'REPEATABLE READ READ ONLY'}")
                run(f"SET LOCAL search_path TO {self._schema}")
                run("SET LOCAL synchronous_commit TO on")
                run(f"SET LOCAL lock_timeout TO '{LOCK_TIMEOUT}'")
                found = work(run)
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    raise self._lost("the server took the transaction back")
                return found
        except psycopg.Error as error:
            problem = self._told(error.sqlstate)
        raise problem  # without the driver's error, which may have a password: not even a debugger finds it

    def _told(self, code: str | None) -> Exception:
        if code in MISSING:
            return MissingError(f"there is no ledger {self.shown} any more")
        if code in LOCKED:
            return BusyError()
        if code in FASTER:
            return FileExistsError()
        if code is not None and code.startswith(NOT_LET_IN):
            return self._lost("the server does not let you in: check the user and the password (PGPASSWORD, ~/.pgpass)")
        if code == NOT_ALLOWED:
            return self._lost("you may not use its tables: ask who made it to GRANT you SELECT, INSERT and UPDATE")
        known = f" ({code})" if code else ""
        return self._lost(f"the server cannot be reached, or the connection was lost{known}")

    def _lost(self, why: str) -> OutOfReachError:
        return self.out_of_reach(f"cannot be used: {why}. Nothing was granted")
