"""How what was found is shown: as tables, as pictures, as pages, and on a terminal.

Nothing that finds something imports this package. Tables need no pictures; pictures, which take long to load, are
imported by pages alone.
"""
