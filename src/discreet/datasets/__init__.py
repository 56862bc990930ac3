"""The three tables of the paper's experiments, with schemas written by hand.

Each loader returns scikit-learn's ``Bunch``: ``data``, ``target``, ``frame``, ``schema``, ``DESCR``. With ``binary=True``
the columns are the exact Boolean features of the published experiments.
"""

from .loaders import load_adult, load_compas, load_german_credit

__all__ = ["load_adult", "load_compas", "load_german_credit"]
