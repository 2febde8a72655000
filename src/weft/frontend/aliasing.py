"""Whether copies may stand for views.  In: the statements of a build, and which of them gave a variable its array; out:
the first write in place that would tell a copy from the view that NumPy would have made.

A slot keeps its array in memory of its own.  `x = a[1:]` in a branch copies, and that is right as long as neither `x`
nor `a` is written in place while `x` still is that view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from weft.errors import Span
from weft.ir.program import Alloc, Block, Break, Call, Continue, If, Invoke, Loop, Node, Rebind, Return, Stmt, While
from weft.records import dataclass


@dataclass(frozen=True)
class Link:
    """NumPy would share the memory of `source`; `tracked`: a flag tells at run time whether it is the very array."""

    source: str
    tracked: bool = False


#: For each buffer that holds a copy: what NumPy would have shared with it.
State = dict[str, frozenset[Link]]


@dataclass(frozen=True)
class Given:
    """A statement that gives a variable its array: a copy of a view of `source`, or (None) an array of its own."""

    target: str
    source: str | None
    tracked: bool = False
    adds: bool = False  # the target is memory of many arrays and gets one more


@dataclass(frozen=True)
class Conflict:
    """A write in place to memory that two buffers stand for."""

    copy: str
    span: Span
    others: frozenset[str] = frozenset()  # what NumPy would have shared with it


@dataclass
class _Leaving:
    """States at the points that leave or repeat a loop early."""

    breaks: list[State] = field(default_factory=list)
    repeats: list[State] = field(default_factory=list)


def conflict(
    body: Block,
    given: Mapping[int, Given],
    results: Sequence[frozenset[str]],
    arguments: frozenset[str],
    memory: frozenset[str] = frozenset(),
) -> Conflict | None:
    """The first conflict of a program.

    `given` are its giving statements, by identity; `results` the arrays of each result; `arguments` the caller's;
    `memory` the buffers of many arrays each, which stay what they are when they move into larger ones.
    """
    if not any(entry.source is not None for entry in given.values()):
        return None
    checker = _Checker(given, results, arguments, memory)
    checker.block(body, {}, _Leaving())
    return checker.found


@dataclass
class _Checker:
    given: Mapping[int, Given]
    results: Sequence[frozenset[str]]
    arguments: frozenset[str]
    memory: frozenset[str]
    found: Conflict | None = None

    def block(self, block: Block, state: State | None, leaving: _Leaving) -> State | None:
        """The state after a block; None if control does not reach its end."""
        for node in block:
            if state is None:
                return None
            state = self.node(node, state, leaving)
        return state

    def node(self, node: Node, state: State, leaving: _Leaving) -> State | None:
        if isinstance(node, If):
            return _join([self.block(part, dict(state), leaving) for part in (node.then, node.orelse)])
        if isinstance(node, (Loop, While)):
            return self.loop(node, state)
        if isinstance(node, (Break, Continue)):
            (leaving.breaks if isinstance(node, Break) else leaving.repeats).append(state)
            return None
        if isinstance(node, Return):
            self.result(node, state)
            return None
        entry = self.given.get(id(node))
        if entry is not None:
            return _added(entry, state, self.memory) if entry.adds else _given(entry, state, self.memory)
        if isinstance(node, Alloc):
            return state if node.buffer in self.memory else _anew(node.buffer, state, self.memory)
        if isinstance(node, Rebind):
            return state if self.memory.intersection(node.targets) else _exchanged(node, state)
        if isinstance(node, Invoke):
            for name in self.memory.intersection(operand.buffer for operand in node.operands):
                self.write(name, node.span, state)  # the function may change what it is lent
        if isinstance(node, (Stmt, Call)):
            self.write(node.buffer if isinstance(node, Stmt) else node.stmt.buffer, node.span, state)
        return state

    def loop(self, node: Loop | While, state: State) -> State | None:
        head: State | None = state
        while True:
            leaving = _Leaving()
            before = head
            if isinstance(node, While):
                head = self.block(node.prelude, dict(head or {}), leaving)
            left = head
            after = self.block(node.body, dict(head or {}), leaving)
            head = _join([before, after, *leaving.repeats])
            if head == before:
                return _join([left, *leaving.breaks])

    def write(self, buffer: str, span: Span, state: State) -> None:
        """A write in place, of a copy or of what was copied."""
        shared = (copy for copy, links in state.items() if any(link.source == buffer for link in links))
        copy = buffer if state.get(buffer) else next(shared, None)
        if copy is not None and self.found is None:
            self.found = Conflict(copy, span, frozenset(link.source for link in state[copy]))

    def result(self, node: Return, state: State) -> None:
        """A copy is returned where NumPy would give a view of an argument, or of another result."""
        returned = self.results[node.result]
        links = {copy: {link.source for link in state.get(copy, ()) if not link.tracked} for copy in sorted(returned)}
        # Of memory that holds one array twice each would be returned as an array of its own.
        twice = {name for name in self.memory if Link(name) in state.get(name, ())}
        for copy, loose in links.items():
            held = {name for other in links if other != copy for name in links[other] & self.memory}
            if loose & (self.arguments | returned | twice | held) and self.found is None:
                self.found = Conflict(copy, node.span, frozenset(loose))


def _added(entry: Given, state: State, memory: frozenset[str]) -> State:
    """Memory of many arrays has got one more."""
    if entry.source is None:
        return state
    links = state.get(entry.source, frozenset())
    if entry.source not in memory:
        links = frozenset(Link(link.source) for link in links)
    before = state.get(entry.target, frozenset())
    if {entry.source, *(link.source for link in links)} & {link.source for link in before if not link.tracked}:
        links |= {Link(entry.target)}  # it holds one array twice, whatever becomes of the source
    return state | {entry.target: before | links | {Link(entry.source, entry.tracked)}}


def _given(entry: Given, state: State, memory: frozenset[str]) -> State:
    links = frozenset[Link]()
    if entry.source is not None:
        links = state.get(entry.source, links)
        if entry.source != entry.target:
            links |= {Link(entry.source, entry.tracked)}
        if not entry.tracked:
            links = frozenset(Link(link.source) for link in links)
    links = frozenset(link for link in links if link.source != entry.target)
    result = _anew(entry.target, state, memory)
    if links:
        result[entry.target] = links
    return result


def _anew(buffer: str, state: State, memory: frozenset[str]) -> State:
    """The buffer holds an array of its own, which nothing else is a copy of."""
    sharers = {name for name, links in state.items() if any(link.source == buffer for link in links)} - {buffer}
    if len(sharers) > 1 and sharers & memory:
        # Copies of one array are copies of each other when it is gone.
        state = state | {name: state[name] | {Link(other) for other in sharers - {name}} for name in sharers}
    kept = {
        name: frozenset(link for link in links if link.source != buffer)
        for name, links in state.items()
        if name != buffer
    }
    return {name: links for name, links in kept.items() if links}


def _exchanged(node: Rebind, state: State) -> State:
    now = dict(zip(node.sources, node.targets))
    return {
        now.get(name, name): frozenset(replace(link, source=now.get(link.source, link.source)) for link in links)
        for name, links in state.items()
    }


def _join(states: list[State | None]) -> State | None:
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    names = {name for state in reached for name in state}
    return {name: frozenset[Link]().union(*(state.get(name, frozenset()) for state in reached)) for name in names}
