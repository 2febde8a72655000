"""Where the elements of a view lie.  In: an array that is a view of a buffer; out: its strides as polynomials in sizes,
and whether NumPy's reshape of it is a view or a copy.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.frontend import orders
from weft.frontend.arrays import unravelled
from weft.frontend.emit import Emitter
from weft.frontend.polynomials import Poly, poly, product
from weft.frontend.values import Array, Index
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Expr, Op, Var, integer
from weft.ir.index import affine
from weft.ir.program import Check, Layout, Role, is_list
from weft.ir.types import BOOL
from weft.records import dataclass


def strides(array: Array, emitter: Emitter) -> list[Poly] | None:
    """How far apart, in elements, the neighbours along each axis of a view are; None if that is not a fixed distance.

    A stride of an argument of any layout is a number of its own.
    """
    view = array.view
    if view is None:
        return None
    buffer = emitter.buffers[view.buffer]
    if buffer.role is not Role.PARAM and not orders.is_c(buffer.name, emitter):
        return None
    extents = [poly(emitter.spelled(extent)) for extent in buffer.shape]
    if buffer.role is Role.PARAM and buffer.layout is not Layout.STRIDED and not is_list(buffer):
        emitter.arranged.add(buffer.name)
    if buffer.layout is Layout.STRIDED:
        own = [poly(Var(f"{buffer.name}@{axis}")) for axis in range(buffer.rank)]
    elif buffer.layout is Layout.F:
        own = [product(extents[:axis]) for axis in range(buffer.rank)]
    else:
        own = [product(extents[axis + 1 :]) for axis in range(buffer.rank)]
    probes = tuple(Var(f"@{axis}") for axis in range(array.rank))
    names = {probe.name for probe in probes}
    steps = [_steps(part, names) for part in view.index(probes)]
    if any(found is None or len(found) > 1 for found in steps):
        return None
    result = []
    for probe in probes:
        total = Poly(())
        for found, stride in zip(steps, own):
            total = total + stride * poly(integer((found or {}).get(probe.name, 0)))
        result.append(total)
    return result


def _steps(part: Expr, names: set[str]) -> dict[str, int] | None:
    """How much an index moves with each of the variables `names`; None if not by a fixed step."""
    if not walk.free_vars(part) & names:
        return {}
    form = affine(part)
    if form is not None:
        return {name: c for name, c in form.terms if name in names}
    if not isinstance(part, Op) or part.op not in ("add", "sub"):
        return None
    left, right = (_steps(arg, names) for arg in part.args)
    if left is None or right is None:
        return None
    sign = 1 if part.op == "add" else -1
    return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {*left, *right}}


@dataclass(frozen=True)
class Group:
    """Axes of the old shape that hold the same elements as some axes of the new one."""

    old: tuple[int, ...]
    new: tuple[int, ...]


def groups(old: Sequence[Poly], new: Sequence[Poly]) -> list[Group]:
    """The finest parts in which the axes of two shapes of one size correspond, whatever the sizes."""
    result: list[Group] = []
    first_old, first_new = 0, 0
    o, n = [0] if old else [], [0] if new else []
    while first_old < len(old) and first_new < len(new):
        left, right = product([old[k] for k in o]), product([new[k] for k in n])
        if left == right:
            result.append(Group(tuple(o), tuple(n)))
            first_old, first_new = o[-1] + 1, n[-1] + 1
            o, n = [first_old], [first_new]
        elif left.divides(right) and o[-1] + 1 < len(old):
            o.append(o[-1] + 1)
        elif right.divides(left) and n[-1] + 1 < len(new):
            n.append(n[-1] + 1)
        else:
            break
    if first_old < len(old) or first_new < len(new):
        rest = Group(tuple(range(first_old, len(old))), tuple(range(first_new, len(new))))
        # What is left over are axes of length 1, or sizes that cannot be compared.
        if (rest.old and rest.new) or not result:
            result.append(rest)
        else:
            last = result.pop()
            result.append(Group(last.old + rest.old, last.new + rest.new))
    return result


def is_copied(array: Array, shape: Sequence[Expr], emitter: Emitter) -> bool | None:
    """Whether NumPy's reshape of a view copies; None if that depends on what only the run time knows."""
    apart = strides(array, emitter)
    if apart is None:
        return None
    kept = [k for k, extent in enumerate(array.shape) if extent != ONE]
    old = [poly(emitter.spelled(array.shape[k])) for k in kept]
    apart = [apart[k] for k in kept]
    new = [poly(emitter.spelled(extent)) for extent in shape if extent != ONE]
    copied: bool | None = False
    for group in groups(old, new):
        for k in group.old[:-1]:
            needed = old[k + 1] * apart[k + 1]
            if apart[k] == needed:
                continue
            if not _surely_apart(group, k, old, new, apart[k], needed, emitter):
                copied = None
                continue
            return True
    return copied


