"""What variants for Ray call, as text: arrays in blocks, tasks over tiles.  It needs NumPy, and Ray when it runs."""

from __future__ import annotations

RUNTIME = '''
#: Into how many tiles an axis is cut. Results depend on it in their last bits, and on nothing else of the cluster.
TILES = 8
_LO, _HI = "lo", "hi"
_COMBINE = {
    "add": np.add, "mul": np.multiply, "minimum": np.minimum, "maximum": np.maximum, "and": np.logical_and,
    "or": np.logical_or, "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor,
}


@functools.cache
def _ray():
    """Ray, connected: to the cluster that RAY_ADDRESS names, or to processes of this machine."""
    try:
        import ray
    except ImportError:
        raise GuardFailed from None
    if not ray.is_initialized():
        ray.init(address=os.environ.get("RAY_ADDRESS"), log_to_driver=False, include_dashboard=False)
    if __name__ in sys.modules:  # workers need not find this file
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return ray


class _Spread:
    """An array in blocks along one axis (None: in one piece), held by Ray; without blocks it is memory to come."""

    def __init__(self, shape, dtype, axis=None, blocks=(), zero=False, source=None):
        self.shape, self.dtype, self.axis, self.blocks = tuple(shape), np.dtype(dtype), axis, tuple(blocks)
        self.zero, self.source = zero, source

    @classmethod
    def of(cls, array):
        """An array of the caller's: it is sent when somebody asks, in the blocks of that step."""
        return cls(array.shape, array.dtype, source=array)

    def cut(self, axis):
        """Blocks (first, past, object) along an axis, or one block of all."""
        if not self.blocks:
            make = np.zeros if self.zero else np.empty
            source = make(self.shape, self.dtype) if self.source is None else self.source
            extent = 0 if axis is None else self.shape[axis]
            bounds = [(0, 0)] if axis is None else _blocks(extent)
            parts = [source if axis is None else _along(source, axis, *ends) for ends in bounds]
            put = _ray().put
            self.axis = axis
            self.blocks = tuple((*ends, put(np.ascontiguousarray(part))) for ends, part in zip(bounds, parts))
            self.source = None
        if self.axis is not None and self.axis != axis:
            whole = _ray().remote(_joined).remote(self.axis, *(block[2] for block in self.blocks))
            return ((0, 0, whole),)
        return self.blocks

    def here(self):
        """As one array of NumPy's."""
        if self.source is not None:
            return np.array(self.source)
        if not self.blocks:
            return (np.zeros if self.zero else np.empty)(self.shape, self.dtype)
        parts = _ray().get([block[2] for block in self.blocks])
        return np.array(parts[0]) if self.axis is None else np.concatenate(parts, self.axis)


def _blocks(extent):
    size = max(-(-extent // TILES), 1)
    return [(first, min(first + size, extent)) for first in range(0, extent, size)] or [(0, 0)]


def _along(array, axis, first, past):
    return array[(slice(None),) * axis + (slice(first, past),)]


def _joined(axis, *parts):
    return np.concatenate(parts, axis)


def _part(spread, axis, below, above, clipped=False):
    """The elements lo + below .. hi + above of an axis."""
    return ("part", spread, axis, below, above, clipped)


def _start(place):
    """The position of the first element of the argument at a place."""
    return ("start", place)


def _own(spread, axis):
    """The tile's own elements, which it gives; what it does not write stays."""
    return ("own", spread, axis)


def _all(spread, changed=False):
    return ("all", spread, changed)


def _share(spread, op):
    """An array of the tile's results, which are combined with those of others."""
    return ("share", spread, op)


def _task(function, lo, hi, block, arguments, count, *objects):
    """One tile: what it asks for, cut out of the objects that came; its blocks, shares and numbers."""
    filled, given = [], []
    starts = {}
    for place, argument in enumerate(arguments):
        kind = argument[0] if isinstance(argument, tuple) else None
        if kind == "part":
            _, axis, first, past, pieces = argument
            cut = [_along(objects[at], axis, low, high) for at, low, high in pieces]
            filled.append(cut[0] if len(cut) == 1 else np.concatenate(cut, axis))
            starts[place] = first
        elif kind == "own":
            _, axis, shape, dtype, zero, pieces = argument
            made = (np.zeros if zero else np.empty)(shape, dtype)
            for at, low, high, to in pieces:
                _along(made, axis, to, to + high - low)[...] = _along(objects[at], axis, low, high)
            given.append(made)
            filled.append(_along(made, axis, lo - block, hi - block))
        elif kind == "all":
            _, at, shape, dtype, zero, changed = argument
            if at is None:
                filled.append((np.zeros if zero else np.empty)(shape, dtype))
            else:
                filled.append(np.array(objects[at]) if changed else objects[at])
            if changed:
                given.append(filled[-1])
        elif kind == "share":
            given.append(np.empty(argument[1], argument[2]))
            filled.append(given[-1])
        elif kind == "object":
            filled.append(objects[argument[1]])
        else:
            filled.append({"lo": lo, "hi": hi}.get(argument, argument) if isinstance(argument, str) else argument)
    for place, argument in enumerate(arguments):
        if isinstance(argument, tuple) and argument[0] == "start":
            filled[place] = starts[argument[1]]
    with np.errstate(all="ignore"):
        numbers = function(*filled)
    found = [*given, *(numbers if count else ()), None]
    return found[0] if len(found) == 1 else tuple(found)


def _cut(spread, axis, first, past, objects):
    """Which part of which object holds these elements: (object, low, high, position from `first` on)."""
    pieces = []
    blocks = spread.cut(axis)
    if spread.axis is None or (len(blocks) == 1 and blocks[0][:2] == (0, 0)):
        objects.append(blocks[0][2])
        return [(len(objects) - 1, first, past, 0)]
    for low, high, block in blocks:
        if max(low, first) < min(high, past):
            objects.append(block)
            pieces.append((len(objects) - 1, max(low, first) - low, min(high, past) - low, max(low, first) - first))
    if not pieces:
        objects.append(blocks[0][2])
        pieces.append((len(objects) - 1, 0, 0, 0))
    return pieces


def _described(argument, lo, hi, block, objects):
    """An argument as a task takes it: what it needs of arrays is among its objects."""
    kind = argument[0] if isinstance(argument, tuple) else None
    if kind == "part":
        _, spread, axis, below, above, clipped = argument
        first, past = (lo + below, hi + above) if lo < hi else (0, 0)
        if clipped:
            first, past = max(first, 0), min(past, spread.shape[axis])
        pieces = _cut(spread, axis, first, past, objects)
        return ("part", axis, first, past, [piece[:3] for piece in pieces])
    if kind == "own":
        _, spread, axis = argument
        shape = (*spread.shape[:axis], block[1] - block[0], *spread.shape[axis + 1 :])
        fresh = not spread.blocks and spread.source is None
        pieces = [] if fresh else _cut(spread, axis, *block, objects)
        return ("own", axis, shape, spread.dtype, spread.zero and fresh, pieces)
    if kind == "all":
        _, spread, changed = argument
        if not spread.blocks and spread.source is None:
            return ("all", None, spread.shape, spread.dtype, spread.zero, changed)
        objects.append(spread.cut(None)[0][2])
        return ("all", len(objects) - 1, spread.shape, spread.dtype, False, changed)
    if kind == "share":
        return ("share", argument[1].shape, argument[1].dtype)
    if isinstance(argument, _ray().ObjectRef):
        objects.append(argument)
        return ("object", len(objects) - 1)
    return argument


def _tiles(function, extent, ends, ops, done, *arguments):
    """A task for each tile of an axis; the arrays and numbers that all of them give."""
    ray = _ray()
    outputs = [argument for argument in arguments if isinstance(argument, tuple) and argument[0] in ("own", "share")]
    count = len(outputs) + len(ops)
    rows = []
    for block in _blocks(extent):
        lo, hi = max(ends[0], block[0]), min(ends[1], block[1])
        lo, hi = (lo, hi) if lo < hi else (block[0], block[0])
        objects = []
        asked = [_described(argument, lo, hi, block, objects) for argument in arguments]
        task = ray.remote(_task).options(num_returns=count + 1)
        found = task.remote(function, lo, hi, block[0], asked, len(ops), *objects)
        found = found if isinstance(found, list) else [found]
        done.append(found[-1])
        rows.append((block, found[:-1]))
    results = []
    for at, argument in enumerate(outputs):
        column = [(*block, found[at]) for block, found in rows]
        if argument[0] == "own":
            results.append(_Spread(argument[1].shape, argument[1].dtype, argument[2], column))
        else:
            one = _combined(argument[2], [block[2] for block in column])
            results.append(_Spread(argument[1].shape, argument[1].dtype, None, ((0, 0, one),)))
    results += [_combined(op, [found[len(outputs) + at] for _, found in rows]) for at, op in enumerate(ops)]
    return results[0] if len(results) == 1 else results


def _reduced(op, *shares):
    level = list(shares)
    while len(level) > 1:  # neighbours first: a tree of fixed form
        pairs = [_COMBINE[op](*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def _combined(op, shares):
    return shares[0] if len(shares) == 1 else _ray().remote(_reduced).remote(op, *shares)


def _once(function, count, done, *arguments):
    """Statements at one place; the arrays and numbers that they give. Numbers of numbers are computed here."""
    whole = [argument for argument in arguments if isinstance(argument, tuple) and argument[0] == "all"]
    changed = [argument for argument in whole if argument[2]]
    ray = _ray()
    if not any(isinstance(argument, (tuple, ray.ObjectRef)) for argument in arguments):
        with np.errstate(all="ignore"):
            numbers = function(*arguments)
        return numbers[0] if count == 1 else numbers
    objects = []
    asked = [_described(argument, 0, 0, (0, 0), objects) for argument in arguments]
    task = ray.remote(_task).options(num_returns=len(changed) + count + 1)
    found = task.remote(function, 0, 0, 0, asked, count, *objects)
    found = found if isinstance(found, list) else [found]
    done.append(found.pop())
    results = [_Spread(a[1].shape, a[1].dtype, None, ((0, 0, one),)) for a, one in zip(changed, found)]
    results += found[len(changed) :]
    return results[0] if len(results) == 1 else results


def _known(number):
    """A number that may still be on its way."""
    return _ray().get(number) if isinstance(number, _ray().ObjectRef) else number


def _settled(done):
    """Wait for all tasks: what one of them has raised, the function as written will raise."""
    _ray().get(done)
'''
