"""Messages between ranks as nodes: their order, waits behind what does not need them, sends that nobody receives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import weft
from weft import comm, pipeline
from weft.errors import MessageWarning
from weft.ir.program import Library, Program, Stmt
from weft.ir.walk import walk


def exchanged(a: Any, b: Any, c: Any) -> Any:
    here, ranks = comm.rank(), comm.size()
    comm.Waitall([comm.Isend(a, (here + 1) % ranks), comm.Irecv(b, (here - 1) % ranks)])
    d = c * 2
    return d, b.sum()


def mistaken(a: Any, b: Any) -> Any:
    here, ranks = comm.rank(), comm.size()
    sent = comm.Isend(a, (here + 1) % ranks)
    comm.Recv(b, (here + 1) % ranks)
    sent.wait()
    return b.sum()


def other_tag(a: Any, b: Any) -> None:
    here = comm.rank()
    sent = comm.Isend(a, here + 1, 3)
    comm.Recv(b, here - 1, 4)
    sent.wait()


def unknown(a: Any, b: Any, source: int) -> None:
    sent = comm.Isend(a, comm.rank() + 1)
    comm.Recv(b, source)
    sent.wait()


def only_sent(a: Any) -> None:
    comm.Send(a, comm.rank() + 1)


A, B, C = np.ones(3), np.zeros(3), np.ones(5)


def optimised(function: Any, *args: Any) -> Program:
    found = dict(pipeline.stages(function, args))
    return found["messages"]


def test_messages_stay_in_order_and_waits_come_late() -> None:
    program = optimised(exchanged, A, B, C)
    nodes = [node for node in walk(program.body) if isinstance(node, Library)]
    order = [node.routine.split("_")[1] for node in nodes if node.routine.split("_")[1] not in ("rank", "size")]
    assert order == ["send", "receive", "wait", "wait"]
    body = list(program.body)
    waits = [at for at, node in enumerate(body) if isinstance(node, Library) and "wait" in node.routine]
    doubled = [at for at, node in enumerate(body) if isinstance(node, Stmt) and "c" in map(str, node_reads(node))]
    summed = [at for at, node in enumerate(body) if isinstance(node, Stmt) and "b" in map(str, node_reads(node))]
    assert max(doubled) < min(waits) and max(waits) < min(summed)


def node_reads(node: Any) -> set[str]:
    from weft.ir.walk import buffers_read

    return buffers_read(node)


@pytest.mark.parametrize(
    ("function", "args", "told"),
    [
        (exchanged, (A, B, C), ""),
        (mistaken, (A, B), "the message to rank + 1 has no receive from rank - 1"),
        (other_tag, (A, B), "the message to rank + 1 has no receive from rank - 1 with its tag"),
        (unknown, (A, B, 1), ""),
        (only_sent, (A,), ""),
    ],
)
def test_sends_that_nobody_receives_are_told(function: Any, args: Any, told: str) -> None:
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        optimised(function, *args)
    texts = [str(each.message) for each in met if each.category is MessageWarning]
    assert bool(texts) == bool(told) and all(told in text for text in texts)
    lines = {each.lineno for each in met if each.category is MessageWarning}
    first = function.__code__.co_firstlineno
    assert all(first < line < first + 5 for line in lines)


def test_a_message_that_may_be_waited_for_in_the_next_round_is_refused() -> None:
    def carried(a: Any, b: Any, steps: int) -> None:
        request = comm.Isend(a, 0)
        for _ in range(steps):
            request.wait()
            request = comm.Isend(b, 0)

    with pytest.raises(weft.errors.Unsupported, match="behind a wait in the same loop"):
        optimised(carried, A, B, 3)
