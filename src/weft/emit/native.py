"""Variants in C.  In: a version; out: the C of its kernel, and a Python function that calls it through `ctypes`.

The emitted module compiles its C when it is imported, by the compiler that `CC` names (cc), and keeps nothing on disk.
Kernels run on one thread, and products are loops: there is no pool and no BLAS without weft.
"""

from __future__ import annotations

import ast

from weft.codegen import c
from weft.codegen.binding import WordLayout
from weft.compiled import Compiled
from weft.emit.forms import Form, Text
from weft.ir.foreign import FOREIGN
from weft.ir.program import ArrayOut, ConstOut, Library, NoneOut, Out, Program, Role, ScalarOut, TupleOut
from weft.ir.types import DType
from weft.ir.walk import walk
from weft.options import Options

#: What calls kernels, for the whole module.
RUNTIME = '''
class _Table(ctypes.Structure):
    """What kernels ask of their host: memory, arrays for results, threads (one), and whether to stop (never)."""

    _NEW = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_int64,
                            ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64)
    _BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    _PARALLEL = ctypes.CFUNCTYPE(None, _BODY, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    _fields_ = [
        ("version", ctypes.c_int64),
        ("new_array", _NEW),
        ("alloc", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("parallel", _PARALLEL),
        ("threads", ctypes.CFUNCTYPE(ctypes.c_int64)),
        ("poll", ctypes.CFUNCTYPE(ctypes.c_int64)),
        ("ilp64", ctypes.c_int64),
        ("blas", ctypes.c_void_p * 16),
        ("routine", ctypes.c_void_p),
        ("limits", ctypes.c_double * 16),
        ("stack_floor", ctypes.CFUNCTYPE(ctypes.c_int64)),
        ("alone", ctypes.c_void_p),
    ]


_libc = ctypes.CDLL(None)
_libc.aligned_alloc.restype, _libc.aligned_alloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t] * 2
_libc.free.argtypes = [ctypes.c_void_p]
_made = threading.local()  # arrays: those that the kernel of this thread has made, by their number


def _new_array(words, slot, typenum, rank, shape, zero):
    kind = next(np.dtype(letter) for letter in "?bBhHiIlLqQfdFD" if np.dtype(letter).num == typenum)
    array = (np.zeros if zero else np.empty)([shape[axis] for axis in range(rank)], kind)
    number = len(_made.arrays) + 1
    _made.arrays[number] = array
    words[slot] = number
    return array.ctypes.data


def _parallel(body, context, count, tasks):
    body(context, 0, count, 0)


def _stack_floor():
    """How far down a recursive function may go on this thread's stack; 0 if the system does not say."""
    if not hasattr(_made, "floor"):
        _made.floor = 0
        if hasattr(_libc, "pthread_getattr_np"):
            about, low, size = ctypes.create_string_buffer(256), ctypes.c_void_p(), ctypes.c_size_t()
            _libc.pthread_self.restype = ctypes.c_ulong
            if _libc.pthread_getattr_np(ctypes.c_ulong(_libc.pthread_self()), about) == 0:
                _libc.pthread_attr_getstack(about, ctypes.byref(low), ctypes.byref(size))
                _libc.pthread_attr_destroy(about)
                _made.floor = (low.value or 0) + min(size.value // 4, 512 << 10)
    return _made.floor


_table = _Table(
    1,
    _Table._NEW(_new_array),
    dict(_Table._fields_)["alloc"](lambda size: _libc.aligned_alloc(64, max(size + 63, 64) // 64 * 64)),
    dict(_Table._fields_)["release"](lambda pointer: _libc.free(pointer)),
    _Table._PARALLEL(_parallel),
    dict(_Table._fields_)["threads"](lambda: 1),
    dict(_Table._fields_)["poll"](lambda: 0),
)
for _place in range(16):
    _table.limits[_place] = 1e300  # no library, no threads
_table.stack_floor = dict(_Table._fields_)["stack_floor"](_stack_floor)


def _compiled(name, text):
    """The kernel of a C text."""
    command = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, name + ".c"), os.path.join(folder, name + ".so")
        with open(source, "w") as stream:
            stream.write(text)
        flags = ["-O3", "-march=native", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
        flags += ["-fopenmp-simd", "-w"]
        subprocess.run([*command, *flags, "-shared", "-fPIC", source, "-o", made, "-lm"], check=True)
        kernel = ctypes.CDLL(made).kernel
    kernel.restype, kernel.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p]
    return kernel


def _run(kernel, count, arguments, exceptions):
    """Call a kernel; its words."""
    words = (ctypes.c_int64 * count)()
    for place, value in arguments:
        if isinstance(value, np.ndarray):
            words[place] = value.ctypes.data
            for axis in range(value.ndim):
                words[place + 1 + axis] = value.shape[axis]
                words[place + 1 + value.ndim + axis] = value.strides[axis] // value.itemsize
        elif isinstance(value, (complex, np.complexfloating)):
            words[place], words[place + 1] = _bits(value.real), _bits(value.imag)
        elif isinstance(value, (float, np.floating)):
            words[place] = _bits(value)
        else:
            words[place] = int(value)
    _made.arrays = {}
    try:
        status = kernel(ctypes.byref(_table), words)
    except ctypes.ArgumentError:  # two pointers are always converted, unless there is no room left to call anything
        raise RecursionError("maximum recursion depth exceeded") from None
    if status == 2:
        kind, message = exceptions[words[1]]
        error = getattr(np.linalg, kind, None) or getattr(builtins, kind, GuardFailed)
        raise error(message.format(*words[3:6]))
    if status == 4:
        raise MemoryError
    if status:
        raise GuardFailed
    return words


def _bits(value):
    return struct.unpack("q", struct.pack("d", value))[0]


def _float(word):
    return struct.unpack("d", struct.pack("q", word))[0]
'''
IMPORTS = (
    "import builtins\nimport ctypes\nimport os\nimport struct\nimport subprocess\nimport tempfile\nimport threading\n"
)
_PYTHON = {DType.BOOL: "bool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}


def _written(name: str, compiled: Compiled) -> Text:
    """The C and the Python around it; ValueError with the reason if it has none."""
    program = compiled.program_lowered
    if any(isinstance(node, Library) for part in (program, *program.functions) for node in walk(part.body)):
        raise ValueError("it calls routines of LAPACK")
    unit = c.generate(program, Options(parallel=False))
    if "weft_foreign" in unit.text or any(op in unit.text for op in FOREIGN):
        raise ValueError("it calls functions of other libraries")
    places = [(word, param) for param, word in unit.layout.params.items()]
    arguments = ", ".join(f"({word}, {param})" for word, param in places)
    text = unit.text.replace("\\", "\\\\")
    lines = [f'{name}_kernel = _compiled("{name}", """{text}""")', "", ""]
    lines.append(f"def {name}({', '.join(program.params)}):")
    lines.append(f"    words = _run({name}_kernel, {unit.layout.words}, [{arguments}], {unit.exceptions!r})")
    for number, tree in enumerate(program.results):
        value = _value(tree, iter(unit.layout.returns[number]), program, unit.layout)
        last = number == len(program.results) - 1
        lines.append(f"    return {value}" if last else f"    if words[0] == {number}:\n        return {value}")
    return Text("\n".join(lines))


def _value(out: Out, words: object, program: Program, layout: WordLayout) -> str:
    """A result as a Python expression over the words."""
    if isinstance(out, TupleOut):
        if out.named:
            raise ValueError("it returns objects of a class")
        items = [_value(item, words, program, layout) for item in out.items]
        return f"[{', '.join(items)}]" if out.as_list else f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    word = next(words)  # type: ignore[call-overload]
    if isinstance(out, NoneOut):
        return "None"
    if isinstance(out, ConstOut):
        return repr(ast.literal_eval(out.text))
    if isinstance(out, ScalarOut):
        return _number(program, out, word)
    if isinstance(out, ArrayOut) and not out.as_list:
        if program.buffer(out.buffer).role is Role.PARAM:
            return out.buffer
        return f"_made.arrays[words[{layout.slots[out.buffer]}]]"
    raise ValueError("it returns a view of an argument, or a list")


def _number(program: Program, out: ScalarOut, word: int) -> str:
    of = program.buffer(out.buffer).type
    if of.dtype.is_complex:
        value = f"complex(_float(words[{word}]), _float(words[{word + 1}]))"
    else:
        value = f"_float(words[{word}])" if of.dtype.is_float else f"words[{word}]"
    kind = _PYTHON[of.dtype] if of.weak else f"np.{of.dtype.numpy.type.__name__}"
    return f"{kind}({value})"


FORM = Form("", IMPORTS, RUNTIME, _written)
