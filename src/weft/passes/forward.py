"""Forward: temporaries disappear into their readers.  In: statements in order; out: fewer, and nothing computed twice.

    t[i] = a[i] * b[i];  s = sum[k] t[k]         -->   s = sum[k] a[k] * b[k]
    c[i] = 0.0;  c[i] = c[i] + sum[k] f(i, k)    -->   c[i] = 0.0 + sum[k] f(i, k)

A producer moves into its readers when it writes every element they read, nothing it reads changes in between, and no
work is repeated: each element is read once, or costs next to nothing.  A reduction never moves into a larger domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace

from weft.analysis.effects import Liveness, flops, operation_cost, result_buffers
from weft.analysis.facts import Facts, entry_facts
from weft.analysis.scopes import lasting_writes
from weft.ir import domain
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars
from weft.ir.index import Affine, affine, difference, sub
from weft.ir.program import (
    Alloc,
    Block,
    Buffer,
    Call,
    Check,
    If,
    Library,
    Loop,
    Node,
    Program,
    Rebind,
    Return,
    Role,
    Stmt,
    While,
)
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    children,
    dim_children,
    domain_buffers,
    expr_buffers,
    expr_size,
    free_vars,
    has_exit,
    is_repeatable,
    levels,
    map_node_exprs,
    map_sub_blocks,
    node_exprs,
    reads,
    rewrite,
    structure,
    sub_blocks,
    subexpressions,
    substitute,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.simplifying import deadcode
from weft.passes.simplifying.algebra import as_type
from weft.records import dataclass

_NAME = "forward"
_CHEAP_OPERATIONS = 2
_DEAR = 12  # cycles of an element
_CHEAP_READS = 2
_LARGE = 400  # parts of a value that moves no further: the statements left behind share loops anyway
_REACH = 400  # nodes behind a producer that are looked at: a long function takes time in proportion to its length
_NEAR = 8  # of them where a literal is looked for in parts of an array
_BACK = 4  # nodes before a producer that has moved that are looked at again
_CHEAP_INDEX = (16, 6)  # operations and reads of an index computation: repeated, it is found again by the C compiler


@declared("forward", after=("raise", "common"), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Producers into readers, in every block, inner blocks first; then what nobody reads any more goes."""
    forwarder = Forwarder(program, Liveness(program), separates=context.directives.separates)
    body = forwarder.all_blocks(program.body, entry_facts(program))
    if forwarder.count:
        context.done(_NAME, f"{forwarder.count} temporaries moved into their readers", program.span)
    if body is program.body:
        return program
    return deadcode.remove(with_disjoint(replace(program, body=body), forwarder.disjoint))


def with_disjoint(program: Program, pairs: set[tuple[str, str]]) -> Program:
    """A program that also assumes these pairs of parameter arrays not to share memory."""
    known = {frozenset(pair) for pair in program.disjoint}
    new = sorted(pair for pair in pairs if frozenset(pair) not in known)
    unique = {frozenset(pair): pair for pair in reversed(new)}
    return replace(program, disjoint=program.disjoint + tuple(sorted(unique.values()))) if new else program


@dataclass(frozen=True)
class _Producer:
    """`buffer[index] = value` over a domain, whose dims can be solved for from an index: dim = position - offset."""

    stmt: Stmt
    positions: dict[str, tuple[int, int]]  # dimension -> (position in the index, offset)
    inputs: frozenset[str]
    level: CompressedDim | None = None  # it writes one value for each entry of a compressed array


@dataclass(frozen=True)
class _Site:
    """One read of the temporary: the dimensions around it inside the consumer, and what the place is like."""

    read: Read
    dims: tuple[AnyDim, ...]
    in_reduce: bool
    in_sum: bool  # also in a sum: its terms are most often products
    in_index: bool
    repeated: bool  # inside a loop whose iterations have no variable: every evaluation is a repetition
    term: Expr | None = None  # the term of the innermost reduction around it


