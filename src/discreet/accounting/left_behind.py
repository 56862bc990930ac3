"""What a pickled classifier has instead of its ledger in memory."""

from .entries import Booked, LedgerSnapshot


class LedgerLeftBehind:
    """It says what was spent when the classifier was pickled, and lets nothing be spent."""

    def __init__(self, spent: LedgerSnapshot) -> None:
        self._spent = spent

    def snapshot(self, booked: Booked | None = None) -> LedgerSnapshot:
        """What the ledger said when the classifier was pickled."""
        return self._spent
