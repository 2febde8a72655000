"""The `weft` command.  In: command-line arguments; out: an exit code: 0 done, 1 something failed, 2 a wrong request.

Each subcommand is one function here or a module of its own; nothing heavy is imported before a subcommand needs it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from weft.runtime.doctor import Fact

DONE, FAILED, WRONG_REQUEST = 0, 1, 2
_MAX_ERROR_LINES = 15


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["run"] and given[1:2] and not given[1].startswith("-"):
        # A script without options: it need not wait for a parser.
        return _run_script(given[1], given[2:])
    if given[:2] == ["run", "-m"] and given[2:3] and not given[2].startswith("-"):
        return _run_script(given[2], given[3:], is_module=True)
    from weft.errors import WeftError

    parser = _parser()
    if not given:
        parser.print_help(sys.stderr)
        return WRONG_REQUEST
    parsed = parser.parse_args(given)
    try:
        code: int = parsed.command(parsed)
    except WeftError as problem:
        return complain(str(problem), FAILED)
    except BrokenPipeError:
        # The reader of our output has seen enough; there is nobody to tell.
        sys.stdout = None
        return FAILED
    except OSError as problem:
        # A file that the command was told to read or to write: programs that are run have told of their own.
        place = "" if problem.filename is None else f"{os.fsdecode(problem.filename)}: "
        return complain(f"{place}{problem.strerror or problem}", FAILED)
    except Exception as trouble:
        if isinstance(trouble, ValueError) and any("\0" in argument for argument in given):
            return complain(f"no file has a NUL in its name ({trouble})", WRONG_REQUEST)
        if os.environ.get("WEFT_VERIFY", "0") not in ("", "0"):
            raise
        mistake = f"an error inside weft: {type(trouble).__name__}: {trouble}"
        return complain(f"{mistake}\nplease report it; WEFT_VERIFY=1 shows where it comes from", FAILED)
    return code


def complain(message: str, code: int) -> int:
    """An error for a person: at most fifteen lines on stderr; returns `code`."""
    lines = message.splitlines() or ["something went wrong"]
    if len(lines) > _MAX_ERROR_LINES:
        lines = [*lines[: _MAX_ERROR_LINES - 1], f"... and {len(lines) - _MAX_ERROR_LINES + 1} lines more"]
    print("weft: " + "\n".join(lines), file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    import argparse
    from pathlib import Path

    from weft import __version__, registry
    from weft.cli.bench import add_options as add_bench_options
    from weft.cli.hosts import add_options as add_host_options
    from weft.cli.simulate import add_options as add_simulate_options

    parser = argparse.ArgumentParser(prog="weft", description="Compile scientific Python to fast native code.")
    parser.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)

    run = commands.add_parser("run", help="run an unmodified script, its hot functions compiled")
    run.add_argument("--fp", choices=("numpy", "strict", "regroup", "fast"), help="floating-point mode")
    run.add_argument("--report", "--show", action="store_true", help="tell at the end, on stderr, what was compiled")
    run.add_argument("--eager", action="store_true", help="compile what looks worth it at its first call, hot or not")
    _add_program(run)
    run.set_defaults(command=_run)

    profile = commands.add_parser("profile", help="run a script and record its types and hot lines")
    profile.add_argument("--annotate", type=Path, metavar="FILE", help="write the hints into a copy of the script")
    profile.add_argument("--stub", type=Path, metavar="FILE", help="write the hints as a stub")
    profile.add_argument("--sidecar", type=Path, metavar="FILE", help="where `weft build` will find them")
    profile.add_argument("--json", action="store_true", help="the tables as JSON")
    profile.add_argument("--monkeytype", type=Path, metavar="STORE", help="take the types from a store of MonkeyType")
    _add_program(profile)
    profile.set_defaults(command=_profile)

    build = commands.add_parser("build", help="compile a module ahead of time")
    build.add_argument("file", type=Path)
    build.add_argument("-o", "--output", type=Path, default=Path("build"), help="directory of the package (build)")
    from weft.cli.emit import KINDS

    emitted = (*KINDS, *registry.names("emit"))
    build.add_argument("--emit", choices=emitted, help="write source for people or for another tool chain instead")
    build.add_argument("--call", action="append", default=[], metavar="EXPRESSION", help="with --emit: as for explain")
    add_host_options(build)
    build.set_defaults(command=_build)

    explain = commands.add_parser("explain", help="say what became of each source line")
    explain.add_argument("file", type=Path)
    example = "a call to compile for, such as 'f(np.ones(3), 2)'; may be given several times"
    explain.add_argument("--call", action="append", default=[], metavar="EXPRESSION", help=example)
    explain.add_argument("--time", action="store_true", help="run each call once more and tell where its time went")
    explain.add_argument("--json", action="store_true", help="as JSON on stdout")
    explain.add_argument("--all", action="store_true", help="every line, version and decision, not only what counts")
    explain.add_argument("--html", type=Path, metavar="FILE", help="as an HTML page")
    explain.add_argument("--steps", action="store_true", help="the program as Python after each pass that changed it")
    explain.set_defaults(command=_explain)

    tune = commands.add_parser("tune", help="search for faster loops of the functions that a script calls")
    tune.add_argument("--seconds", type=float, default=30.0, help="for the search of each function (30)")
    tune.add_argument("--function", action="append", default=[], metavar="NAME", help="only this; several times: these")
    tune.add_argument("--dry-run", action="store_true", help="tell what was found, and keep nothing")
    _add_program(tune)
    tune.set_defaults(command=_tune)

    doctor = commands.add_parser("doctor", help="examine this machine: compiler, threads, BLAS, cache")
    doctor.add_argument("--json", action="store_true", help="as JSON on stdout")
    doctor.add_argument("--calibrate", action="store_true", help="measure the machine first; later processes use it")
    doctor.set_defaults(command=_doctor)

    cache = commands.add_parser("cache", help="show or empty the cache of compiled code")
    cache.add_argument("action", choices=("info", "clear"))
    cache.set_defaults(command=_cache)

    support = commands.add_parser("support", help="say which functions are native, and with which arguments")
    support.add_argument("name", nargs="?", help="one function, such as np.add, ndarray.sum or math.exp")
    support.add_argument("--json", action="store_true", help="as JSON on stdout")
    support.add_argument("--markdown", action="store_true", help="the whole table as the page docs/support.md")
    support.set_defaults(command=_support)

    bench = commands.add_parser("bench", help="compare with NumPy and other compilers, in weft's source tree")
    add_bench_options(bench)
    bench.set_defaults(command=_bench)

    simulate = commands.add_parser("simulate", help="predict how a function would scale on a cluster")
    add_simulate_options(simulate)
    simulate.set_defaults(command=_simulate)
    return parser


# --- commands -------------------------------------------------------------------------------------------------------


def _add_program(command: argparse.ArgumentParser) -> None:
    """A script or `-m module`, and everything behind it, which is the program's own."""
    command.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    command.add_argument("script", help="a Python file")
    command.add_argument("arguments", nargs="...", help="arguments of the script")


