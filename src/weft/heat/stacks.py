"""What lies on the stack of a frame.  In: a code object and an instruction of it; out: where the iterators of its loops
are on the stack then.

The stack is followed through the instructions as CPython follows it for a debugger that sends a frame to another line.
An iterator is known by the instruction that made it. What holds on one way to an instruction and not on another counts
as unknown.
"""

from __future__ import annotations

from _bisect import bisect_right

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import types
    from collections.abc import Iterator
    from typing import Any

#: What an entry is, from the bottom of the stack to its top: the offset of a GET_ITER, or OTHER.
Stack = tuple[int, ...]
OTHER = -1
#: Instructions that leave what is below what they take as it is; all others may put something in the place of the top.
_LEAVE_TOP = ("STORE_", "DELETE_", "POP_", "JUMP_", "NOP", "RESUME", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "CACHE")
_LEAVE_TOP_TOO = ("LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "FOR_")
_ENDS = ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")

_known: dict[int, tuple[types.CodeType, CodeStacks]] = {}


class CodeStacks:
    """The stacks of one code object."""

    def __init__(self, code: types.CodeType) -> None:
        #: Before an instruction; none of an instruction that is not reached, or whose stack is not known.
        self.before: dict[int, Stack] = {}
        self.heads: set[int] = set()  # where FOR_ITER is
        self._follow(code)

    def iterators_at(self, last: int, heads: list[int], at_head: bool) -> list[int | None]:
        """For the loops with these heads: where their iterators are while, and after, the instruction `last` runs.

        `at_head`: the head of a loop runs, which will have an item. It may otherwise be over, and its iterator gone.
        """
        found: list[int | None] = []
        last = self._begins[bisect_right(self._begins, last) - 1]  # a frame may be in the cache behind an instruction
        for head in heads:
            stack = self.before.get(head, ())
            place, made = len(stack) - 1, stack[-1] if stack else OTHER
            after = (self.before.get(last, ()), *(() if head == last else self._after.get(last, ())))
            is_there = made != OTHER and all(place < len(one) and one[place] == made for one in after)
            found.append(place if is_there and (at_head or head != last) else None)
        return found

    def _follow(self, code: types.CodeType) -> None:
        import dis

        steps = list(dis.get_instructions(code))
        at = {step.offset: number for number, step in enumerate(steps)}
        self._begins = list(at)
        handlers = list(dis._parse_exception_table(code))  # type: ignore[attr-defined]
        self._after: dict[int, tuple[Stack, ...]] = {}
        work: list[tuple[int, Stack]] = [(0, ())]
        while work:
            offset, stack = work.pop()
            merged = _merged(self.before.get(offset), stack)
            if merged is None:  # two ways of different depth: nothing is known of this code
                self.before.clear()
                self._after.clear()
                return
            if self.before.get(offset) == merged:
                continue
            self.before[offset] = merged
            step = steps[at[offset]]
            if step.opname == "FOR_ITER":
                self.heads.add(offset)
            following = list(_successors(step, merged, steps, at[offset]))
            self._after[offset] = tuple(after for _, after in following)
            work += following
            for entry in handlers:
                if entry.start <= offset < entry.end:
                    work.append((entry.target, (*merged[: entry.depth], *(OTHER,) * (1 + entry.lasti))))


def _merged(known: Stack | None, stack: Stack) -> Stack | None:
    if known is None:
        return stack
    if len(known) != len(stack):
        return None
    return tuple(one if one == other else OTHER for one, other in zip(known, stack))


def _successors(step: Any, stack: Stack, steps: list[Any], number: int) -> Iterator[tuple[int, Stack]]:
    """The instructions that may follow one, and the stacks then."""
    from dis import HAVE_ARGUMENT, hasjabs, hasjrel, stack_effect

    opcode, name, argument = step.opcode, step.opname, step.arg
    takes = argument if opcode >= HAVE_ARGUMENT else None
    if name not in _ENDS and number + 1 < len(steps):
        following: int = steps[number + 1].offset
        if name == "GET_ITER":
            yield following, (*stack[:-1], step.offset)
        elif name == "SWAP":
            yield following, (*stack[:-argument], stack[-1], *stack[1 - argument : -1], stack[-argument])
        else:
            yield following, _changed(stack, stack_effect(opcode, takes, jump=False), name)
    if opcode in hasjrel or opcode in hasjabs:
        yield step.argval, _changed(stack, stack_effect(opcode, takes, jump=True), name)


def _changed(stack: Stack, effect: int, name: str) -> Stack:
    after = stack[:effect] if effect < 0 else (*stack, *(OTHER,) * effect)
    leaves = effect > 0 or name.startswith((*_LEAVE_TOP, *_LEAVE_TOP_TOO))
    return after if leaves or not after else (*after[:-1], OTHER)


def stacks_of(code: types.CodeType) -> CodeStacks:
    found = _known.get(id(code))
    if found is None:
        found = _known[id(code)] = (code, CodeStacks(code))  # the code is held, so that no other gets its number
    return found[1]
