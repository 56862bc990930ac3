"""Real engines for tests: DuckDB in this process, a PostgreSQL server and a Spark session that the tests start themselves.

Each takes an Arrow table under a name (``load``) and answers a query with a list of rows (``query``). The fixtures, one for each
engine, skip with a reason where an engine is not installed:

    apt-get install postgresql default-jre-headless      and      pip install -e '.[test,test-engines]'
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.models.export.sql import DIALECTS

SECONDS_TO_START = 240  # a loaded machine needs minutes where a quiet one needs seconds


class DuckDBEngine:
    dialect = "duckdb"

    def __init__(self):
        import duckdb

        self.connection = duckdb.connect()

    def load(self, name, table):
        self.connection.register("given", table)
        self.connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM given')
        self.connection.unregister("given")

    def query(self, sql):
        return self.connection.execute(sql).fetchall()


class SQLiteEngine:
    """Python's own."""

    dialect = "sqlite"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def load(self, name, table):
        types = [
            "TEXT" if pa.types.is_string(t) else "BOOLEAN" if pa.types.is_boolean(t) else "" for t in table.schema.types
        ]
        columns = ", ".join(
            f"{DIALECTS['sqlite'].column(n)} {t}" for n, t in zip(table.column_names, types, strict=True)
        )
        self.connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        self.connection.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = zip(*([_in_sqlite(v) for v in column.to_pylist()] for column in table.columns), strict=True)
        self.connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(types))})', rows)

    def query(self, sql):
        return self.connection.execute(sql).fetchall()


def _in_sqlite(value):
    return float(value) if isinstance(value, Decimal) else str(value) if isinstance(value, date) else value


class PostgreSQLEngine:
    dialect = "postgresql"
    TYPES = (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_int64, "bigint"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_float64, "double precision"),
        (pa.types.is_floating, "real"),
        (pa.types.is_decimal, "numeric"),
        (pa.types.is_date, "date"),
        (lambda t: pa.types.is_timestamp(t) and t.tz is not None, "timestamptz"),
        (pa.types.is_timestamp, "timestamp"),
        (lambda _: True, "text"),
    )

    def __init__(self, conninfo):
        import psycopg

        self.connection = psycopg.connect(conninfo, autocommit=True)

    def load(self, name, table):
        from psycopg import sql

        types = [next(written for is_it, written in self.TYPES if is_it(field.type)) for field in table.schema]
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(written))
            for field, written in zip(table.schema, types, strict=True)
        ]
        place = sql.Identifier(name)
        with self.connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(place))
            cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(place, sql.SQL(", ").join(columns)))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)

    def query(self, sql):
        return self.connection.execute(sql).fetchall()


class SparkEngine:
    dialect = "spark"

    def __init__(self, session):
        self.connection = session

    def load(self, name, table):
        with _sockets_left_open():
            self.connection.createDataFrame(table).createOrReplaceTempView(name)

    def query(self, sql):
        with _sockets_left_open():
            return [tuple(row) for row in self.connection.sql(sql).collect()]


@contextmanager
def _sockets_left_open():
    """PySpark leaves the sockets on which it gets its answers to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def postgresql_programs():
    """The folder of initdb and postgres, the newest there is; None without a server."""
    if path := shutil.which("initdb"):
        return Path(path).resolve().parent
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))], default=None)


@contextmanager
def postgresql_server(programs):
    """A server with an empty database of its own. Gives what to connect to."""
    with postgresql_folder(programs) as folder, serving(programs, folder) as (conninfo, _):
        yield conninfo


@contextmanager
def postgresql_folder(programs):
    """A folder with an empty database."""
    with tempfile.TemporaryDirectory(prefix="discreet-pg-") as folder:
        someone = _not_root()
        if someone:
            shutil.chown(folder, someone["user"], someone["group"])
        made = [programs / "initdb", "-D", Path(folder, "data"), "-A", "trust", "-U", "tester", "-E", "UTF8"]
        made += ["--locale=C", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **someone)
        yield folder


def _not_root():
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}  # it refuses root


@contextmanager
def serving(programs, folder):
    """A server of the database in a folder, where its socket is too: what to connect to, and the process."""
    import psycopg

    conninfo = f"host={folder} user=tester dbname=postgres"
    settings = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=20"]
    command = [programs / "postgres", "-D", Path(folder, "data"), *(part for s in settings for part in ("-c", s))]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **_not_root()) as server,
    ):
        try:
            until = time.monotonic() + SECONDS_TO_START
            while True:
                try:
                    psycopg.connect(conninfo).close()
                    break
                except psycopg.OperationalError:
                    if server.poll() is not None or time.monotonic() > until:
                        log.seek(0)
                        raise RuntimeError(log.read().decode()) from None
                    time.sleep(0.1)
            yield conninfo, server
        finally:
            server.send_signal(signal.SIGINT)  # a fast shutdown


@contextmanager
def spark_process(program, *arguments):
    """One of Spark's own servers, by the name of its class; it runs in a folder of its own."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with tempfile.TemporaryDirectory(prefix="discreet-spark-", ignore_cleanup_errors=True) as folder:
        places = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": folder}
        command = [home / "bin" / program, *map(str, arguments)]
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=os.environ | places) as server,
        ):
            try:
                yield server
            finally:
                server.terminate()


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def wait_for_port(port):
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


@contextmanager
def spark_master():
    """The master of a cluster that has no worker yet; gives its address."""
    port = free_port()
    asked = ("--host", "127.0.0.1", "--port", port, "--webui-port", 0)
    with spark_process("spark-class", "org.apache.spark.deploy.master.Master", *asked):
        wait_for_port(port)
        yield f"spark://127.0.0.1:{port}"


def spark_worker(master):
    """A worker with one core; gives its process, whose children are the executors."""
    asked = ("--host", "127.0.0.1", "--cores", 1, "--memory", "1g", "--webui-port", 0, "--work-dir", "work", master)
    return spark_process("spark-class", "org.apache.spark.deploy.worker.Worker", *asked)


@contextmanager
def spark_connect_server():
    """A server of Spark Connect; gives its address."""
    port = free_port()
    settings = {"spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    asked = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    with spark_process("spark-submit", "--master", "local[1]", *asked, *server):
        wait_for_port(port)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def spark_session():
    """A session of Spark on one core of this machine."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="discreet-spark-") as folder:
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            "spark.log.level": "ERROR",
        }
        builder = SparkSession.builder.master("local[1]").appName("discreet")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


@pytest.fixture(scope="session")
def duckdb_engine():
    pytest.importorskip("duckdb")
    return DuckDBEngine()


@pytest.fixture(scope="session")
def postgresql_engine():
    pytest.importorskip("psycopg")
    if (programs := postgresql_programs()) is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with postgresql_server(programs) as conninfo:
        engine = PostgreSQLEngine(conninfo)
        yield engine
        engine.connection.close()


@pytest.fixture(scope="session")
def spark_engine(spark_installed):
    with spark_session() as session:
        yield SparkEngine(session)


@pytest.fixture(scope="session")
def spark_installed():
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed (pip install -e '.[test-engines]')")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java (Debian: apt-get install default-jre-headless)")


ENGINES = ["duckdb", *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgresql", "spark"))]


@pytest.fixture(scope="session", params=ENGINES)
def engine(request):
    """Each engine in turn; the servers only in `make test-all`."""
    return request.getfixturevalue(f"{request.param}_engine")
