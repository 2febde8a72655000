"""From inferred instances to C.  In: a unit whose types are settled; out: the text of one C file.

types        wp_type and wp_spec tables: the layout of every heap type, for the run time's collector and converters
functions    one C function for each instance
kernel       the entry: arguments from words, the root instance, its result
"""

from __future__ import annotations

import ast
import re
from typing import Any

from weft.options import wants_lines
from weft.plain import classes, generated, statements
from weft.plain.expressions import c_name
from weft.plain.frame import C_TYPES, SCALAR_NODES, ZEROS, Frame, Value, c_string, numpy_tag
from weft.plain.types import DICTS, NUMPY_SCALARS, Head, Node, Signatures, representation
from weft.plain.unit import FunctionInfo, Instance, Namespace, Unit, _free_names, ordered

_BITS = {"none": 0, "int": 1, "float": 2, "bool": 3} | {kind: 8 + at for at, kind in enumerate(NUMPY_SCALARS)}
_KINDS = {
    "list": "WP_LIST",
    "vtuple": "WP_TUPLE",
    "tuple": "WP_TUPLE",
    "set": "WP_SET",
    "frozenset": "WP_FROZENSET",
    "deque": "WP_DEQUE",
    "obj": "WP_OBJECT",
    "closure": "WP_CLOSURE",
    "method": "WP_METHOD",
    "partial": "WP_METHOD",
    "view": "WP_METHOD",
    "generator": "WP_ITERATOR",
    "const": "WP_FUNCTION",
    "ndarray": "WP_ARRAY",
} | dict.fromkeys(DICTS, "WP_DICT")
_RUNTIME_TYPES = {
    "big": "wp_big_type",
    "bytearray": "wp_bytearray_type",
    "complex": "wp_complex_type",
    "str": "wp_str_type",
    "bytes": "wp_bytes_type",
    "range": "wp_range_type",
}


_NUMPY = re.compile(r"\bwp_(np|f64|f32|array|axis|touch|either)")


