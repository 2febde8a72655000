"""Calls: library functions through the knowledge base, the user's own functions inlined, methods, comprehensions."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import operator
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.errors import LeftToLibrary, Unsupported
from weft.frontend import arith, arrays, callbacks, knowledge, masks, reads, reasons
from weft.frontend.building import Building
from weft.frontend.comprehensions import fold_generator
from weft.frontend.constants import constant
from weft.frontend.contexts import without_contexts
from weft.frontend.core import kept_items
from weft.frontend.dicts import entries_of
from weft.frontend.emit import Emitter
from weft.frontend.exceptions import caught_text
from weft.frontend.expressions import constant_value
from weft.frontend.generators import consumed, is_generator
from weft.frontend.instances import entry_by_name
from weft.frontend.iterators import kept_calls, makes_iterator
from weft.frontend.keyed import keyed_item, keyed_items, keyed_method
from weft.frontend.knowledge import linear, operators, records, sequences, texts
from weft.frontend.knowledge.python import python_type
from weft.frontend.knowledge.reshaping import reshaped, wanted_shape
from weft.frontend.knowledge.shaping import joined
from weft.frontend.knowledge.ufuncs import as_plain
from weft.frontend.lists import all_there
from weft.frontend.liveness import Liveness
from weft.frontend.mixed import settle
from weft.frontend.nested import index_at_run_time
from weft.frontend.recursion import invoke, invoke_closure, invoke_itself, is_recursive, key_of, typed_later
from weft.frontend.returns import RESULT, single_exit
from weft.frontend.scope import Scope
from weft.frontend.source import Source, load
from weft.frontend.statements import execute_all, share_names
from weft.frontend.strings import is_text, joined_texts, kept_text
from weft.frontend.structs import is_named_tuple, is_simple_class, named_tuple
from weft.frontend.tasks import with_finish
from weft.frontend.values import (
    Array,
    Caught,
    Closure,
    Dict,
    Generator,
    Instance,
    Iterable,
    Keyed,
    Keywords,
    Mask,
    Maybe,
    Method,
    Object,
    Partial,
    PythonFunction,
    Records,
    Recursive,
    Scalar,
    Struct,
    Text,
    Tuple,
    Value,
)
from weft.ir.expr import ONE, ZERO, Expr, integer
from weft.ir.types import F64, ScalarType, promote

_MAX_DEPTH = 12
_MAX_INLINED = 1000  # calls written out in one function: two calls a level are 4096 calls at twelve levels
#: Functions of these packages are known or unknown; their Python source is never inlined.
_LIBRARIES = frozenset({"numpy", "scipy", "math", "cmath"})
# Messages between ranks: calls from Python, with native regions around them.
_MESSAGES = "weft.cluster.comm"

#: What a function of a model emits stands at the place of the user's operator.
_MODELS = "weft.frontend.models."

#: Functions that cannot do with None among the items of a list.
_NEED_ITEMS = (sum, min, max, sorted)
#: Containers that only the compiler of plain Python has.
_PLAIN_KINDS = (set, frozenset, Counter, OrderedDict, defaultdict)


class Calls(Building):
    """`_eval_call` and what it needs."""

    def calls_are_caught(self) -> None:
        self.functions.caught = True

    def _eval_call(self, node: ast.Call) -> Value:
        function = self.evaluate(node.func)
        generator = len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)
        if generator and isinstance(function, Object) and function.value is tuple and not node.keywords:
            return self.call(function, [self.comprehension(node.args[0], lists=True)], {}, node)  # type: ignore[arg-type]
        folds = isinstance(function, Object) and function.value in (sum, min, max, any, all)
        if generator and folds and isinstance(function, Object) and not node.keywords:
            return fold_generator(self, function.value, node)
        if generator and isinstance(function, Method) and is_text(function.receiver):
            parts = self.comprehension(node.args[0], lists=True)  # type: ignore[arg-type]
            return self.call(function, [parts], {}, node)
        arguments = [*node.args, *(k.value for k in node.keywords)]
        if _takes_arrays(function) and arguments and isinstance(arguments[0], ast.ListComp):
            values = [self.comprehension(arguments[0], lists=False), *self.evaluate_all(arguments[1:])]
        else:
            values = self.evaluate_all(arguments, open_ones=isinstance(function, (PythonFunction, Closure)))
        if any(id(argument) in self.fleeting for argument in arguments) and self._is_users(function):
            raise self.unsupported(node, "an iterator as an argument of a function", "make a list of it")
        args = self.spread(node.args, values[: len(node.args)])
        kwargs = _keywords(self, node, values[len(node.args) :])
        self.at(node)
        result = self.call(function, args, kwargs, node)
        if isinstance(function, Object) and makes_iterator(function.value) and not isinstance(result, Generator):
            _made_iterator(self, function.value.__name__, node)
        return result

    def _is_users(self, function: Value) -> bool:
        """Whether a call runs code of the user's, or keeps its arguments."""
        if isinstance(function, PythonFunction):
            module = (function.function.__module__ or "").partition(".")[0]
            return module not in _LIBRARIES and knowledge.lookup(function.function) is None
        if isinstance(function, Object):
            thing = function.value
            return is_named_tuple(thing) or is_simple_class(thing) or hasattr(thing, "py_func")
        return not isinstance(function, Method) or isinstance(function.receiver, Struct)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        if isinstance(function, (Object, PythonFunction)):
            thing = function.value if isinstance(function, Object) else function.function
            sends = getattr(thing, "__module__", None) == _MESSAGES
            if sends and thing.__name__ not in sys.modules[_MESSAGES].COMPILED:
                raise LeftToLibrary(self.emitter.span, f"{thing.__name__} is a call from Python: it sends or receives")
        if isinstance(function, Object) and isinstance(function.value, callbacks.HostFunction):
            return callbacks.call(function.value, args, kwargs, self.emitter)
        if isinstance(function, Object):
            if isinstance(node, ast.Call) and not callable(function.value):  # np.r_[...] comes this way as a subscript
                raise self.unsupported(node, f"a call of an object of class {type(function.value).__name__}")
            return self._call_object(function.value, args, kwargs, node)
        if isinstance(function, Method):
            return self._call_method(function, args, kwargs, node)
        if isinstance(function, Partial):
            return self.call(function.function, [*function.args, *args], function.kwargs | kwargs, node)
        if isinstance(function, PythonFunction):
            if (function.function.__module__ or "").partition(".")[0] in _LIBRARIES or knowledge.lookup(
                function.function
            ):
                args, kwargs = [*map(self.present, args)], {name: self.present(v) for name, v in kwargs.items()}
                return self._call_object(function.function, args, kwargs, node)
            return self._inline_function(function.function, args, kwargs, node)
        if isinstance(function, Closure):
            key = key_of(function.scope.source, function.tree)
            if is_recursive(self, key):
                values = _bind_parameters(self, function.tree, args, kwargs, node, function.defaults)
                return invoke_closure(self, function, values, node)
            tree, scope = function.tree, function.scope
            return inline(self, tree, args, kwargs, node, scope.source, parent=scope, defaults=function.defaults)
        if isinstance(function, Recursive):
            tree = function.source.tree
            values = _bind_parameters(self, tree, args, kwargs, node, None, function.captured)
            return invoke_itself(self, function, values, node)
        if isinstance(function, Instance) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = getattr(function.sample, "__self__", None)
            receiver = Instance(function.argument, function.path[:-1], owner)
            if node.func.attr == "get" and len(args) in (1, 2) and not kwargs:
                missing = args[1] if len(args) == 2 else Object(None)
                entry = entry_by_name(self, receiver, args[0], missing, node)
                if entry is not None:
                    return entry
            what = f"{node.func.attr} of an object of type {type(owner).__name__}"
            reason, remedy = f"a call of the method {what}", "call it outside the compiled function"
            raise self.unsupported(node, reason, f"{remedy}, and pass its result", receiver=receiver)
        raise self.unsupported(node, "a call of this", "call a function by its own name", function=function)

    def _call_object(self, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        done = consumed(self, thing, args, kwargs, node)
        if done is not None:
            return done
        if thing is str and len(args) == 1 and isinstance(args[0], Caught):
            return caught_text(self, args[0], node)
        if thing is type and len(args) == 1 and not kwargs and not self.is_choice(args[0]):
            kind = np.ndarray if self.emitter.is_boxed(args[0]) else python_type(args[0])
            if kind is not None and not isinstance(args[0], Object):
                return Object(kind)
        if thing is functools.partial and args:
            taken = [self._taken(value) for value in args[1:]]
            return Partial(args[0], tuple(taken), {name: self._taken(value) for name, value in kwargs.items()})
        if isinstance(thing, functools.partial):
            return self.call(_known_partial(self, thing, node), args, kwargs, node)
        written = _of_operator(self, thing, args, kwargs, node)
        if written is not None:
            return written
        entry = knowledge.lookup(thing)
        if entry is not None:
            self.calling = node
            if any(thing is one for one in _NEED_ITEMS) or getattr(thing, "__module__", "") == "numpy":
                args = [all_there(self, value) for value in args]
            return entry.call(self, args, kwargs)  # type: ignore[arg-type]
        if is_named_tuple(thing):
            return named_tuple(self, thing, args, kwargs, node)
        if is_simple_class(thing):
            return self.construct(thing, args, kwargs, node)
        plain = getattr(thing, "py_func", None)
        if plain is not None and inspect.isfunction(plain):
            return self._inline_function(plain, args, kwargs, node)
        if isinstance(thing, functools._lru_cache_wrapper):
            reason = f"a call of {reasons.title_of(thing)}, which keeps its results for all callers"
            raise self.unsupported(node, reason, "make it a nested function with @functools.cache")
        refusal = self.unsupported(node, *reasons.no_native_form(thing))
        if any(thing is kind for kind in _PLAIN_KINDS):
            refusal = reasons.left_to_plain(refusal, apart=thing is not OrderedDict)
        raise refusal

    def _call_method(self, function: Method, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        receiver = function.receiver
        if isinstance(receiver, (Keyed, Keywords)):
            return keyed_method(self, receiver, function.name, args, node)
        if isinstance(receiver, Struct):
            return self.struct_method(receiver, function.name, args, kwargs, node)
        if is_text(receiver):
            self.calling = node
            return texts.method(self, receiver, function.name, args, kwargs)  # type: ignore[arg-type]
        if isinstance(receiver, Scalar) and function.name in ("conj", "conjugate") and not args and not kwargs:
            if not receiver.type.dtype.is_complex:
                return receiver  # unlike np.conj, which makes an int8 of a boolean
            return Scalar(arith.function("conj", (receiver.expr,), self.emitter.span))
        if isinstance(receiver, Dict) and not kwargs:
            return self.dict_method(receiver, function.name, args, node)
        if function.name in ("extend", "extendleft") and len(args) == 1 and isinstance(args[0], (Dict, Iterable)):
            held = args[0]
            args = [self.listed(entries_of(self, held, "keys") if isinstance(held, Dict) else held)]
        if not kwargs:
            changed = self.list_method(receiver, function.name, args, node)
            if changed is not None:
                return changed
        if isinstance(receiver, Tuple) and receiver.is_list and function.name == "copy" and not args and not kwargs:
            return replace(receiver, key=None, site=self.site(node))
        if isinstance(receiver, Tuple) and receiver.named is not None and function.name == "_replace" and not args:
            names: tuple[str, ...] = receiver.named._fields  # type: ignore[attr-defined]
            if set(kwargs) <= set(names):
                pairs = zip(names, receiver.items)
                return replace(receiver, items=tuple(kwargs.get(name, item) for name, item in pairs))
        if isinstance(receiver, Records):
            self.calling = node
            kept = records.method(self, receiver, function.name, args, kwargs)  # type: ignore[arg-type]
            if kept is not None:
                return kept
        if isinstance(receiver, Array) and receiver.is_list:
            self.calling = node
            done = sequences.list_method(self, receiver, function.name, args, kwargs)  # type: ignore[arg-type]
            if done is not None:
                return done
        entry = knowledge.method(function.name)
        if entry is None or (isinstance(receiver, Array) and receiver.is_list) or isinstance(receiver, Tuple):
            for around in list(self.scope.values.values()):
                if isinstance(around, Tuple) and any(item is receiver for item in around.items):
                    index_at_run_time(self, around)  # an item of a literal list that changes needs memory
            raise self.unsupported(node, f"the method {function.name}", receiver=receiver)
        self.calling = node
        return entry.call(self, [receiver, *args], kwargs)  # type: ignore[arg-type]

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        if isinstance(base, Keywords) and node is not None and not store:
            return keyed_item(self, base, key, node)
        if isinstance(base, Object) and not store:
            entry = knowledge.lookup(base.value)
            if entry is not None and not callable(base.value):
                return entry.call(self, [key], {})  # type: ignore[arg-type]
        return super().subscript(base, key, node, store)

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        if isinstance(base, Keywords):
            return Method(base, name)
        if isinstance(base, Caught) and name == "args":
            return Tuple((caught_text(self, base, node),))
        if (
            isinstance(base, Object)
            and isinstance(base.value, np.ufunc)
            and name in ("outer", "reduce", "accumulate", "reduceat", "at")
        ):
            bound = getattr(base.value, name)
            return Object(bound) if knowledge.lookup(bound) is not None else Method(base, name)
        return super().attribute(base, name, node)

    def reshape(self, array: Array, shape: Value) -> Array:
        return reshaped(array, wanted_shape(array, shape, self.emitter), self.emitter)

    def matmul(self, left: Value, right: Value, node: ast.AST) -> Value:
        if isinstance(left, Struct) or isinstance(right, Struct):
            return self.struct_operator("matmul", left, right, node)
        first, second = linear.as_pair(left, right, self.emitter)
        return linear.matmul(first, second, self.emitter)

    def _eval_joinedstr(self, node: ast.JoinedStr) -> Value:
        """f"{a} and {b}" of strings and integers"""
        result: Value = Object("")
        for part in node.values:
            plain = isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion in (-1, 115)
            if not plain and not isinstance(part, ast.Constant):
                raise self.unsupported(part, "a format in a string", "format it outside the compiled function")
            value = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
            self.calling = node
            if not is_text(value) or self.text(value).kind != "str":
                value = texts.spelled_int(self, value, 10, "")  # type: ignore[arg-type]
            result = joined_texts(self, self.text(result), self.text(value), node)
        return result

    def find_text(self, text: Text, part: Text, node: ast.AST) -> Expr:
        self.calling = node
        found = texts.method(self, text, "find", [part], {})  # type: ignore[arg-type]
        assert isinstance(found, Scalar)
        return found.expr

    # --- inlining ---------------------------------------------------------------------------------------------------

    def _inline_function(self, function: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        source = self.sources.get(function)
        if source is None:
            source = self.sources[function] = load(function)
        reads.function(function)
        if (function.__module__ or "").startswith(_MODELS):
            source = replace(source, place=self.emitter.span)
        defaults = _defaults_of(self, function)
        if is_recursive(self, key_of(source, source.tree)):
            return invoke(self, source, _bind_parameters(self, source.tree, args, kwargs, node, defaults), node)
        try:
            return inline(self, source.tree, args, kwargs, node, source, None, defaults)
        except Unsupported as problem:
            if type(problem) is Unsupported and reasons.is_stand_in(function, source.file):
                raise self.unsupported(node, *reasons.no_native_form(function.__wrapped__)) from problem
            raise

    def expand(self, function: Callable[..., Any], given: Mapping[str, Value], args: Sequence[Value] = ()) -> Value:
        """A library function by its definition over others; what that emits stands where the user's call stands."""
        source = self.sources.get(function)
        if source is None:
            source = self.sources[function] = load(function)
        defaults = _defaults_of(self, function)
        # The body only reads its arguments: what NumPy would give as a view may be a copy.
        values = {n: replace(v, borrowed=False) if isinstance(v, Array) else v for n, v in given.items()}
        placed = replace(source, place=self.emitter.span)
        return inline(self, source.tree, list(args), values, self.calling, placed, None, defaults)

    def closure_call(self, tree: ast.FunctionDef, args: list[Value], node: ast.AST) -> Value:
        """A call of a function made here, as if it were defined where it is called."""
        return inline(self, tree, args, {}, node, self.scope.source, parent=self.scope)

    def enter_call(self, name: str, node: ast.AST) -> None:
        """Refuse calls without end, and more of them than can be compiled in good time."""
        if self.depth >= _MAX_DEPTH:
            raise self.unsupported(node, f"a call of {name} that nests too deeply (recursion?)", "write it as a loop")
        self.inlined += 1
        if self.inlined > _MAX_INLINED:
            reason = f"more than {_MAX_INLINED} calls written out in place, the last one of {name}"
            raise self.unsupported(node, reason, "compute a call that is repeated once and keep its result")

    def _body_of(self, tree: ast.FunctionDef | ast.Lambda, namespace: dict[str, Any]) -> list[ast.stmt]:
        cached = self._bodies.get(id(tree))
        if cached is None:
            if isinstance(tree, ast.Lambda):
                last = ast.copy_location(ast.Return(value=tree.body), tree.body)
                cached = [last]
            else:
                last = ast.Return(value=ast.Name(id=RESULT, ctx=ast.Load()))
                ast.copy_location(last, tree)
                plain = with_finish(without_contexts(tree.body, namespace, tree), namespace)
                cached = [*single_exit(plain), ast.fix_missing_locations(last)]
            self._bodies[id(tree)] = cached
        return cached

    # --- sequences --------------------------------------------------------------------------------------------------

    def array_of(self, value: Tuple, node: ast.AST | None, of: ScalarType | None = None) -> Array:
        """np.array of a literal (nested) sequence."""
        emitter = self.emitter
        if not value.items:
            return arrays.of_buffer(emitter.allocate("array", of or F64, (ZERO,)))
        if any(isinstance(item, Array) for item in _items(value)):
            return _array_of_arrays(self, value, node, of)
        leaves: list[tuple[tuple[int, ...], Scalar]] = []
        shape = _literal_shape(self, value, (), leaves)
        if of is None:
            of = leaves[0][1].type.strong
            for _, leaf in leaves[1:]:
                of = promote(of, leaf.type.strong)
            settle(self, [leaf.expr for _, leaf in leaves], lambda kinds: functools.reduce(promote, kinds).dtype)
        buffer = emitter.allocate("array", of, tuple(integer(extent) for extent in shape))
        for position, leaf in leaves:
            at = tuple(integer(k) for k in position)
            number = arrays.element(leaf.expr, of, emitter)
            emitter.assign((), buffer.name, at, arrays.storable(number, of, emitter))
        return arrays.of_buffer(buffer)


def _made_iterator(builder: Building, name: str, node: ast.Call) -> None:
    """What map(), zip() and so on make is run through at once, or refused: it gives its items only once."""
    scope = builder.scope
    if scope.source.place is not None:
        return
    if scope.kept is None:
        scope.kept = kept_calls(scope.body)
    if id(node) in scope.kept:
        raise builder.unsupported(node, f"an iterator of {name}() that is kept", "make a list of it")
    builder.fleeting.add(id(node))


def _keywords(builder: Building, node: ast.Call, values: Sequence[Value]) -> dict[str, Value]:
    """The keyword arguments of a call, with those of `**` among them."""
    kwargs: dict[str, Value] = {}
    for keyword, value in zip(node.keywords, values):
        if keyword.arg is not None:
            new = {keyword.arg: value}
        elif isinstance(value, (Keywords, Keyed)):
            new = keyed_items(builder, value, node)
        else:
            raise builder.unsupported(node, "a call with ** of this", value=value)
        if set(new) & set(kwargs):
            raise builder.unsupported(node, "TypeError: two values for one keyword argument")
        kwargs |= new
    return kwargs


def _of_operator(
    builder: Building, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value | None:
    """A call of a function of `operator`, or of what its itemgetter has made; None if it is another one."""
    if kwargs:
        return None
    if thing is operator.itemgetter or thing is operator.attrgetter:
        keys = tuple(constant(value, builder.emitter) for value in args)
        made = _written(node, (thing, repr(keys)), lambda: operators.getter(thing, keys))
        if made is None:
            raise builder.unsupported(node, f"these arguments of {thing.__name__}()")
        return Closure(made, builder.scope)
    known = operators.keys_of(thing)
    if known is not None:
        made = _written(node, (known[0], repr(known[1])), lambda: operators.getter(*known))
    elif operators.definition(thing) is not None:
        made = _written(node, (thing, ""), lambda: operators.definition(thing))
    else:
        return None
    return None if made is None else builder.call(Closure(made, builder.scope), args, {}, node)


def _known_partial(builder: Building, thing: functools.partial[Any], node: ast.AST) -> Partial:
    """A functools.partial from outside the function: its arguments must be constants."""
    reads.partial(thing)
    values = [constant_value(value) for value in (thing.func, *thing.args, *thing.keywords.values())]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        raise builder.unsupported(node, "a functools.partial with arguments that are no numbers")
    count = 1 + len(thing.args)
    return Partial(known[0], tuple(known[1:count]), dict(zip(thing.keywords, known[count:])))


def _defaults_of(builder: Building, function: Callable[..., Any]) -> dict[str, Value | None]:
    """The default values of the parameters of a function from outside."""
    return {name: constant_value(value) for name, value in reads.defaults(function).items()}


def applied(builder: Building, function: Closure, args: list[Value]) -> Value:
    """What a lambda gives, as an expression in place: nothing is kept in variables."""
    tree, caller = function.tree, builder.scope
    assert isinstance(tree, ast.Lambda)
    given = dict(zip([a.arg for a in tree.args.args], args))
    builder.scope = Scope(function.scope.source, Liveness([]), [], given, parent=function.scope, inlined=True)
    try:
        return builder.evaluate(tree.body)
    finally:
        builder.scope = caller


def inline(
    builder: Building,
    tree: ast.FunctionDef | ast.Lambda,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    source: Source,
    parent: Scope | None,
    defaults: Mapping[str, Value | None] | None = None,
) -> Value:
    """The body of a function in place of its call."""
    name = getattr(tree, "name", "<lambda>")
    values = _bind_parameters(builder, tree, args, kwargs, node, defaults)
    if is_generator(tree):
        assert isinstance(tree, ast.FunctionDef)
        values = {parameter: _argument(builder, value, parameter) for parameter, value in values.items()}
        return builder.generator(tree, values, source, parent)
    builder.enter_call(name, node)
    body = builder._body_of(tree, source.namespace)
    caller, span = builder.scope, builder.emitter.span
    statement, choice, sound = builder.statement, builder.choice, builder.emitter.sound
    path = hash((caller.path, id(node)))
    builder.scope = Scope(source, Liveness(body), body, {}, parent=parent, path=path, inlined=True)
    builder.emitter.sound = source.sound
    builder.depth += 1
    builder.active.append(key_of(source, tree))
    builder.callers.append(caller)
    try:
        for parameter, value in values.items():
            builder.scope.values[parameter] = _argument(builder, value, parameter)
        share_names(builder, body)
        if not execute_all(builder, body[:-1]):
            raise builder.unsupported(node, f"a call of {name} that always raises an exception here")
        last = body[-1]
        assert isinstance(last, ast.Return) and last.value is not None
        result = builder.evaluate_open(last.value)
        if isinstance(result, Maybe):
            result = builder.kept_maybe(result, "value")
        if isinstance(result, Scalar):
            result = Scalar(builder._kept(result.expr, name if name.isidentifier() else "value"))
        if isinstance(result, Text):
            result = kept_text(builder, result, "text")
        return result
    except Unsupported as problem:
        told = reasons.told_at_call(problem, node, source.file, caller.source.span(node))
        if told is problem:
            raise
        raise told from problem
    finally:
        builder.scope = caller
        builder.statement, builder.choice = statement, choice  # what the rest of the caller's statement asks for
        builder.depth -= 1
        builder.active.pop()
        builder.callers.pop()
        builder.emitter.span, builder.emitter.sound = span, sound


def _argument(builder: Building, value: Value, name: str) -> Value:
    value = masks.settled(value, builder.emitter)
    if isinstance(value, Maybe):
        return builder.kept_maybe(value, name)
    if isinstance(value, Scalar):
        return Scalar(builder._kept(value.expr, name))
    if isinstance(value, Text):
        return kept_text(builder, value, name)
    if isinstance(value, Array) and value.view is None and value.origin is None:
        arrays.keepable(value, builder.emitter)
        return arrays.materialise(value, builder.emitter, name)
    return kept_items(builder, typed_later(builder, name, value))


def _bind_parameters(
    builder: Building,
    tree: ast.FunctionDef | ast.Lambda,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    defaults: Mapping[str, Value | None] | None,
    later: tuple[str, ...] = (),
) -> dict[str, Value]:
    """The values of the parameters, but for those that come `later`.

    `defaults` are None for a function inside its own body, and hold None for what is no value of a native form.
    """
    spec = tree.args
    positional = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    names = positional + [a.arg for a in spec.kwonlyargs]
    if len(args) > len(positional) and spec.vararg is None:
        raise builder.unsupported(node, f"TypeError: {len(args)} arguments for {len(positional)} parameters")
    bound = dict(zip(positional, args))
    more: dict[str, Value] = {}
    for key, value in kwargs.items():
        known_name = key in names and key not in [a.arg for a in spec.posonlyargs]
        if key in bound or not (known_name or spec.kwarg):
            raise builder.unsupported(node, f"TypeError: unexpected argument {key}")
        (bound if known_name else more)[key] = value
    if spec.vararg is not None:
        bound[spec.vararg.arg] = Tuple(tuple(args[len(positional) :]))
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = Keywords(more)
    if defaults is None:
        pairs = list(zip(positional[::-1], spec.defaults[::-1]))
        pairs += [(a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None]
        for key, expression in pairs:
            if key not in bound and not isinstance(expression, ast.Constant):
                raise builder.unsupported(node, f"the default value of {key} of a recursive function")
            if key not in bound:
                bound[key] = builder.evaluate(expression)
    else:
        for key, default in defaults.items():
            if key not in bound and default is None:
                raise builder.unsupported(node, f"the default value of {key}", f"pass {key} in the call")
            if key not in bound and default is not None:
                bound[key] = default
    missing = [key for key in names if key not in bound and key not in later]
    if missing:
        raise builder.unsupported(node, f"TypeError: missing argument {missing[0]}")
    return bound


def _array_of_arrays(builder: Building, value: Tuple, node: ast.AST | None, of: ScalarType | None) -> Array:
    """np.array of a sequence that holds arrays: they are stacked."""
    parts: list[Array] = []
    for item in value.items:
        item = masks.settled(item, builder.emitter)
        if isinstance(item, Tuple):
            part = builder.array_of(item, node)
        else:
            part = arrays.as_array(as_plain(item), builder.emitter)
        parts.append(part)
    if len({part.rank for part in parts}) != 1:
        raise Unsupported(builder.emitter.span, "ValueError: an array of rows of different lengths")
    if of is not None:
        parts = [_as_type(part, of, builder.emitter) for part in parts]
    lifted = [arrays.remap(part, (ONE, *part.shape), lambda at: at[1:]) for part in parts]
    return joined(lifted, 0, builder.emitter)


def _literal_shape(
    builder: Building, value: Value, at: tuple[int, ...], leaves: list[tuple[tuple[int, ...], Scalar]]
) -> tuple[int, ...]:
    if isinstance(value, Scalar):
        leaves.append((at, value))
        return ()
    if not isinstance(value, Tuple):
        raise Unsupported(builder.emitter.span, "an array of something that is not a number")
    shapes = {_literal_shape(builder, item, (*at, k), leaves) for k, item in enumerate(value.items)}
    if len(shapes) != 1:
        raise Unsupported(builder.emitter.span, "ValueError: an array of rows of different lengths")
    return (len(value.items), *shapes.pop())


def _items(value: Value) -> Iterator[Value]:
    """Everything in a nested sequence that is no sequence."""
    if isinstance(value, Tuple):
        for item in value.items:
            yield from _items(item)
    else:
        yield value.array if isinstance(value, Mask) else value


def _as_type(array: Array, of: ScalarType, emitter: Emitter) -> Array:
    return Array(array.shape, of, lambda at: arrays.storable(array.element(at), of, emitter), cost=array.cost + 1)


def _written(node: ast.AST, key: object, make: Callable[[], ast.Lambda | None]) -> ast.Lambda | None:
    """A lambda that stands where a node stands.

    It is kept on the node itself: bodies are remembered by the identity of their trees, over all attempts at a build.
    """
    kept: dict[object, ast.Lambda] = node.__dict__.setdefault("written", {})
    made = kept.get(key)
    if made is None:
        found = make()
        if found is None:
            return None
        made = copy.deepcopy(found)
        for part in ast.walk(made):
            ast.copy_location(part, node)
        kept[key] = made
    return made


def _takes_arrays(function: Value) -> bool:
    """Whether a function makes an array of a list before it looks at it."""
    module = getattr(function.value, "__module__", None) if isinstance(function, Object) else None
    return (module or "").partition(".")[0] == "numpy"