def producer_of(node: Node) -> _Producer | None:
    """The node as a producer, if its target index is its own dimensions, each once, plus constants."""
    if not isinstance(node, Stmt) or node.reduce is not None:
        return None
    inputs = frozenset(expr_buffers(node.value) | domain_buffers(node.domain))
    level = _entries_of(node)
    if level is not None:
        return _Producer(node, {}, inputs, level)
    own = set(dim_vars(node.domain))
    positions: dict[str, tuple[int, int]] = {}
    for place, part in enumerate(node.index):
        form = affine(part)
        if form is None:
            return None
        mine = form.names & own
        if not mine:
            continue
        if len(form.terms) != 1 or form.terms[0][1] != 1 or form.terms[0][0] in positions:
            return None
        positions[form.terms[0][0]] = (place, form.constant)
    if set(positions) != own or any(not isinstance(dim, Dim) or dim.step != 1 for dim in node.domain):
        return None
    return _Producer(node, positions, inputs)


def _entries_of(stmt: Stmt) -> CompressedDim | None:
    """The level of which a statement sets one element an entry: x[p] = ... for i, j(p): csr(...)[i]."""
    if len(stmt.domain) != 2:
        return None
    row, level = stmt.domain
    if not isinstance(level, CompressedDim):
        return None
    return level if level.parent == Var(row.var) and stmt.index == (Var(level.position),) else None


def is_cheap(expr: Expr, index: bool = False) -> bool:
    """Whether computing the value again costs no more than fetching it."""
    operations = reads = 0
    for part in _outside_indices(expr):
        if isinstance(part, Reduce):
            return False
        if isinstance(part, Op):
            operations += operation_cost(part)
        elif isinstance(part, Read):
            reads += 1 + sum(isinstance(e, Read) for index in part.index for e in subexpressions(index))
    limits = _CHEAP_INDEX if index else (_CHEAP_OPERATIONS, _CHEAP_READS)
    return operations <= limits[0] and reads <= limits[1]


def _is_index(stmt: Stmt) -> bool:
    """Whether a statement sets an integer variable: most likely an index, which is worth knowing where it is used."""
    return not stmt.index and stmt.value.type.dtype.is_integer


def _outside_indices(expr: Expr) -> Iterator[Expr]:
    stack = [expr]
    while stack:
        part = stack.pop()
        yield part
        if not isinstance(part, Read):
            stack.extend(reversed(children(part)))


def sites_in(node: Node, buffer: str, dims: tuple[AnyDim, ...] = (), repeated: bool = False) -> Iterator[_Site]:
    """Every read of a buffer in a node, nested blocks included."""

    terms: Expr | None = None

    def visit(expr: Expr, around: tuple[AnyDim, ...], within: frozenset[str], in_index: bool) -> Iterator[_Site]:
        nonlocal terms
        if isinstance(expr, Read):
            if expr.buffer == buffer:
                yield _Site(expr, around, bool(within), "add" in within, in_index, repeated, terms)
            for part in expr.index:
                yield from visit(part, around, within, True)
        elif isinstance(expr, Reduce):
            yield from over(expr.dims, around, within)
            outer, terms = terms, expr.value
            yield from visit(expr.value, around + expr.dims, within | {expr.op}, in_index)
            terms = outer
        else:
            for child in children(expr):
                yield from visit(child, around, within, in_index)

    def over(domain: Domain, around: tuple[AnyDim, ...], within: frozenset[str]) -> Iterator[_Site]:
        for position, dim in enumerate(domain):
            for bound in dim_children(dim):
                yield from visit(bound, around + domain[:position], within, True)

    none: frozenset[str] = frozenset()
    if isinstance(node, Stmt):
        yield from over(node.domain, dims, none)
        inner = dims + node.domain
        for part in node.index:
            yield from visit(part, inner, none, True)
        yield from visit(node.value, inner, none, False)
    elif isinstance(node, Check):
        yield from over(node.domain, dims, none)
        for part in (node.condition, *node.values):
            yield from visit(part, dims + node.domain, none, False)
    elif isinstance(node, Loop):
        yield from over((node.dim,), dims, none)
        for inner_node in node.body:
            yield from sites_in(inner_node, buffer, dims + (node.dim,), repeated)
    elif isinstance(node, (If, While)):
        again = repeated or isinstance(node, While)
        for site in visit(node.condition, dims, none, False):
            yield replace(site, repeated=again)
        for block in sub_blocks(node):
            for inner_node in block:
                yield from sites_in(inner_node, buffer, dims, again)


