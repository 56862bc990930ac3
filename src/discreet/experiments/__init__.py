"""The paper's experiments again: from one table with a row per fit to figures, tables and a page.

Drawing needs matplotlib: ``pip install 'discreet[experiments]'``. Nothing here is imported by the rest of the package.
"""
