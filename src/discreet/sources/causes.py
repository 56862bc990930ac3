"""Why something could not be opened, in words of our own: what engines say has addresses, names and values in it.

Looked for in order, by parts of what DuckDB, libpq, Spark and the operating system say, whatever their language for the rest.
"""

import re

CAUSES = (
    (r"extension.*(download|install|load)|httpfs", "its extension for such addresses is not installed, and cannot be downloaded "
     "from here: install it once where there is a network (DuckDB: INSTALL httpfs)"),
    (r"tablenotfound|undefinedtable|table_or_view_not_found|catalog error.*does not exist|relation .* does not exist",
     "there is no such table in it: check the name, and the schema it is in (?table=schema.name)"),
    (r"password|fe_sendauth|authenticat|credential|\b40[13]\b|access ?denied|forbidden|role .* does not exist|accessdenied",
     "who you are was not accepted: check user and password, and where the engine looks for them"),
    (r"permission|insufficientprivilege|not permitted", "you may not read it: ask who owns it"),
    (r"could not set lock|conflicting lock", "another process has opened it for writing: close that first"),
    (r"no files found|\b404\b|no such (bucket|key)|nosuchbucket|nosuchkey|filenotfound", "there is no file of this name"),
    (r"database .* does not exist", "there is no database of this name on the server"),
    (r"resolve|translate host|name or service|network|unreachable|no route", "there is no such host, or no network"),
    (r"refused|timed? ?out|timeout|connection|no such file or directory|is the server running",
     "no server answers at this address"),
    (r"magic|not a valid|parquet|corrupt|invalid input", "it is cut off, damaged, or something else; get another copy"),
)  # fmt: skip
UNKNOWN = "check the address, the name of the table, and that you may read it"


def cause_of(error: BaseException) -> str:
    """What to say of an error of an engine. Nothing of the error itself is in it.

    >>> cause_of(PermissionError("/home/me/secret.parquet"))
    'you may not read it: ask who owns it'
    """
    said = f"{type(error).__name__}: {error}".lower()
    return next((cause for pattern, cause in CAUSES if re.search(pattern, said, re.DOTALL)), UNKNOWN)