def _takes_array(node: Node, buffer: str) -> bool:
    """Whether something in a node reads a buffer as a whole, so that no value can stand in its place."""
    if any(isinstance(n, (Call, Library, Rebind)) and buffer in buffers_read(n) for n in walk((node,))):
        return True
    return buffer in structure((node,))


def _looks_for_place(node: Node, buffer: str) -> bool:
    """Whether an arg-reduction compares elements of a buffer with the best of them: they must be computed once."""
    return any(
        isinstance(part, Reduce) and part.op in ("argmin", "argmax") and buffer in expr_buffers(part.value)
        for inner in walk((node,))
        for expr in node_exprs(inner)
        for part in subexpressions(expr)
    )


def better_apart(stmt: Stmt, reader: Node) -> bool:
    """Whether a statement is better off in vectors of its own than inside a loop of single elements that wait for each
    other: it does more than a trip through memory takes."""
    if len(stmt.domain) != 1 or not isinstance(reader, Loop) or not _DEAR <= flops(stmt.value) < 1000:
        return False
    return all(isinstance(node, Stmt) and not node.domain for node in reader.body)


def hides_factor(site: _Site, stmt: Stmt) -> bool:
    """Whether a temporary is a number times an array, and each term of the sum that reads it fetches an element of some
    other array that no other term fetches.

    Such a sum takes as long as that array takes to come from memory: one multiplication more for each term is done
    meanwhile, and the temporary need not be written and read.  In a product of matrices every element is used by many
    terms, and the multiplication would be repeated for all of them.
    """
    value = stmt.value
    if not stmt.index or len(site.dims) < 2 or site.term is None or not isinstance(value, Op):
        return False
    if any(not isinstance(dim, Dim) or expr_buffers(bound) for dim in site.dims for bound in dim_children(dim)):
        return False
    arrays = [part for part in value.args if isinstance(part, Read) and part.index]
    if any(affine(place) is None for part in arrays for place in part.index):
        return False
    numbers = [part for part in value.args if not any(read.index for read in reads(part))]
    if value.op != "mul" or len(arrays) != 1 or len(numbers) != 1:
        return False
    return any(_each_once(read, site.dims) for read in reads(site.term) if read.buffer != site.read.buffer)


def _each_once(read: Read, dims: tuple[AnyDim, ...]) -> bool:
    """Whether every point of a domain reads an element of its own: each dimension is alone in some axis."""
    around = set(dim_vars(dims))
    alone: set[str] = set()
    for part in read.index:
        form = affine(part)
        mine = set() if form is None else form.names & around
        if len(mine) == 1:
            alone |= mine
    return alone == around


def worth_knowing(stmt: Stmt) -> bool:
    """Whether readers better use what a statement writes even where the variable or array itself must stay: a literal,
    or an array's element that is the value of a variable."""
    value = stmt.value
    if isinstance(value, Read):
        return not value.index and bool(stmt.index) and not stmt.domain
    return isinstance(value, (Const, Var)) and not (stmt.domain and free_vars(value))