def _surely_apart(
    group: Group, k: int, old: Sequence[Poly], new: Sequence[Poly], stride: Poly, needed: Poly, emitter: Emitter
) -> bool:
    """Guards that the axes k and k + 1 must be merged by the reshape and cannot be: then it is a copy."""
    before = product([old[j] for j in group.old if j <= k])
    partial = [product([new[j] for j in group.new if j <= limit]) for limit in group.new[:-1]]
    unequal = [(stride, needed), *((before, other) for other in partial)]
    several = [old[j] for j in group.old]
    sample = emitter.sample
    for left, right in unequal:
        values = left.value(sample), right.value(sample)
        if None in values or values[0] == values[1]:
            return False
    if any((extent.value(sample) or 0) < 2 for extent in several):
        return False
    for left, right in unequal:
        test = Op("ne", (left.expression(), right.expression()), BOOL)
        if left.terms and right.terms and not _always(left, right):
            emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
    for extent in several:
        if extent.terms and extent.terms[0][0] and not emitter.assure(
            ix.sub(extent.expression(), integer(2)), "RuntimeError"
        ):
            return False
    return True


def is_contiguous(array: Array, emitter: Emitter) -> bool | None:
    """Whether the elements of a view lie one after the other, in C order; None if only the run time knows."""
    apart = strides(array, emitter)
    if apart is None:
        return None
    extents = [poly(emitter.spelled(extent)) for extent in array.shape]
    wrong = [
        k
        for k, extent in enumerate(array.shape)
        if extent != ONE and apart[k] != product(extents[k + 1 :])
    ]
    if not wrong:
        return True
    k = wrong[-1]
    values = apart[k].value(emitter.sample), product(extents[k + 1 :]).value(emitter.sample)
    if None in values or values[0] == values[1] or any((e.value(emitter.sample) or 0) < 2 for e in extents):
        return None
    if not all(emitter.assure(ix.sub(extent.expression(), integer(2)), "RuntimeError") for extent in extents):
        return None
    if not _always(apart[k], product(extents[k + 1 :])):
        test = Op("ne", (apart[k].expression(), product(extents[k + 1 :]).expression()), BOOL)
        emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
    return False


def _always(left: Poly, right: Poly) -> bool:
    """Whether two numbers differ whatever the sizes: by a constant."""
    delta = left + right * Poly((((), -1),))
    return len(delta.terms) == 1 and not delta.terms[0][0]


def redistributed(at: Index, new: tuple[Expr, ...], old: tuple[Expr, ...]) -> Index:
    """The index into `old` of the element at `at` in `new`, group by group of corresponding axes."""
    kept_old = [k for k, extent in enumerate(old) if extent != ONE]
    kept_new = [k for k, extent in enumerate(new) if extent != ONE]
    place: dict[int, Expr] = {}
    for group in groups([poly(old[k]) for k in kept_old], [poly(new[k]) for k in kept_new]):
        flat: Expr = ZERO
        for k in group.new:
            flat = ix.add(ix.mul(flat, new[kept_new[k]]), at[kept_new[k]])
        parts = unravelled(flat, tuple(old[kept_old[k]] for k in group.old))
        place |= {kept_old[k]: part for k, part in zip(group.old, parts)}
    return tuple(place.get(k, ZERO) for k in range(len(old)))