def _run(parsed: argparse.Namespace) -> int:
    options = {"fp": parsed.fp} if parsed.fp else {}
    return _run_script(parsed.script, parsed.arguments, parsed.module, options, parsed.eager, parsed.report)


def _run_script(
    script: str,
    arguments: Sequence[str],
    is_module: bool = False,
    options: dict[str, str] | None = None,
    eager: bool = False,
    report: bool = False,
) -> int:
    from weft.cli.run import module_program, run_program, script_program

    program = (module_program if is_module else script_program)(script, arguments)
    if isinstance(program, int):
        return program
    return run_program(program, {"fallback": "silent", **(options or {})}, eager=eager, report=report)


def _profile(parsed: argparse.Namespace) -> int:
    from pathlib import Path

    from weft.cli.profile import Outputs, profile_program, profile_store
    from weft.cli.run import module_program, script_program

    outputs = Outputs(parsed.annotate, parsed.stub, parsed.sidecar, parsed.json)
    if parsed.monkeytype is not None:
        return profile_store(parsed.monkeytype, Path(parsed.script), outputs)
    program = (module_program if parsed.module else script_program)(parsed.script, parsed.arguments)
    return program if isinstance(program, int) else profile_program(program, outputs)


def _build(parsed: argparse.Namespace) -> int:
    if not parsed.file.is_file():
        return complain(f"no such file: {parsed.file}", WRONG_REQUEST)
    if parsed.emit:
        from weft.cli.emit import KINDS, emit_module

        if parsed.emit in KINDS:
            return emit_module(parsed.file, parsed.output, parsed.emit, parsed.call)
        from weft.cli.circuits import emit_circuits

        return emit_circuits(parsed.file, parsed.output, parsed.emit)
    if parsed.host != "weft":
        from weft.cli.hosts import build_for_host

        return build_for_host(parsed)
    from weft.cli.build import build_module

    return build_module(parsed.file, parsed.output)