def repeats_work(site: _Site, producer: _Producer) -> bool:
    """Whether some element of the temporary is read at more than one point around the site."""
    if site.repeated:
        return True
    around = set(dim_vars(site.dims))
    alone: set[str] = set()
    for part in site.read.index:
        form = affine(part)
        if form is None:
            continue
        mine = [name for name, _ in form.terms if name in around]
        if len(mine) == 1:
            alone.add(mine[0])
    for dim in site.dims:  # an entry has one place in its row, and the place one entry
        if isinstance(dim, CompressedDim) and dim.position in alone:
            alone |= {dim.var, *free_vars(dim.parent)}
        elif isinstance(dim, CompressedDim) and dim.var in alone:
            alone.add(dim.position)
    if not around <= alone:
        return True
    has_reduce = any(isinstance(e, Reduce) for e in subexpressions(producer.stmt.value))
    return has_reduce and (site.in_reduce or site.in_index)


def is_fetch(expr: Expr) -> bool:
    """Whether a value is an element of another array, perhaps at a place that is read from a third one."""
    reads = {part for part in subexpressions(expr) if isinstance(part, Read)}
    return len(reads) <= _CHEAP_READS and not any(isinstance(part, (Op, Reduce)) for part in _outside_indices(expr))


def fetched_once(site: _Site) -> bool:
    """Whether elements are, as a rule, read once around a site: in the rows of a compressed array, whose bounds are
    read for each row, and at the places where such rows begin.
    """
    if site.repeated:
        return False
    covered: set[str] = set()
    for part in site.read.index:
        while isinstance(part, Cast):
            part = part.value
        if isinstance(part, Read) and len(part.index) == 1:
            part = part.index[0]
        form = affine(part)
        if form is not None and len(form.terms) == 1:
            covered.add(form.terms[0][0])
    for dim in site.dims:
        if isinstance(dim, Dim) and dim.var in covered:
            covered |= _read_with(dim.lo) & _read_with(dim.hi)
    return set(dim_vars(site.dims)) <= covered


def _read_with(bound: Expr) -> set[str]:
    """The variables that tell where the memory is read that a bound depends on."""
    return {name for part in subexpressions(bound) if isinstance(part, Read) for name in free_vars(part)}


def entry_read(read: Read, producer: _Producer, around: Iterable[AnyDim]) -> CompressedDim | None:
    """The level of the reader, if it is the producer's and the read is of the entry at hand."""
    own = producer.level
    for dim in around:
        if isinstance(dim, CompressedDim) and own is not None and read.index == (Var(dim.position),):
            return dim if (dim.pointer, dim.coordinate) == (own.pointer, own.coordinate) else None
    return None


def solved(read: Read, producer: _Producer, around: Iterable[AnyDim]) -> dict[str, Expr]:
    """The producer's dimensions at the point that wrote the element read."""
    if producer.level is not None:
        own, here = producer.level, entry_read(read, producer, around)
        assert here is not None
        return {own.position: Var(here.position), own.var: Var(here.var), producer.stmt.domain[0].var: here.parent}
    return {
        name: sub(read.index[place], Const(offset, Var(name).type))
        for name, (place, offset) in producer.positions.items()
    }


def uncovered(site: _Site, producer: _Producer, shape: tuple[Expr, ...], facts: Facts) -> bool:
    """Whether the read may see an element that the producer did not write."""
    if producer.level is not None:
        return entry_read(site.read, producer, site.dims) is None
    values = solved(site.read, producer, site.dims)
    inside: Facts | None = None
    placed = {place for place, _ in producer.positions.values()}
    for place, part in enumerate(producer.stmt.index):
        only_one = affine(shape[place]) == Affine((), 1)
        if place not in placed and not only_one and difference(site.read.index[place], part) != 0:
            return True
    for dim in producer.stmt.domain:
        assert isinstance(dim, Dim)
        place, offset = producer.positions[dim.var]
        low, high = affine(dim.lo), difference(shape[place], dim.hi)
        if low == Affine((), -offset) and high == offset:
            continue  # the whole extent, and reads are in bounds
        if inside is None:
            inside = facts.with_domain(site.dims)
        value = inside.linear(values[dim.var])
        lo, hi = inside.linear(substitute(dim.lo, values)), inside.linear(substitute(dim.hi, values))
        if value is None or lo is None or hi is None:
            return True
        if not (inside.prove(value - lo) and inside.prove(hi - Affine((), 1) - value)):
            return True
    return False


