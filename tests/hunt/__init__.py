"""The hunt: random programs of what people write, run in every way that weft can run them, and compared with CPython.

`make hunt MINUTES=n`, or `python -m tests.hunt --help`.  A program (`case.py`) is text, so that it can be shrunk and
written down as a test; `grammar.py` writes it from a seed, `modes.py` runs it, `compare.py` says what differs,
`shrink.py` makes it small, `worker.py` does all this in a process that may crash, `__main__.py` watches the workers.
"""
