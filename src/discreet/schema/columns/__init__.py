"""What is public about one column: numbers, dates, categories, truth values, or nothing that a rule may use.

To add a kind of column, write a class beside these, and name it in ``KINDS`` below: schema files, candidates, engines, exports,
checks and reports take it from there (tests/schema/test_a_new_kind.py adds two). It tests values by operators that rules have
already (``NEGATION``), and these fix what it can compare with: ``<=``, ``<``, ``>=`` and ``>`` take a number or a day, ``in`` two
numbers, ``=`` and ``!=`` a string or an integer, ``is true`` and ``is missing`` nothing.
"""

from .base import NEGATION as NEGATION
from .base import Column as Column
from .base import ColumnTest as ColumnTest
from .base import Value as Value
from .base import listed as listed
from .categorical import Boolean as Boolean
from .categorical import Categorical as Categorical
from .categorical import Ignored as Ignored
from .dates import Date as Date
from .numeric import Numeric as Numeric
from .values import canonical as canonical
from .values import is_missing as is_missing

# By the type that a schema file calls them. Where a value would do for several, the last one is what it looks like.
KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numeric, Categorical, Boolean, Ignored, Date)}
