"""Where scalar variables live.  In: a lowered program; out: for each rank-0 local buffer the innermost block in which a
variable declared anew at each entry is all the program needs, and the classes of names that a Rebind may exchange.

    for i: { s = 0; for k: s = s + a[i, k]; r[i] = s }     s belongs to the body of i: each iteration writes it first
"""

from __future__ import annotations

from weft.ir.expr import Const, dim_vars
from weft.ir.program import (
    REGIONS,
    Alloc,
    Block,
    Break,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    Stmt,
    While,
    is_list,
)
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    domain_buffers,
    expr_buffers,
    free_vars,
    leaves,
    node_domain,
    node_exprs,
    sub_blocks,
    walk,
)

#: A block: from the body, alternately the position of a node and which of its blocks.
Path = tuple[int, ...]


def returned_scalars(program: Program, result: int) -> set[str]:
    """The rank-0 buffers that a Return of this result reads."""
    return {out.buffer for out in leaves(program.results[result]) if isinstance(out, ScalarOut)}


def _touched(program: Program, node: Node) -> set[str]:
    """Buffers a node touches by itself, nested blocks aside; an Alloc touches what its shape reads."""
    found = domain_buffers(node_domain(node))
    for expr in node_exprs(node):
        found |= expr_buffers(expr)
    if isinstance(node, Stmt):
        found.add(node.buffer)
    elif isinstance(node, Alloc):
        for extent in program.buffer(node.buffer).shape:
            found |= expr_buffers(extent)
    elif isinstance(node, (Library, Invoke)):
        found |= buffers_read(node) | buffers_written(node)
    elif isinstance(node, Return):
        found |= returned_scalars(program, node.result)
    elif isinstance(node, Loop) and node.work is not None:
        found |= expr_buffers(node.work)
    return found


def _reads_before_write(program: Program, node: Node, name: str) -> bool:
    """Whether executing the node's own expressions may read `name` (its target, if it is an assignment, aside)."""
    if isinstance(node, Stmt):
        used = {name for expr in node_exprs(node) for name in expr_buffers(expr)} | domain_buffers(node.domain)
        return name in used or (node.reduce is not None and node.buffer == name)
    if isinstance(node, Invoke):
        return name in buffers_read(node)
    return name in _touched(program, node)


def written_first(program: Program, block: Block, name: str) -> bool | None:
    """True: `name` is written before any read on every path through the block; False: a read may come first (or the
    block may be left before); None: the block does not touch it."""
    for node in block:
        if _reads_before_write(program, node, name):
            return False
        if isinstance(node, Stmt) and node.buffer == name:
            return not node.domain
        if isinstance(node, Invoke) and name in node.results:
            return True
        if isinstance(node, (Return, Break, Continue)):
            return None
        if isinstance(node, If):
            branches = [written_first(program, branch, name) for branch in (node.then, node.orelse)]
            if all(branch is True for branch in branches):
                return True
            if any(branch is not None for branch in branches):
                # Written on one path only (or read first): a later read may see either.
                return False
        elif isinstance(node, Loop) and node.kind in REGIONS:
            answer = written_first(program, node.body, name)
            if answer is not None:
                return answer
        elif isinstance(node, (Loop, While)):
            # The body may never run: a write inside proves nothing for what follows, a read first disproves it.
            inner = [written_first(program, b, name) for b in sub_blocks(node)]
            if any(answer is not None for answer in inner):
                return False
    return None


def declarations(program: Program) -> dict[Path, tuple[str, ...]]:
    """The rank-0 local buffers to declare at the head of each block."""
    places: dict[str, set[Path]] = {}

    def visit(block: Block, path: Path) -> None:
        for position, node in enumerate(block):
            for name in _touched(program, node):
                places.setdefault(name, set()).add(path)
            for number, inner in enumerate(sub_blocks(node)):
                visit(inner, (*path, position, number))

    visit(program.body, ())
    scalars = [b.name for b in program.buffers if b.rank == 0 and b.role not in (Role.PARAM, Role.HELD)]
    found: dict[Path, list[str]] = {}
    for name in scalars:
        if name in places:
            found.setdefault(_innermost(program, name, places[name]), []).append(name)
    return {path: tuple(names) for path, names in found.items()}


