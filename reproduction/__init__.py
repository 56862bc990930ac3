"""The paper's figures and tables again, with our learners in the same pictures: `python -m reproduction`.

Only the public names of the package are used here, so each module is also an example of how to use it. Drawing needs matplotlib:
``pip install 'discreet[experiments]'``.
"""
