"""Halves of a translation unit.  In: the functions of a kernel; out: the same as text that a compiler may take whole,
or in two parts side by side, on two processors: the compiler is most of the time that a first call takes.

    static void body_0(...) {...}       -->   SHARED void body_0(...);  #if K_PART != 2 ... body_0 ... #endif
    i64 kernel(...) {...}                     #if K_PART != 1 ... kernel ... #endif

Compiled whole, K_PART is not defined: both halves are there and SHARED is `static`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.codegen import syntax as C

#: The macro that tells which of the parts is compiled, from 1; not defined: both of them.
PART = "K_PART"
_SHARED = "k_shared"
_STATIC = "static void "
# Characters of the functions below which a second compiler costs more than it saves.
LEAST = 9000
# What takes a compiler as long as a loop: characters of the kernel, which calls and decides; those around the loops of
# a body are few, and count little.
LOOP = 1100
BODY = 0.2


def halves(parts: Sequence[C.TopLevel], kernel: C.Function) -> tuple[list[C.TopLevel], tuple[str, ...]]:
    """The structures, body functions and kernel of a unit, and the macro definitions that choose a part of it."""
    bodies = [part for part in parts if isinstance(part, C.Function)]
    sizes = {id(function): len(C.print_unit((function,))) for function in (*bodies, kernel)}
    # A variable, or a function of another kind, belongs to one part alone.
    plain = all(isinstance(part, C.Structure) for part in parts if not isinstance(part, C.Function))
    plain = plain and all(function.head.startswith(_STATIC) for function in bodies)
    if not bodies or not plain or sum(sizes.values()) < LEAST:
        return [*parts, kernel], ()
    times = {id(function): BODY * sizes[id(function)] + LOOP * _loops(function.body) for function in bodies}
    first, second = [0.0], [sizes[id(kernel)] + LOOP * float(_loops(kernel.body))]
    in_second: set[int] = set()
    for function in sorted(bodies, key=lambda function: -times[id(function)]):
        smaller = min(first, second, key=sum)
        smaller.append(times[id(function)])
        if smaller is second:
            in_second.add(id(function))
    if min(sum(first), sum(second)) * 8 < sum(first) + sum(second):
        return [*parts, kernel], ()
    shared = [_as_shared(function) for function in bodies]
    one = [new for old, new in zip(bodies, shared) if id(old) not in in_second]
    two = [new for old, new in zip(bodies, shared) if id(old) in in_second]
    hidden = f'#define {_SHARED} __attribute__((visibility("hidden")))'
    return [
        C.Text(f"#if {PART}\n{hidden}\n#else\n#define {_SHARED} static\n#endif"),
        *(part for part in parts if not isinstance(part, C.Function)),
        *(C.Text(function.head + ";") for function in shared),
        C.Text(f"#if {PART} != 2"),
        *one,
        C.Text(f"#endif\n#if {PART} != 1"),
        *two,
        kernel,
        C.Text("#endif"),
    ], (f"{PART}=1", f"{PART}=2")


def _as_shared(function: C.Function) -> C.Function:
    """A function that the other part may call."""
    return replace(function, head=f"{_SHARED} void {function.head[len(_STATIC) :]}")


def _loops(block: C.CBlock) -> int:
    """How many loops a block has, at any depth."""
    found = 0
    for node in block:
        if isinstance(node, (C.For, C.Forever, C.Scope)):
            found += (not isinstance(node, C.Scope)) + _loops(node.body)
        elif isinstance(node, C.IfElse):
            found += _loops(node.then) + _loops(node.otherwise)
    return found
