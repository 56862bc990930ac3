"""The release bundle: a folder with a model and its documents, and the checks of a folder that was received. Reads no records."""
