"""What `weft explain` says in a few lines and on its page, and the timeline of a call."""

from __future__ import annotations

import json
import time
import warnings
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import weft
from weft.report.html import page


def _stencil(a: Any, b: Any) -> Any:
    b[1:-1] = a[:-2] + a[2:]
    total = 0.0
    for x in b:
        total += x
    return total


def _reads(name: Any) -> Any:
    return open(name).read()


def _opened(name: Any) -> Any:
    with open(name) as file:
        return file.read()


def _called(function: Any, *args: Any) -> Any:
    made = weft.jit(function, fallback="silent")
    made(*args)
    return made


def test_the_costliest_lines_come_first() -> None:
    @weft.jit(fallback="error")
    def work(a: Any, b: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                b[i, j] = np.exp(a[i] * a[j])
        return s

    work(np.arange(50.0), np.zeros((50, 50)))
    explanation = work.explain()
    shares = {line.text.strip(): line.share for line in explanation.lines if line.share}
    assert shares["b[i, j] = np.exp(a[i] * a[j])"] > 0.9 > shares["s += a[i]"] > 0
    assert sum(shares.values()) == pytest.approx(1.0)
    rows = explanation.short().splitlines()
    assert "costliest" in rows[2] and "np.exp" in rows[3]
    assert explanation.to_json()["lines"][7]["share"] > 0.9


@pytest.mark.native
def test_room_for_a_list_that_grows_is_no_cost_of_a_line() -> None:
    def kept(a: Any) -> Any:
        out = []
        for i in range(a.shape[0]):
            if np.exp(np.sin(a[i])) > 1.0:
                out.append(i)
        return out

    made = weft.jit(kept, fallback="error")
    assert made(np.arange(50.0)) == kept(np.arange(50.0))
    lines = {line.text.strip(): line for line in made.explain().lines}
    appended, tested = lines["out.append(i)"], lines["if np.exp(np.sin(a[i])) > 1.0:"]
    assert appended.state == "native" and "vectorised" not in appended.traits and "parallel" not in appended.traits
    assert (appended.share or 0.0) < 0.5
    assert tested.state == "native"


@pytest.mark.native
@pytest.mark.usefixtures("array_compiler_only")
def test_how_a_table_is_cleared_is_not_how_its_line_runs() -> None:
    """Searches are loops that nobody has written: neither their vectors nor their obstacles are those of the line."""

    @weft.jit(fallback="error")
    def counted(a: Any) -> Any:
        found: Any = {}
        out = np.zeros(len(a))
        for i in range(len(a)):
            found[a[i]] = found.get(a[i], 0) + 1
        for i in range(len(a)):
            out[i] = found[a[i]]
        k = 0
        while k < 3:
            out[:] = out[:] + 1.0
            k += 1
        return out

    counted(np.array([1, 2, 2]))
    explained = counted.explain()
    lines = {line.text.strip(): line for line in explained.lines}
    put, read = lines["found[a[i]] = found.get(a[i], 0) + 1"], lines["out[i] = found[a[i]]"]
    assert put.state == "native" and not {"vectorised", "parallel"} & set(put.traits)
    assert "parallel" in read.traits
    assert "vectorised" in lines["out[:] = out[:] + 1.0"].traits
    assert not [note for line in (put, read) for note in line.notes if "while" in note.message or "_" in note.message]


def test_a_refused_function_is_never_told_to_be_called(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("x")
    made = weft.jit(_reads, fallback="silent")
    assert "call it once" in made.explain().short()
    made(str(tmp_path / "a.txt"))
    told = made.explain().short()
    assert "call it once" not in told and "runs as plain Python" in told and "try:" in told
    assert "call it once" not in page([made.explain()], "x") and "call it once" not in str(made.explain())


def test_the_page_has_what_was_called_first_and_the_rest_folded() -> None:
    called, never = _called(_stencil, np.arange(9.0), np.zeros(9)).explain(), weft.jit(_reads).explain()
    text = page([never, called], "x")
    assert text.index(">_stencil<") < text.index("Not called yet: _reads") < text.index(">_reads<")
    assert "<details" in text[: text.index("Not called yet")].rsplit("<summary>", 1)[0]
    assert "Not called yet" not in page([never], "x") and ">_reads<" in page([never], "x")


def test_code_in_reasons_is_code(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("x")
    text = page([_called(_opened, str(tmp_path / "a.txt")).explain()], "x")
    assert "a call of <code>open</code>" in text and "`" not in text


def test_a_limit_is_kept() -> None:
    made = _called(_stencil, np.arange(9.0), np.zeros(9))
    for limit in (2, 4, 30):
        assert len(made.explain().short(limit).splitlines()) <= limit


class _Checked(HTMLParser):
    """Whether tags are closed in order, and what the page would load."""

    void = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.loaded += [v for k in ("src", "href") if (v := names.get(k)) and not v.startswith("#")]
        self.loaded += ["script"] * (tag == "script")
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_file_without_scripts() -> None:
    made = _called(_stencil, np.arange(9.0), np.zeros(9))
    text = page([made.explain()], "file.py")
    checked = _Checked()
    checked.feed(text)
    assert not checked.open and not checked.loaded
    # The source stands before the loops, the memory and the tree of versions, which are folded.
    order = [text.index(word) for word in ('class="code"', "Loops before and after", "Memory", "How a call decides")]
    assert order == sorted(order)
    assert '<details class="part" open' not in text and "prefers-color-scheme: dark" in text
    assert "as written" in text and "as it runs" in text


def test_a_page_for_a_function_without_source() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1\n", space)
    made = weft.jit(space["f"], fallback="silent")
    made(1)
    assert "There is no source to show" in page([made.explain()], "x")


@pytest.mark.native
def test_a_timeline_tells_regions_from_python() -> None:
    def mixed(a: Any) -> Any:
        for i in range(a.shape[0]):
            a[i] = a[i] * 2.0 + 1.0
        open("/dev/null").close()
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5
        return a

    made = weft.jit(mixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made(np.ones(1000))
        made(np.ones(1000))
        found = made.timeline(np.ones(1000))
    assert np.array_equal(found.result, mixed(np.ones(1000)))
    assert sum(event.seconds for event in found.events) <= found.seconds * 1.001
    assert str(found).startswith("mixed: ") and "<table" in found._repr_html_()


@pytest.mark.native
def test_a_timeline_of_a_native_call() -> None:
    made = weft.jit(_stencil, fallback="error")
    first = made.timeline(np.arange(9.0), np.zeros(9))
    assert [event.kind for event in first.events] == ["compile", "native"]
    again = made.timeline(np.arange(9.0), np.zeros(9))
    assert [event.kind for event in again.events] == ["native"] and again.result == first.result


def test_what_a_first_call_prepares_is_not_the_time_of_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling, and what a process does once beside it: a page that told 1 MFLOP/s of a fast loop was the cause."""
    from weft.jitted import Jitted

    plain = Jitted._newly
    monkeypatch.setattr(Jitted, "_newly", lambda self, args, kwargs: time.sleep(0.3) or plain(self, args, kwargs))
    made = weft.jit(_stencil)
    first, last = made.timeline(np.arange(9.0), np.zeros(9)).events
    assert (first.kind, last.kind) == ("compile", "native")
    assert first.seconds >= 0.3 and first.end == last.start
    assert "_found" not in vars(made)


@pytest.mark.native
def test_a_timeline_of_plain_python_that_is_native() -> None:
    def counted(text: Any) -> Any:
        found: dict[str, int] = {}
        for word in text.split():
            found[word] = found.get(word, 0) + 1
        return found

    made = weft.jit(counted, fallback="error")
    first = made.timeline("a b a")
    assert first.result == {"a": 2, "b": 1}
    assert [event.kind for event in first.events] == ["compile", "native"]


@pytest.mark.native
def test_a_timeline_is_never_of_a_call_for_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TIMED", "1")

    def counted(text: Any) -> Any:
        found: dict[str, int] = {}
        for word in text.split():
            found[word] = found.get(word, 0) + 1
        return found

    def mean(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total += x
        return total / len(xs)

    for function, argument in ((counted, "a b a " * 50), (mean, [1.0, 2.0] * 50)):
        made = weft.jit(function)
        kinds = []
        for _ in range(6):
            told = made.timeline(argument)
            assert told.result == function(argument)
            kinds += [event.kind for event in told.events]
        assert kinds == ["compile"] + ["native"] * 6
        if function is counted:  # afterwards calls are compared as before
            for _ in range(4):
                made(argument)
            assert made.stats["python_calls"] > 0


@pytest.mark.native
def test_the_shares_of_two_regions_are_parts_of_one_call(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("x")

    def mixed(a: Any, name: Any) -> Any:
        b = np.zeros_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = np.exp(-a[i, j] ** 2)
        with open(name) as file:
            k = len(file.read())
        for i in range(a.shape[0]):
            b[i, 0] += k
        return b

    made = _called(mixed, np.ones((300, 300)), str(tmp_path / "a.txt"))
    explanation = made.explain()
    shares = [line.share for line in explanation.lines if line.share]
    assert sum(shares) == pytest.approx(1.0) and max(shares) > 0.9
    assert "native in part: 2 lines left to Python" in explanation.short()


def test_remarks_do_not_begin_with_the_name_of_a_pass() -> None:
    made = _called(_stencil, np.arange(9.0), np.zeros(9))
    notes = [note for line in made.explain().lines for note in line.notes] + [*made.explain().notes]
    assert any(note.by for note in notes)
    assert not any(note.message.startswith(f"{note.by}:") for note in notes if note.by)


def test_many_functions_fit_a_screen_those_with_a_remedy_first(tmp_path: Any, capsys: Any) -> None:
    from weft.cli.explain import explain_file

    fine = "\n".join(f"def fine{k}(a: weft.f64[:]):\n    return a + {k}\n" for k in range(40))
    bad = "@weft.jit(fallback='silent')\ndef reads(name):\n    return open(name).read()\n\nreads(__file__)\n"
    (tmp_path / "many.py").write_text(f"import weft\n\n{fine}\n{bad}")
    assert explain_file(tmp_path / "many.py", [], False, None) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 30
    assert shown[0].startswith("reads: not compiled") and "open" in shown[1] and "try:" in shown[2]
    assert any(line.startswith("fine0: native") or line.startswith("fine0: generated") for line in shown)
    assert any("functions more" in line for line in shown)


def test_calls_that_ran_as_plain_python_were_calls() -> None:
    """Also where nothing was refused: everywhere that says what became of the function."""
    made = weft.jit(_stencil)
    with weft.debug():
        made(np.arange(9.0), np.zeros(9))
    told = (made.explain().short(), str(made.explain()), made._repr_html_(), page([made.explain()], "x"))
    assert all("not compiled: its" in text and "call it once" not in text for text in told)


def _evaluated(text: Any) -> Any:
    return eval(text)


async def _waiting() -> int:
    return 1


def test_a_reason_stands_at_its_line_with_a_remedy() -> None:
    """Also where the compiler of plain Python cannot even read the function, and where nothing better is known."""
    made = weft.jit(_evaluated, fallback="silent")
    made("1 + 2")
    told = made.explain().short()
    assert "return eval(text)" in told and "`eval`, which looks at the variables" in told and "try: move it out" in told
    waiting = weft.jit(_waiting, fallback="silent")
    waiting().close()
    told = waiting.explain().short()
    assert "async def _waiting() -> int:" in told and "try: write it as a plain `def`" in told
    for left in (line for line in (*made.explain().lines, *waiting.explain().lines) if line.notes):
        assert all(note.remedy for note in left.notes if note.kind == "python")


@pytest.mark.native
def test_calls_in_python_beside_native_ones_are_explained() -> None:
    @weft.jit
    def divided(a: int, b: int) -> float:
        return a / b

    divided(1, 2)
    assert "Python runs the calls" not in divided.explain().short()
    with pytest.raises(ZeroDivisionError):
        divided(1, 0)
    assert "1 call in Python" in divided.explain().short() and "end in an exception" in divided.explain().short()


def test_the_report_is_apart_from_what_the_file_prints(tmp_path: Any, capsys: Any) -> None:
    from weft.cli.explain import explain_file

    (tmp_path / "talks.py").write_text("print('hello')\ndef f(x):\n    print(end='there')\n    return x + 1\n")
    assert explain_file(tmp_path / "talks.py", ["f(1)"], True, None) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)[0]["function"] == "f"
    assert "hello" in shown.err and "there" in shown.err