class Writer:
    """The parts of a C file as they come to be needed."""

    def __init__(self, unit: Unit, deoptimise: int | None = None) -> None:
        self.unit = unit
        self.deoptimise = deoptimise  # for tests: before which statement each call deoptimises
        self.signatures = Signatures()
        self.type_names: dict[str, str] = {}
        self.type_texts: list[str] = []
        self.spec_names: dict[str, str] = {}
        self.strings: dict[tuple[type, Any], str] = {}
        self.string_texts: list[str] = []
        self.constants: dict[Any, str] = {}
        self.objects: list[Any] = []  # Python objects that the code names, by number
        self.object_numbers: dict[int, int] = {}
        self.called_numbers: set[int] = set()  # of objects that Python calls
        self.setup: list[str] = []
        self.hidden_names: dict[int, str] = {}
        self.queue: list[Instance] = []
        self.needed: dict[int, Instance] = {}
        self.functions: list[str] = []
        self.prototypes: list[str] = []
        self.frames: dict[int, list[tuple[str, str]]] = {}
        self.cell_lists: dict[Any, list[str]] = {}
        self.uses_numpy = False

    # --- objects of Python ----------------------------------------

    def python_object(self, held: Any) -> str:
        number = self.object_numbers.get(id(held))
        if number is None:
            number = self.object_numbers[id(held)] = len(self.objects)
            self.objects.append(held)
        return f"wp_python[{number}]"

    def called(self, held: Any) -> str:
        """An object that the code has Python call."""
        text = self.python_object(held)
        self.called_numbers.add(self.object_numbers[id(held)])
        return text

    def string(self, text: str | bytes) -> str:
        key = (type(text), text)
        name = self.strings.get(key)
        if name is None:
            name = self.strings[key] = f"S{len(self.strings)}"
            if isinstance(text, bytes):
                width, is_ascii, data = 1, int(all(b < 128 for b in text)), list(text)
            else:
                largest = max(map(ord, text), default=0)
                width = 1 if largest < 256 else 2 if largest < 65536 else 4
                is_ascii, data = int(largest < 128), [ord(c) for c in text]
            c_type = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}[width]
            self.string_texts.append(f"static {c_type} {name}_data[] = {{{', '.join(map(str, [*data, 0]))}}};")
            kind = "wp_bytes_type" if isinstance(text, bytes) else "wp_str_type"
            self.string_texts.append(
                f"static wp_str {name} = {{{{&{kind}, 0}}, -1, {len(text)}, {width}, {is_ascii}, "
                f"(uint8_t *){name}_data, 0}};"
            )
        return f"((void *)&{name})"

    def big(self, held: int) -> str:
        """The static object that stands for an integer beyond 64 bits."""
        key = (int, held)
        name = self.strings.get(key)
        if name is None:
            name = self.strings[key] = f"I{len(self.strings)}"
            self.string_texts.append(f"static wp_opaque {name} = {{{{&wp_big_type, 0}}, 0}};")
            self.setup.append(f"{name}.object = {self.python_object(held)};")
        return f"((void *)&{name})"

    def complex(self, held: complex) -> str:
        """The static object that stands for a complex constant."""
        from weft.plain.expressions import float_literal

        parts = float_literal(held.real), float_literal(held.imag)
        name = self.strings.get((complex, parts))
        if name is None:
            name = self.strings[complex, parts] = f"Z{len(self.strings)}"
            self.string_texts.append(f"static wp_complex {name} = {{{{&wp_complex_type, 0}}, {parts[0]}, {parts[1]}}};")
        return f"((void *)&{name})"

    def constant(self, head: Head) -> str:
        """The static object that stands for a callable or class."""
        name = self.constants.get(head.key)
        if name is None:
            name = self.constants[head.key] = f"C{len(self.constants)}"
            told = c_string(_short(head.value))
            self.type_texts.append(
                f"static wp_type T{name} = {{WP_FUNCTION, 0, sizeof(wp_object), 0, 0, 0, 0, 0, {told}}};"
            )
            self.type_texts.append(f"static wp_object {name} = {{&T{name}, 0}};")
            self.setup.append(f"T{name}.python = {self.python_object(head.value)};")
        return f"((void *)&{name})"

    def hidden(self, held: Any) -> str:
        name = self.hidden_names.get(id(held))
        if name is None:
            name = self.hidden_names[id(held)] = f"own.hidden{len(self.hidden_names)}"
        return name

    # --- types ----------------------------------------

    def type_of(self, head: Head) -> str:
        """The C name of a heap type."""
        head = head.root()
        if head.kind in _RUNTIME_TYPES:
            return f"&{_RUNTIME_TYPES[head.kind]}"
        if head.kind == "const":
            self.constant(head)
            return f"&T{self.constants[head.key]}"
        key = self.signatures.head(head)
        name = self.type_names.get(key)
        if name is None:
            name = self.type_names[key] = f"T{len(self.type_names)}"
            self._describe(head, name)
        return f"&{name}"

    def _describe(self, head: Head, name: str) -> None:
        """The tables of a type."""
        self.type_texts.append(f"static wp_type {name};")
        kind = head.kind
        if kind == "obj":
            self._describe_object(head, name)
            return
        if kind == "generator":
            self.need(head.key[1])
            self.type_texts.append(f"/* {name}: frame of {head.key[1].c_name} */")
            self.setup.append(f"wp_frame_type_{head.key[1].number}(&{name});")
            return
        if kind == "py":
            self._table(name, "WP_OPAQUE", 0, "sizeof(wp_opaque)", [], None, head)
            self.setup.append(f"{name}.python = {self.python_object(head.key[1])};")
            return
        if kind == "ndarray":
            self.uses_numpy = True
            element, rank = SCALAR_NODES[f"np.{head.key[1]}"], head.key[2]
            self._table(name, "WP_ARRAY", rank, f"sizeof(wp_array) + {16 * rank}", [self.spec(element)], None, head)
            return
        parts = list(head.parts)
        if kind in ("list", "vtuple", "set", "frozenset", "deque") or kind in DICTS:
            count = -1 if kind == "vtuple" else len(parts)
            self._table(name, _KINDS[kind], count, "0", [self.spec(part) for part in parts], None, head)
            if kind in ("Counter", "OrderedDict", "defaultdict"):
                import collections

                self.setup.append(f"{name}.python = {self.python_object(getattr(collections, kind))};")
            return
        cells = 0
        if kind == "closure":
            cells = len(self.cells_of_info(*head.value))
        offsets, at = [], 16
        specs = []
        for _ in range(cells):
            specs.append("&wp_any_pointer")
            offsets.append(at)
            at += 8
        for part in parts:
            specs.append(self.spec(part))
            offsets.append(at)
            at += 16 if representation(part) == "v" else 8
        self._table(name, _KINDS[kind], len(specs), str(at), specs, offsets, head)
        if kind == "tuple" and head.key[2] is not None:
            self.setup.append(f"{name}.python = {self.python_object(head.key[2])};")

    def _describe_object(self, head: Head, name: str) -> None:
        info = head.key[1]
        offsets, at, specs = [], 24, []
        for node in info.attributes.values():
            specs.append(self.spec(node.root()))
            offsets.append(at)
            at += 16 if representation(node) == "v" else 8
        kind = "WP_NAMESPACE" if isinstance(info, Namespace) else "WP_OBJECT"
        self._table(name, kind, len(specs), str(at), specs, offsets, head)
        self.setup.append(f"{name}.python = {self.python_object(info.cls)};")
        for operation, slot in (("equal", "equal"), ("hashed", "hash")):
            if operation in info.operations:
                self.need(info.operations[operation])
                self.setup.append(f"{name}.{slot} = {info.operations[operation].c_name};")
        if "equal" in info.operations and generated.fields_of(info.cls, "__eq__") is not None:
            self.setup.append(f"{name}.same_only = 1;")
        if info.attributes:
            names = ", ".join("0" for _ in info.attributes)
            self.type_texts.append(f"static void *{name}_names[] = {{{names}}};")
            for place, attribute in enumerate(info.attributes):
                self.setup.append(f"{name}_names[{place}] = {self.python_object(_interned(attribute))};")
            self.setup.append(f"{name}.names = {name}_names;")

    def _table(
        self, name: str, kind: str, count: int, size: str, specs: list[str], offsets: list[int] | None, head: Head
    ) -> None:
        slots = "0"
        if specs:
            self.type_texts.append(f"static const wp_spec *const {name}_slots[] = {{{', '.join(specs)}}};")
            slots = f"{name}_slots"
        places = "0"
        if offsets:
            self.type_texts.append(f"static const int32_t {name}_offsets[] = {{{', '.join(map(str, offsets))}}};")
            places = f"{name}_offsets"
        written = int(head.written)
        told = c_string(repr(head)[:60])
        text = f"static wp_type {name} = {{{kind}, {count}, {size}, {written}, {slots}, {places}, 0, 0, {told}}};"
        self.type_texts.append(text)

    def spec(self, node: Node) -> str:
        """The description of a place."""
        node = node.root()
        key = self.signatures.node(node)
        name = self.spec_names.get(key)
        if name is None:
            name = self.spec_names[key] = f"P{len(self.spec_names)}"
            self.type_texts.append(f"static const wp_spec {name};")
            scalars = sum(1 << _BITS[head.kind] for head in node if head.kind in _BITS)
            self.uses_numpy = self.uses_numpy or scalars >= 1 << 8
            types = [self.type_of(head) for head in node if head.kind not in _BITS]
            listed = "0"
            if types:
                self.type_texts.append(f"static const wp_type *const {name}_types[] = {{{', '.join(types)}}};")
                listed = f"{name}_types"
            self.type_texts.append(
                f"static const wp_spec {name} = {{'{representation(node)}', {scalars}, {len(types)}, {listed}}};"
            )
        return f"&{name}"

    def test(self, value: Value, head: Head) -> str:
        """Whether a value that may be of several kinds is of this one."""
        if len(value.node) == 1:
            return "1"
        kind, code = head.kind, value.code
        tagged = value.repr == "v"
        if kind in NUMPY_SCALARS:
            return f"{code}.tag == {numpy_tag(kind)}"
        if kind in _BITS:
            names = {"none": "WP_NONE", "int": "WP_INT", "float": "WP_FLOAT", "bool": "WP_BOOL"}
            return f"{code}.tag == {names[kind]}" if tagged else f"{code} == 0"
        pointer = f"{code}.u.p" if tagged else code
        there = f"{code}.tag == WP_PTR" if tagged else f"{code} != 0"
        others = [other for other in value.node if other.kind not in _BITS and other is not head]
        if not others:
            return there
        return f"({there} && ((wp_object *){pointer})->type == {self.type_of(head)})"

    def exception_test(self, held: str, wanted: list[type]) -> str:
        tests = []
        for number, cls in enumerate(classes.RAISED_NATIVELY):
            if issubclass(cls, tuple(wanted)):
                tests.append(f"wp_is_builtin({held}, {number})")
        for info in self.unit.classes.values():
            if info.is_exception and issubclass(info.cls, tuple(wanted)):
                tests.append(f"{held}->type == {self.type_of(info.head)}")
        return " || ".join(tests) or "0"

    # --- closures ----------------------------------------

    def cells_of(self, instance: Instance) -> list[str]:
        return self.cells_of_info(instance.info, instance.outer)

    def cells_of_info(self, info: FunctionInfo, outer: Instance | None) -> list[str]:
        key = (id(info), id(outer))
        found = self.cell_lists.get(key)
        if found is None:
            free = _free_names(info.tree) if outer is not None else set()
            found = self.cell_lists[key] = sorted(
                name for name in free if outer is not None and outer.variable(name) is not None
            )
        return found

    # --- functions ----------------------------------------

    def need(self, instance: Instance) -> None:
        if instance.number not in self.needed:
            self.needed[instance.number] = instance
            self.queue.append(instance)
            if not instance.info.is_generator:
                self.prototypes.append(f"{self._heading(instance)};")

    def _parameters(self, instance: Instance) -> str:
        parts = ["void *env"] if instance.outer is not None else []
        for name in instance.info.parameters:
            parts.append(f"{C_TYPES[representation(instance.locals[name])]} p_{c_name(name)}")
        return ", ".join(parts) or "void"

    def _heading(self, instance: Instance) -> str:
        return f"static {C_TYPES[representation(instance.result)]} {instance.c_name}({self._parameters(instance)})"

    def all_functions(self) -> None:
        while self.queue:
            instance = self.queue.pop()
            if instance.info.is_generator:
                self._generator(instance)
            else:
                self._function(instance)

    def _body(self, instance: Instance) -> Frame:
        cx = Frame(self.unit, instance, self)
        cx.assigned = set(instance.info.parameters)
        statements.block(cx, instance.info.tree.body)
        return cx

    def _variables(self, instance: Instance) -> list[tuple[str, str, str]]:
        """C type, name and first value of each local variable."""
        found = []
        for name in sorted(instance.info.locals):
            if name in instance.info.captured:
                found.append(("void *", "c_" + c_name(name), "(void *)0"))
            else:
                letter = representation(instance.locals[name])
                found.append((C_TYPES[letter], "v_" + c_name(name), ZEROS[letter]))
                if name in instance.flagged:
                    found.append(("int64_t", "set_" + c_name(name), "0"))
        return found

    def _start(self, instance: Instance, prefix: str) -> list[str]:
        """Cells are made, parameters stored."""
        lines = []
        for name in sorted(instance.info.captured):
            cell = self._cell_type(instance.locals[name].root())
            lines.append(f"    {prefix}c_{c_name(name)} = wp_new({cell});")
        for name in instance.info.parameters:
            plain = c_name(name)
            if name in instance.info.captured:
                c_type = C_TYPES[representation(instance.locals[name])]
                lines.append(f"    *({c_type} *)&((wp_record *){prefix}c_{plain})->value[1] = p_{plain};")
                lines.append(f"    ((wp_record *){prefix}c_{plain})->value[0] = 1;")
            else:
                lines.append(f"    {prefix}v_{plain} = p_{plain};")
                if name in instance.flagged:
                    lines.append(f"    {prefix}set_{plain} = 1;")
        return lines

    def _cell_type(self, node: Node) -> str:
        key = "cell:" + self.signatures.node(node)
        name = self.type_names.get(key)
        if name is None:
            name = self.type_names[key] = f"T{len(self.type_names)}"
            size = 24 + (16 if representation(node) == "v" else 8)
            self._table(name, "WP_CELL", 1, str(size), [self.spec(node)], [24], Head(("cell",)))
        return f"&{name}"

    def _function(self, instance: Instance) -> None:
        cx = self._body(instance)
        lines = [*line_of(instance.info), f"{self._heading(instance)}", "{"]
        lines += [f"    {c_type} {name} = {zero};" for c_type, name, zero in self._variables(instance)]
        if instance.recursive:
            lines.append(f"    WP_ENTER({instance.info.tree.lineno});")
        lines += self._start(instance, "")
        lines += cx.lines
        result = representation(instance.result)
        leave = "WP_LEAVE(); " if instance.recursive else ""
        if cx.reachable:
            node = instance.result.root()
            lines.append(f"    {leave}return {cx.as_node(cx.none, node)};")
        if any("goto raised;" in line for line in cx.lines):
            lines.append(f"raised: {leave}return {ZEROS[result]};")
        lines.append("}")
        self.functions.append("\n".join(lines))

    def _generator(self, instance: Instance) -> None:
        cx = self._body(instance)
        variables = self._variables(instance)
        name = instance.c_name
        sent = [(C_TYPES[representation(instance.sent)], "sent")] if len(instance.sent) else []
        if instance.info.returns_value:
            sent.append((C_TYPES[representation(instance.returned)], "returned"))
        fields = [("void *", "env"), *sent, *((c_type, field) for c_type, field, _ in variables), *cx.frame_fields]
        struct = "; ".join(f"{c_type} {field}" for c_type, field in fields)
        self.prototypes.append(f"typedef struct {{ wp_frame head; {struct}; }} frame{instance.number};")
        letter = representation(instance.yielded)
        make = f"static void *{name}_make({self._parameters(instance)})"
        following = f"static int64_t {name}_next(void *g, {C_TYPES[letter]} *out)"
        self.prototypes += [f"{make};", f"{following};", f"static void wp_frame_type_{instance.number}(wp_type *t);"]
        assert instance.head is not None
        frame_type = self.type_of(instance.head)
        pointers = [(c_type, field) for c_type, field in fields if c_type.endswith("*") or c_type == "wp_val"]
        specs = ", ".join("&wp_any_pointer" if c_type != "wp_val" else "&wp_any_value" for c_type, _ in pointers)
        offsets = ", ".join(f"__builtin_offsetof(frame{instance.number}, {field})" for _, field in pointers)
        lines = [f"static void wp_frame_type_{instance.number}(wp_type *t)", "{"]
        lines.append(f"    static const wp_spec *const slots[] = {{{specs}}};")
        lines.append(f"    static const int32_t offsets[] = {{{offsets}}};")
        lines.append(
            f"    t->kind = WP_ITERATOR; t->count = {len(pointers)}; t->size = sizeof(frame{instance.number});"
        )
        lines.append('    t->slots = slots; t->offsets = offsets; t->name = "generator";')
        lines += ["}", make, "{", f"    frame{instance.number} *f = wp_new({frame_type});"]
        if instance.outer is not None:
            lines.append("    f->env = env;")
        lines += self._start(instance, "f->")
        lines += [
            "    return f;",
            "}",
            following,
            "{",
            f"    frame{instance.number} *f = g;",
            "    switch (f->head.state) {",
            "    case 0: break;",
        ]
        lines += [f"    case {k}: goto resume{k};" for k in range(1, cx.yields + 1)]
        # Its value is told once: whoever asks again gets None.
        ended = "return 0;"
        if instance.info.returns_value:
            ended = 'wp_deopt("a generator that has returned a value, and is asked again", 0);'
        lines += [f"    case -1: {ended}", '    default: wp_deopt("a generator that runs already", 0);', "    }"]
        if instance.recursive:
            lines.append(f"    WP_ENTER({instance.info.tree.lineno});")
        body = cx.lines
        if instance.recursive:
            lines = [line for line in lines if "WP_ENTER" not in line]  # depth is bounded by the frames' own chain
        lines += body
        lines += ["    f->head.state = -1; return 0;"]
        if any("goto raised;" in line for line in body):
            lines.append("raised: f->head.state = -1; return 0;")
        lines.append("}")
        self.functions.append("\n".join(lines))

    # --- the file ----------------------------------------

    def source(self, root: Instance, hidden: list[Any]) -> str:
        """The whole file; `hidden` are the objects that come behind the arguments."""
        self.need(root)
        self.all_functions()
        parameters = [root.locals[name].root() for name in root.info.parameters]
        extra = [self.unit.hidden[id(held)].node.root() for held in hidden]
        specs = [self.spec(node) for node in (*parameters, *extra)]
        result_spec = self.spec(root.result)
        lines, passed, at = [], [], 0
        for node in parameters:
            passed.append(f"*({C_TYPES[representation(node)]} *)&arguments[{at}]")
            at += 2 if representation(node) == "v" else 1
        for held, node in zip(hidden, extra):
            lines.append(f"    {self.hidden(held)} = *({C_TYPES[representation(node)]} *)&arguments[{at}];")
            at += 2 if representation(node) == "v" else 1
        self.all_functions()
        letter = representation(root.result)
        call = f"{root.c_name}({', '.join(passed)})"
        fields = [f"{C_TYPES[representation(node)]} {self.hidden(held)[4:]};" for held, node in zip(hidden, extra)]
        declared = [f"static struct {{ {' '.join(fields) or 'int none;'} }} own;"]
        entry_name = f"weft_{c_name(root.info.name)}" if wants_lines() else "kernel"
        kernel = [
            *line_of(root.info),
            f"static void {entry_name}(int64_t *arguments, int64_t *result)",
            "{",
            *([] if self.deoptimise is None else [f"    forced_left = {self.deoptimise};"]),
            *lines,
            f"    *({C_TYPES[letter]} *)result = {call};",
        ]
        kernel += ['    if (wp_exception) wp_deopt("an exception", 0);', "}"]
        listed = ", ".join(specs) or "0"
        entry = [
            f"static const wp_spec *const parameters[] = {{{listed}}};",
            f"wp_version weft_version = {{{len(specs)}, parameters, {result_spec}, {entry_name}, &own, sizeof own}};",
            "void weft_setup(void **objects)",
            "{",
            "    wp_python = objects;",
            *(f"    {line}" for line in dict.fromkeys(self.setup)),
            "}",
        ]
        self.uses_numpy = self.uses_numpy or any(_NUMPY.search(text) for text in self.functions)
        head = ['#include "plain.h"', '#include "kernel.h"', "static void **wp_python;"]
        if self.uses_numpy:
            head.insert(1, '#include "arrays.h"')
        head.append("static const wp_spec wp_any_pointer = {'p', 0, 0, 0};")
        head.append("static const wp_spec wp_any_value = {'v', 0, 0, 0};")
        if self.deoptimise is not None:
            head.append("static int64_t forced_left;")
        parts = [
            *head,
            *self.string_texts,
            *declared,
            *self.type_texts,
            *self.prototypes,
            *self.functions,
            *kernel,
            *entry,
        ]
        return "\n".join(_pinned(parts) if wants_lines() else parts) + "\n"


