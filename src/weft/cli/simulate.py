"""`weft simulate`: how a function would scale.  In: a function, a call to plan for and a description of nodes; out: the
predicted times as a table, as JSON or as a picture.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, FAILED, WRONG_REQUEST, complain
from weft.cli.load import CannotImport, import_file

if TYPE_CHECKING:
    import argparse

_MACHINE = (
    ("cores", int, "cores of a node"),
    ("gflops", float, "10^9 operations a second that matrix products reach on a node"),
    ("arithmetic", float, "10^9 operations a second of other code that memory does not bind"),
    ("memory", float, "GB/s of a node's memory"),
    ("network", float, "GB/s into a node"),
    ("latency", float, "microseconds of a message"),
    ("task", float, "microseconds that a task costs the driver of Ray"),
    ("stage", float, "microseconds that a stage costs each rank of MPI"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="a module or a Python file, and a function of it")
    parser.add_argument("arguments", help="arguments of a call to plan for, such as 'np.zeros((4000, 4000)), 100'")
    parser.add_argument("--nodes", default="", help="numbers of nodes, with commas between")
    parser.add_argument("--engine", choices=("mpi", "ray"), default="mpi")
    parser.add_argument("--grow", default="", help="sizes that grow with the nodes, such as A_0,A_1")
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="a size in place of that of the arguments"
    )
    for name, kind, text in _MACHINE:
        parser.add_argument(f"--{name}", type=kind, help=text)
    parser.add_argument("--here", action="store_true", help="measure this machine, and take it for a node")
    parser.add_argument("--measured", type=float, metavar="SECONDS", help="what the call takes on one node, if known")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it, too")
    parser.add_argument("--json", action="store_true", help="as JSON on stdout")


def run(parsed: argparse.Namespace) -> int:
    """Plan, predict and print."""
    from weft.cluster.plan import Refused
    from weft.cluster.simulate import NODES, Machine, simulate

    place, _, name = parsed.function.rpartition(":")
    if not place or not name:
        return complain(f"{parsed.function!r} is not MODULE:FUNCTION", WRONG_REQUEST)
    try:
        nodes = tuple(int(word) for word in parsed.nodes.split(",") if word.strip()) or NODES
        sizes = {key.strip(): int(value) for key, _, value in (text.partition("=") for text in parsed.size)}
    except ValueError as problem:
        return complain(f"a number was expected: {problem}", WRONG_REQUEST)
    module = import_file(Path(place)) if place.endswith(".py") else _imported(place)
    if module is None:
        return complain(f"there is no module {place}", FAILED)
    function = getattr(module, name, None)
    if not callable(function):
        return complain(f"{place} has no function {name}", FAILED)
    arguments = _arguments(parsed.arguments, module)
    if isinstance(arguments, str):
        return complain(arguments, FAILED)
    given = {key: getattr(parsed, key) for key, _, _ in _MACHINE if getattr(parsed, key) is not None}
    if parsed.here:
        from weft.cluster.measure import this_machine

        given = {**this_machine(), **given}
    grow = tuple(word.strip() for word in parsed.grow.split(",") if word.strip())
    try:
        found = simulate(function, *arguments, machine=Machine(**given), nodes=nodes, grow=grow, engine=parsed.engine,
                         sizes=sizes, measured=parsed.measured)  # fmt: skip
    except Refused as problem:
        return complain(f"{name} cannot be spread over machines: {problem}", FAILED)
    if parsed.picture is not None:
        from weft.cluster.charts import picture

        picture(found, parsed.picture)
        print(f"wrote {parsed.picture}", file=sys.stderr)
    print(json.dumps(found.to_json(), indent=2) if parsed.json else found)
    return DONE


def _imported(name: str) -> Any:
    """A module by name, looked for in the working directory, too."""
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
    except Exception as problem:  # whatever the user's module raises is the user's to see, briefly
        raise CannotImport(f"importing {name} failed: {type(problem).__name__}: {problem}") from problem


def _arguments(text: str, module: Any) -> tuple[Any, ...] | str:
    """The arguments of the call, or what is wrong with them."""
    import numpy

    try:
        return tuple(eval(compile(f"({text},)", "<arguments>", "eval"), {"np": numpy, **vars(module)}))
    except Exception as problem:  # whatever the user's expression raises is the user's to see, briefly
        return f"the arguments {text!r} failed: {type(problem).__name__}: {problem}"