def _innermost(program: Program, name: str, paths: set[Path]) -> Path:
    """The deepest block around all uses into which the declaration may move without changing what a read sees."""
    common = _common(paths)
    best: Path = ()
    block, carried = program.body, False
    for step in range(0, len(common), 2):
        node = block[common[step]]
        block = sub_blocks(node)[common[step + 1]]
        if isinstance(node, Loop):
            # Iterations of a PARALLEL loop, and tasks, share nothing by contract; others may carry a value along.
            if node.kind not in (LoopKind.FINISH, LoopKind.ISOLATED):
                carried = node.kind not in (LoopKind.PARALLEL, LoopKind.TASK)
        elif isinstance(node, While):
            carried = True
        if not carried or written_first(program, block, name) is True:
            best = common[: step + 2]
    return best


def _common(paths: set[Path]) -> Path:
    first, *rest = paths
    length = len(first)
    for path in rest:
        same = 0
        while same < min(length, len(path)) and path[same] == first[same]:
            same += 1
        length = same
    return first[: length - length % 2]


def exchanged(program: Program) -> dict[str, frozenset[str]]:
    """For every buffer that takes part in a Rebind, all buffers whose memory it may come to denote, and itself."""
    groups: dict[str, set[str]] = {}
    for node in walk(program.body):
        if isinstance(node, Rebind):
            merged = {*node.targets, *node.sources}
            for name in tuple(merged):
                merged |= groups.get(name, set())
            for name in merged:
                groups[name] = merged
    return {name: frozenset(group) for name, group in groups.items()}


def written_params(program: Program) -> frozenset[str]:
    """Array parameters whose memory the program may change."""
    written = {name for node in program.body for name in buffers_written(node)}
    groups = exchanged(program)
    for name in tuple(written):
        written |= groups.get(name, frozenset())
    return frozenset(b.name for b in program.buffers if b.role is Role.PARAM and b.rank and b.name in written)


def lasting_writes(program: Program) -> frozenset[str]:
    """The parameters whose change the caller sees at once; without any, plain Python may repeat the call.

    A list is a copy, which goes back into the list only when the call has ended.
    """
    return frozenset(name for name in written_params(program) if not is_list(program.table[name]))


def restored(program: Program) -> frozenset[str]:
    """The parameters that must be put back before Python repeats the call: all that the program writes, if it may find
    out behind a write that only Python can go on (a check of weft's own, which raises RuntimeError)."""
    lasting = lasting_writes(program)
    if not lasting:
        return lasting
    if any(hands_over(node) for part in program.functions for node in walk(part.body)):
        return lasting
    written = False
    for node in program.body:
        writes = not lasting.isdisjoint(buffers_written(node))
        if (written or writes) and any(hands_over(inner) for inner in walk((node,))):
            return lasting
        written = written or writes
    return frozenset()


def swept(program: Program) -> frozenset[str]:
    """The parameters that loops run all over and write, or that a library fills: a copy takes little beside that."""
    found: set[str] = set()

    def visit(block: Block, around: frozenset[str]) -> None:
        for node in block:
            if isinstance(node, Loop):
                visit(node.body, around | frozenset(dim_vars((node.dim,))))
            elif isinstance(node, Stmt):
                known = around | frozenset(dim_vars(node.domain))
                if node.index and all(not known.isdisjoint(free_vars(part)) for part in node.index):
                    found.add(node.buffer)
            elif isinstance(node, Library):
                found.update(buffers_written(node))
            else:
                for part in sub_blocks(node):
                    visit(part, around)

    for part in (program, *program.functions):
        visit(part.body, frozenset())
    return frozenset(found)


def hands_over(node: Node) -> bool:
    """Whether a check is not one of the program's own exceptions: it says what only Python can do."""
    return isinstance(node, Check) and node.exception == "RuntimeError" and not isinstance(node.condition, Const)
