"""PostgreSQL, through psycopg. Passwords come from where libpq looks for them."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import SplitResult, quote, urlencode

from .base import Cause, Engine, Query, as_float, ibis, named

# A decimal that is as large as this is infinite as a floating-point number; one that is as small as this is 0.
INFINITE = Decimal(2**1024 - 2**970)
ZERO = Decimal("2.47032822920623272089e-324")


class PostgreSQL(Engine):
    """What is peculiar to PostgreSQL."""

    title = "PostgreSQL"
    name_in_ibis = "postgres"
    extra = "postgres"
    schemes = ("postgresql", "postgres")
    url_forms = "postgresql://USER@HOST/DATABASE?table=NAME"
    errors: ClassVar[Mapping[Cause, str]] = {
        Cause.NO_TABLE: "undefinedtable|relation .* does not exist",
        Cause.NOT_ACCEPTED: "fe_sendauth|role .* does not exist",
        Cause.NOT_PERMITTED: "insufficientprivilege",
        Cause.NO_DATABASE: "database .* does not exist",
        Cause.NO_HOST: "translate host",
        Cause.NO_ANSWER: "is the server running",
    }
    ignores_case = False

    @classmethod
    def open(cls, ibis: Any, parts: SplitResult, table: str, options: Mapping[str, str]) -> Any:
        """A table or view of a database, in a connection that may only read."""
        import psycopg

        only_read = f"{options.get('options', '')} -c default_transaction_read_only=on".strip()  # the last one counts
        query = urlencode({**options, "options": only_read}, quote_via=quote)
        url = parts._replace(scheme="postgresql", query=query).geturl()
        connection = psycopg.connect(url, autocommit=True, application_name="discreet")
        try:
            return named(ibis.postgres.from_connection(connection), table)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def usual_address(cls, parts: SplitResult, place: str | None, table: str) -> str | None:
        """With the usual port, and the usual schema left out."""
        host = "localhost" if parts.hostname in (None, "127.0.0.1", "::1") else parts.hostname
        return f"postgresql {host} {parts.port or 5432} {parts.path} {table.removeprefix('public.')}"

    def query(self, watched: bool, plain: bool) -> Query:
        """PostgreSQL does not say how far a SELECT is."""
        connection = self.connection.con
        return Query(getattr(connection, "cancel_safe", connection.cancel))

    def apart(self, query: Any) -> Any:
        """PostgreSQL puts each column in wherever it is used, but where there is a limit: 1.3 s of 4.5 s, for 190 sets."""
        return query.limit(2**63 - 1)

    def as_column(self, values: Any) -> Any:
        """An enum goes by the name of a text, and stops at a category that is not among its values."""
        return values + "" if values.type().is_string() else values

    def decimal_as_float(self, x: Any) -> Any:
        """PostgreSQL stops at a decimal that no floating-point number is near to. Whether it stops may not depend on a record."""
        if (x.type().precision or 1000) <= 300:
            return super().decimal_as_float(x)
        return ibis.cases(
            (x.cast("string") == "NaN", as_float(float("nan"))),  # it would be larger than any other
            (x >= INFINITE, as_float(float("inf"))),
            (x <= -INFINITE, as_float(float("-inf"))),
            (x.abs() <= ZERO, as_float(0.0)),
            else_=x.cast("float64"),
        )

    def text_as_float(self, x: Any) -> Any:
        """PostgreSQL stops at what it cannot cast: an endless exponent, a number that is too large, or no number at all."""
        plain = x.re_search("^[^!-~]*[+-]?[0-9.]+([eE][+-]?[0-9]{1,3})?[^!-~]*$") & (x.length() < 5000)
        infinite = [
            (x.re_search(f"^[^!-~]*{sign}[iI]"), as_float(n)) for sign, n in (("[+]?", math.inf), ("-", -math.inf))
        ]
        return ibis.cases((plain, self.decimal_as_float(x.cast("decimal"))), *infinite, else_=ibis.null("float64"))

    def holds(self, text: str) -> bool:
        """No NUL in any text."""
        return super().holds(text) and "\0" not in text