def misses(site: _Site, producer: _Producer, facts: Facts) -> bool:
    """Whether the read certainly sees an element other than the only one that the producer writes."""
    if producer.stmt.domain:
        return False
    inside = facts.with_domain(site.dims)
    for part, wanted in zip(producer.stmt.index, site.read.index):
        left, right = inside.linear(part), inside.linear(wanted)
        if left is None or right is None:
            continue
        delta, one = left - right, Affine((), 1)
        if inside.prove(delta - one) or inside.prove(delta.scaled(-1) - one):
            return True
    return False


def _last_writer(nodes: list[Node], position: int, inputs: frozenset[str]) -> int:
    """Where to go on once the producer at a position has moved: a little before it, at the one whose value it read.

    c = f(c); t = c; c = g(t)   -->   c = f(c); c = g(c)   -->   c = g(f(c))
    """
    for place in range(position - 1, max(position - 1 - _BACK, -1), -1):
        node = nodes[place]
        if isinstance(node, Stmt) and node.buffer in inputs:
            return place
    return position


def overwrites(later: Node, producer: _Producer) -> bool:
    """Whether a node certainly writes every element again that the producer wrote."""
    stmt = producer.stmt
    if isinstance(later, Alloc):
        return later.buffer == stmt.buffer
    if not isinstance(later, Stmt) or later.buffer != stmt.buffer or later.reduce is not None:
        return False
    if len(later.domain) != len(stmt.domain):
        return False
    names: dict[str, Expr] = {}
    for old, new in zip(stmt.domain, later.domain):
        if not isinstance(old, Dim) or not isinstance(new, Dim) or old.step != new.step:
            return False
        if substitute(old.lo, names) != new.lo or substitute(old.hi, names) != new.hi:
            return False
        names[old.var] = Var(new.var)
    if domain_buffers(stmt.domain):
        return False
    return tuple(substitute(part, names) for part in stmt.index) == later.index