def _explain(parsed: argparse.Namespace) -> int:
    from weft.cli.explain import explain_file

    if not parsed.file.is_file():
        return complain(f"no such file: {parsed.file}", WRONG_REQUEST)
    asked = {"everything": parsed.all, "steps": parsed.steps, "time": parsed.time}
    return explain_file(parsed.file, parsed.call, as_json=parsed.json, page=parsed.html, **asked)


def _tune(parsed: argparse.Namespace) -> int:
    from weft.cli.run import module_program, script_program
    from weft.cli.tune import tune_program

    if not parsed.seconds > 0:
        return complain(f"--seconds {parsed.seconds} is no time that a search could take", WRONG_REQUEST)
    program = (module_program if parsed.module else script_program)(parsed.script, parsed.arguments)
    if isinstance(program, int):
        return program
    return tune_program(program, parsed.seconds, parsed.function, not parsed.dry_run)


def _plain_fact() -> Fact:
    """Whether dicts, strings and classes can be native here."""
    from weft.plain import runtime
    from weft.runtime import toolchain
    from weft.runtime.doctor import Fact

    problem = runtime.why_not()
    if problem is None:
        return Fact("plain", "good", "the run time of compiled plain Python is loaded")
    text = f"{' '.join(problem.split())[:200]}: functions over dicts, strings and objects run as Python"
    broken = toolchain.find() is not None and "needs" not in problem
    remedy = "please report it, with what WEFT_VERBOSE=1 weft doctor says" if broken else ""
    return Fact("plain", "bad" if broken else "note", text, remedy)


def _doctor(parsed: argparse.Namespace) -> int:
    from weft.runtime.doctor import facts

    if parsed.calibrate:
        from weft.runtime import machine

        measured = machine.measure()
        if measured is None:
            return complain("nothing to measure: there is no native code on this machine", FAILED)
        print(f"wrote {machine.keep(measured)}", file=sys.stderr)
    from weft.device.doctor import device_facts

    found = (*facts(), _plain_fact(), *device_facts(measure=parsed.calibrate))
    if parsed.json:
        import json

        print(json.dumps([vars(fact) for fact in found], indent=2))
    else:
        marks = {"good": "ok", "note": "--", "bad": "!!"}
        colours = {"good": "green", "note": "dim", "bad": "bold red"}
        topic = ""
        for fact in found:
            shown = "" if fact.topic == topic else fact.topic
            topic = fact.topic
            say(f"{marks[fact.status]} {shown:<9} {fact.text}", colours[fact.status])
            if fact.remedy:
                say(f"   {'':<9} try: {fact.remedy}", "yellow")
    return FAILED if any(fact.status == "bad" for fact in found) else DONE


def _cache(parsed: argparse.Namespace) -> int:
    from weft.runtime.cache import default_cache

    cache = default_cache()
    if parsed.action == "clear":
        removed = cache.clear()
        print(f"removed {removed} {'entry' if removed == 1 else 'entries'} from {cache.directory}")
        return DONE
    info = cache.info()
    print(f"directory  {info.directory}{'' if info.writable else ' (not writable)'}")
    print(f"entries    {info.entries}")
    print(f"size       {info.bytes / 1e6:.1f} MB of {info.limit / 1e6:.0f} MB")
    return DONE


def _support(parsed: argparse.Namespace) -> int:
    from weft.cli.support import show_support

    return show_support(parsed.name, as_json=parsed.json, as_markdown=parsed.markdown)


def _simulate(parsed: argparse.Namespace) -> int:
    from weft.cli.simulate import run

    return run(parsed)


def _bench(parsed: argparse.Namespace) -> int:
    from weft.cli.bench import run

    code = run(parsed)
    if code is None:
        text = "the benchmarks are not here: they are part of weft's source tree; call this in its root"
        return complain(text, WRONG_REQUEST)
    return code


# --- output ---------------------------------------------------------------------------------------------------------


def say(text: str, style: str = "") -> None:
    """A line on stdout, coloured if that is a terminal and rich is installed."""
    if not sys.stdout.isatty():
        print(text)
        return
    try:
        from rich.console import Console
    except ImportError:
        print(text)
        return
    Console(highlight=False).print(text, style=style or None, markup=False, soft_wrap=True)
