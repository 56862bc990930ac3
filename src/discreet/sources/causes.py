"""Why something could not be opened, in words of our own: what engines say has addresses, names and values in it.

Looked for in order, by parts of what the engines, ibis and the operating system say, whatever their language for the rest.
"""

import re

from .engines import ENGINES
from .engines.base import Cause

# what ibis and the operating system say, and any server; more in the files of the engines
ANYWHERE = {
    Cause.NO_TABLE: "tablenotfound",
    Cause.NOT_ACCEPTED: "password|authenticat|credential|access ?denied|forbidden",
    Cause.NOT_PERMITTED: "permission|not permitted",
    Cause.NO_FILE: "filenotfound",
    Cause.NO_HOST: "resolve|name or service|network|unreachable|no route",
    Cause.NO_ANSWER: "refused|timed? ?out|timeout|connection|no such file or directory",
}
UNKNOWN = "check the address, the name of the table, and that you may read it"


def cause_of(error: BaseException) -> str:
    """What to say of an error of an engine. Nothing of the error itself is in it.

    >>> cause_of(PermissionError("/home/me/secret.parquet"))
    'you may not read it: ask who owns it'
    """
    said = f"{type(error).__name__}: {error}".lower()
    for cause in Cause:
        patterns = (place.get(cause) for place in (ANYWHERE, *(engine.errors for engine in ENGINES)))
        if any(re.search(pattern, said, re.DOTALL) for pattern in patterns if pattern):
            return cause.value
    return UNKNOWN
