"""Core: Python with every evaluation order explicit, as a small part of the standard `ast`.

In comes the tree of a function or class, out goes the same program in the forms that `verify` lists. Core prints as
Python, and the printed text run by CPython does what the source does.

    return [g(x) for x in xs if 0 < x < n]   -->   _t1 = []
                                                   for x_1 in xs:
                                                       if 0 < x_1 and x_1 < n:
                                                           _t1.append(g(x_1))
                                                   return _t1

Differences that remain: a function made from a lambda or comprehension is called `_t3` in tracebacks; the messages (not
the types) of a few errors, such as `*3` in a display; `with` looks up the special methods as the language reference
writes it, so an object without them raises AttributeError where some versions of CPython raise TypeError.
"""

from weft.plain.core.reduce import core_class, core_function, print_core
from weft.plain.core.refuse import NotCore
from weft.plain.core.verify import verify

__all__ = ["NotCore", "core_class", "core_function", "print_core", "verify"]
