"""The errors a user can meet. Their messages name a parameter or a column and the fix, never a record's value."""


class SchemaError(ValueError):
    """A schema, or a table that does not fit its schema."""


class RuleError(ValueError):
    """A literal, rule or rule list that cannot be read, or does not fit its schema."""


class CandidatesError(ValueError):
    """A candidate set that is empty or too large."""


class PrivacyWarning(UserWarning):
    """A private learner was asked for something about which nothing is proved. It depends on parameters alone."""