@dataclass
class Forwarder:
    """One program's forwarding; `disjoint` collects the pairs of parameters whose independence it relied on.

    `repeat_indices`: a computed index moves to all its readers, so that they can be compared and tested beforehand.
    """

    program: Program
    live: Liveness
    repeat_indices: bool = False
    separates: Callable[[int, int], bool] = lambda first, second: False  # whether the loops of two lines stay apart
    count: int = 0
    disjoint: set[tuple[str, str]] = field(default_factory=set)
    fresh: dict[str, tuple[Expr, ...]] = field(default_factory=dict)  # buffers newer than the program: their shapes

    def __post_init__(self) -> None:
        table = self.program.table
        self._arrays = frozenset(b.name for b in self.program.buffers if b.role is Role.PARAM and b.rank > 0)
        # A scalar that is the size of an array must stay: its Alloc reads it.
        self._sizes = {b.name: frozenset[str]().union(*map(expr_buffers, b.shape)) for b in self.program.buffers}
        sizes = frozenset[str]().union(*self._sizes.values())
        self._locals = {name for name, buffer in table.items() if buffer.role is Role.LOCAL} - sizes
        # What an exception shows to the caller; nothing, where plain Python repeats the call and raises.
        self._shown = {name for name in table if name not in self._locals} if lasting_writes(self.program) else set()

    def add_local(self, buffer: Buffer) -> None:
        """A buffer made by the pass that uses this forwarder."""
        self._locals.add(buffer.name)
        self.fresh[buffer.name] = buffer.shape

    def shape(self, name: str) -> tuple[Expr, ...]:
        return self.fresh[name] if name in self.fresh else self.program.table[name].shape

    def all_blocks(self, block: Block, facts: Facts) -> Block:
        """Inner blocks first, then the block itself."""
        if not block:
            return block
        live_out = self.live.live_after(block[-1])

        def visit(node: Node) -> Node:
            inner = facts.with_dim(node.dim) if isinstance(node, Loop) else facts
            return map_sub_blocks(node, lambda b: self.all_blocks(b, inner))

        new = tuple(visit(node) for node in block)
        block = block if all(a is b for a, b in zip(new, block)) else new
        return self.block(block, live_out, facts)

    def block(self, block: Block, live_out: frozenset[str], facts: Facts) -> Block:
        """The nodes of one block, in order: each producer into the nodes behind it."""
        nodes: list[Node] = list(block)
        position = 0
        while position < len(nodes):
            producer = producer_of(nodes[position])
            movable = producer is not None and expr_size(producer.stmt.value) <= _LARGE
            if producer is None or not movable or not self._try(producer, nodes, position, live_out, facts):
                position += 1
            else:
                position = _last_writer(nodes, position, producer.inputs)
        same = len(nodes) == len(block) and all(a is b for a, b in zip(nodes, block))
        return block if same else tuple(nodes)

    def _try(
        self, producer: _Producer, nodes: list[Node], position: int, live_out: frozenset[str], facts: Facts
    ) -> bool:
        """Moves the producer at `position` into its readers and deletes it; False (and maybe literals moved) if not."""
        target = producer.stmt.buffer
        value = producer.stmt.value
        own_input = target in producer.inputs
        readers: list[int] = []
        sites: list[_Site] = []
        elsewhere: set[Read] = set()
        changed: set[str] = set()
        touched: set[str] = set()
        finished = False
        legal = True
        sized = False  # an array gets its size from it
        for place in range(position + 1, len(nodes)):
            if place - position > _REACH:
                legal = False
                break
            node = nodes[place]
            killing = overwrites(node, producer)
            reads, writes = buffers_read(node), buffers_written(node)
            if self._escapes(target, node, live_out):
                legal = False
                break
            if target in reads:
                found = list(sites_in(node, target))
                missing = [site for site in found if misses(site, producer, facts)]
                elsewhere |= {site.read for site in missing}
                found = [site for site in found if site.read not in elsewhere]
                why_not = own_input and bool(found) and not (killing and not readers)
                why_not = why_not or bool(producer.inputs & changed)
                why_not = why_not or (not isinstance(node, Stmt) and bool((producer.inputs | {target}) & writes))
                why_not = why_not or _takes_array(node, target)
                why_not = why_not or self._apart(producer.stmt, node)
                why_not = why_not or better_apart(producer.stmt, node)
                why_not = why_not or (not is_repeatable(producer.stmt.value) and _looks_for_place(node, target))
                why_not = why_not or (isinstance(node, Stmt) and node.reduce is not None and node.buffer == target)
                why_not = why_not or any(uncovered(site, producer, self.shape(target), facts) for site in found)
                if why_not:
                    legal = False
                    break
                readers += [place] if found else []
                sites += found
            touched |= (reads | writes) - {target}
            sized = sized or self._sizes_one(target, node)
            if killing:
                finished = True
                break
            if target in writes:
                legal = False
                break
            changed |= writes
        else:
            finished = target in self._locals and target not in live_out
        cheap = is_cheap(value, self.repeat_indices and _is_index(producer.stmt))
        # A sum of products wants its operands as arrays: even one operation more in it is done for every product.
        # A part of an index that is affine takes no operation at all.
        free = affine(value) is not None
        scalar = not producer.stmt.index
        terms = [site for site in sites if site.in_reduce and not (free and site.in_index)]
        terms = [site for site in terms if site.in_sum or not scalar]  # C computes what is fixed before a loop
        terms = [site for site in terms if repeats_work(site, producer) and not hides_factor(site, producer.stmt)]
        if cheap and terms:
            cheap = not any(isinstance(part, Op) for part in _outside_indices(value))
        profitable = cheap or (len(sites) == 1 and not repeats_work(sites[0], producer))
        profitable = profitable or (is_fetch(value) and all(map(fetched_once, sites)))
        if legal and finished and readers and profitable and not sized:
            self._assume(producer, changed, touched)
            for place in readers:
                nodes[place] = self._replaced(nodes[place], producer, elsewhere)
            del nodes[position]
            self.count += 1
            return True
        if not own_input and worth_knowing(producer.stmt):
            if readers and target in self._arrays:
                self.disjoint |= {(target, other) for other in changed & self._arrays if other != target}
            for place in readers:
                nodes[place] = self._replaced(nodes[place], producer, elsewhere)
            if isinstance(value, Const) and producer.stmt.domain and target not in self._arrays:
                self._known_beyond(producer, nodes, position, facts)
        return False

    def _known_beyond(self, producer: _Producer, nodes: list[Node], position: int, facts: Facts) -> None:
        """A literal in the elements of an array that the next statements leave alone: c[i, j] = 0; c[i, i] = 1; and
        then c[i, j] = c[i, j] + f(i, j) for j > i reads zeros."""
        target = producer.stmt.buffer
        writers: list[domain.Access] = []
        for place in range(position + 1, min(position + 1 + _NEAR, len(nodes))):
            node = nodes[place]
            if target not in buffers_read(node) | buffers_written(node):
                continue
            if not isinstance(node, Stmt) or node.reduce is not None or overwrites(node, producer):
                return
            sites = list(sites_in(node, target))
            others = {
                site.read
                for site in sites
                if uncovered(site, producer, self.shape(target), facts)
                or any(domain.overlaps(domain.Access(site.dims, site.read.index), writer) for writer in writers)
            }
            if any(site.read not in others for site in sites):
                nodes[place] = self._replaced(node, producer, others)
            if node.buffer == target:
                writers.append(domain.Access(node.domain, node.index))

    def _sizes_one(self, target: str, node: Node) -> bool:
        """Whether a node allocates an array whose shape reads the target."""
        if target in self._locals:
            return False
        return any(target in self._sizes.get(n.buffer, ()) for n in walk((node,)) if isinstance(n, Alloc))

    def _apart(self, producer: Stmt, reader: Node) -> bool:
        """Whether somebody has asked to keep a producer out of its reader's loops."""
        return any(self.separates(producer.span.line, node.span.line) for node in walk((reader,)))

    def _escapes(self, target: str, node: Node, live_out: frozenset[str]) -> bool:
        """Whether leaving the block at this node, by an exit or an exception, would show the target's value."""
        kept = target not in self._locals or target in live_out
        for inner in walk((node,)):
            if isinstance(inner, Return):
                if kept or target in result_buffers(self.program.results[inner.result]):
                    return True
            elif isinstance(inner, Check) and target in self._shown:
                return True
        return kept and has_exit((node,))

    def _assume(self, producer: _Producer, changed: set[str], touched: set[str]) -> None:
        moved_over = {(y, x) for y in changed & self._arrays for x in producer.inputs & self._arrays if x != y}
        self.disjoint |= moved_over
        target = producer.stmt.buffer
        if target in self._arrays:
            self.disjoint |= {(target, x) for x in touched & self._arrays if x != target}

    def _replaced(self, node: Node, producer: _Producer, elsewhere: set[Read]) -> Node:
        target = producer.stmt.buffer
        around = levels((node,)) if producer.level is not None else ()

        def visit(expr: Expr) -> Expr:
            if isinstance(expr, Read) and expr.buffer == target and expr not in elsewhere:
                return as_type(substitute(producer.stmt.value, solved(expr, producer, around)), expr.of)
            return expr

        return map_node_exprs(node, lambda e: rewrite(e, visit))
