"""The base class of everything that holds exact counts."""

from typing import NoReturn


class Secret:
    """A holder of exact counts: it shows nothing but its name, and cannot be pickled or copied."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> NoReturn:  # copying asks for this, too
        raise TypeError(
            f"{type(self).__name__} holds or leads to exact counts of records and cannot be pickled or copied"
        )