def line_of(info: FunctionInfo) -> list[str]:
    """Where a function begins, for profilers and debuggers that are asked for lines."""
    return [f"#line {max(info.tree.lineno, 1)} {c_string(info.file)}"] if wants_lines() else []


def _pinned(parts: list[str]) -> list[str]:
    """Every row of C at the line that the last directive names: by itself it would be one further."""
    rows: list[str] = []
    current = ""
    for row in (row for part in parts for row in part.split("\n")):
        if row.startswith("#line"):
            current = row
            continue
        if current and not row.startswith("#"):
            rows.append(current)
        rows.append(row)
    return rows


def _interned(name: str) -> str:
    import sys

    return sys.intern(name)


def _short(held: Any) -> str:
    return str(getattr(held, "__qualname__", type(held).__name__))[:60]


def mark_recursive(instances: list[Instance]) -> None:
    """Functions that may call themselves, directly or through others, count how deep they are."""
    index: dict[Instance, int] = {}
    low: dict[Instance, int] = {}
    stack: list[Instance] = []
    on_stack: set[Instance] = set()

    for start in instances:
        if start in index:
            continue
        work = [(start, iter(ordered(start.calls)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(ordered(other.calls))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member is node:
                            break
                    for member in component:
                        member.recursive = len(component) > 1 or member in member.calls


assert ast
