"""Early returns of an inlined function, rewritten so that there is one exit.  In: the body of a function; out: a body
that assigns `__weft_result` where it returned, with the same control flow.

    if c: return x          if c: __weft_result = x
    rest; return y    -->   else: rest; __weft_result = y
A return inside a loop sets a flag and breaks; what follows the loop runs only if the flag is not set.
"""

from __future__ import annotations

import ast
import copy

RESULT = "__weft_result"
RETURNED = "__weft_returned"


def is_departure(node: ast.stmt) -> bool:
    """Whether a statement notes that the function has returned."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant) or node.value.value is not True:
        return False
    return isinstance(node.targets[0], ast.Name) and node.targets[0].id == RETURNED


def contains_return(node: ast.AST) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    return any(contains_return(child) for child in ast.iter_child_nodes(node))


def single_exit(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body with every return as an assignment to RESULT; falling off the end assigns None."""
    return _rewrite([*copy.deepcopy(body), ast.Return(value=None)])


def _located(node: ast.stmt, like: ast.AST) -> ast.stmt:
    ast.copy_location(node, like) if hasattr(like, "lineno") else None
    return ast.fix_missing_locations(node)


def _assign(name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
    return _located(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value), like)


def _ends(body: list[ast.stmt]) -> bool:
    """Whether control never falls off the end of a block because it returns."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.Try):
        through = _ends(last.body) or _ends(last.orelse)
        return _ends(last.finalbody) or (through and all(_ends(handler.body) for handler in last.handlers))
    return isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse)


def _unless_returned(body: list[ast.stmt], like: ast.AST) -> ast.stmt:
    test = ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=RETURNED, ctx=ast.Load()))
    return _located(ast.If(test=test, body=body or [ast.Pass()], orelse=[]), like)


def _rewrite(body: list[ast.stmt]) -> list[ast.stmt]:
    done: list[ast.stmt] = []
    for position, node in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(node, ast.Return):
            return [*done, _assign(RESULT, node.value or ast.Constant(value=None), node)]
        if not contains_return(node):
            done.append(node)
            continue
        if isinstance(node, ast.If):
            then = node.body if _ends(node.body) else node.body + copy.deepcopy(rest)
            orelse = node.orelse if _ends(node.orelse) else node.orelse + rest
            new = ast.If(test=node.test, body=_rewrite(then) or [ast.Pass()], orelse=_rewrite(orelse))
            return [*done, _located(new, node)]
        if isinstance(node, (ast.For, ast.While)):
            flag = _assign(RETURNED, ast.Constant(value=False), node)
            loop = copy.copy(node)
            loop.body, loop.orelse = _leave_loops(node.body), _flagged(node.orelse)
            return [*done, flag, loop, _unless_returned(_rewrite(rest), node)]
        if isinstance(node, ast.Try) and not _returns_in(node.finalbody):
            flag = _assign(RETURNED, ast.Constant(value=False), node)
            follow = [] if _ends([node]) else [_unless_returned(_rewrite(rest), node)]
            return [*done, flag, _flagged_try(node), *follow]
        done.append(node)  # a with around a return, or one in finally: the builder refuses it with its place
    return done


def _returns_in(body: list[ast.stmt]) -> bool:
    return any(contains_return(node) for node in body)


def _flagged_try(node: ast.Try) -> ast.stmt:
    """A try whose returns set the flag; its else runs only if its block has not returned."""
    new = copy.copy(node)
    new.body = _flagged(node.body)
    new.handlers = []
    for handler in node.handlers:
        changed = copy.copy(handler)
        changed.body = _flagged(handler.body)
        new.handlers.append(changed)
    if node.orelse and _returns_in(node.body):
        new.orelse = [_unless_returned(_flagged(node.orelse), node)]
    else:
        new.orelse = _flagged(node.orelse)
    return new


def _flagged(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block whose returns assign the result and set the flag, and then run to the end of the block."""
    done: list[ast.stmt] = []
    for position, node in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(node, ast.Return):
            value = node.value or ast.Constant(value=None)
            return [*done, _assign(RESULT, value, node), _assign(RETURNED, ast.Constant(value=True), node)]
        if not contains_return(node):
            done.append(node)
            continue
        if isinstance(node, ast.If):
            then = node.body if _ends(node.body) else node.body + copy.deepcopy(rest)
            orelse = node.orelse if _ends(node.orelse) else node.orelse + rest
            return [*done, _located(ast.If(test=node.test, body=_flagged(then), orelse=_flagged(orelse)), node)]
        if isinstance(node, (ast.For, ast.While)):
            new: ast.stmt = copy.copy(node)
            assert isinstance(new, (ast.For, ast.While))
            new.body, new.orelse = _leave_loops(node.body), _flagged(node.orelse)
        elif isinstance(node, ast.Try) and not _returns_in(node.finalbody):
            new = _flagged_try(node)
        else:
            done.append(node)
            continue
        return [*done, new, _unless_returned(_flagged(rest), node)] if rest else [*done, new]
    return done


def _leave_loops(body: list[ast.stmt]) -> list[ast.stmt]:
    """A loop body whose returns set the flag and break; an inner loop that returned breaks the outer one as well."""
    result: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Return):
            result.append(_assign(RESULT, node.value or ast.Constant(value=None), node))
            result.append(_assign(RETURNED, ast.Constant(value=True), node))
            result.append(_located(ast.Break(), node))
        elif contains_return(node) and isinstance(node, ast.If):
            new = copy.copy(node)
            new.body, new.orelse = _leave_loops(node.body), _leave_loops(node.orelse)
            result.append(new)
        elif contains_return(node) and isinstance(node, (ast.For, ast.While)):
            inner = copy.copy(node)
            inner.body, inner.orelse = _leave_loops(node.body), _flagged(node.orelse)
            result.append(inner)
            leave = ast.If(test=ast.Name(id=RETURNED, ctx=ast.Load()), body=[ast.Break()], orelse=[])
            result.append(_located(leave, node))
        elif contains_return(node) and isinstance(node, ast.Try) and not _returns_in(node.finalbody):
            attempt = copy.copy(node)
            attempt.body, attempt.orelse = _leave_loops(node.body), _leave_loops(node.orelse)
            attempt.handlers = [copy.copy(handler) for handler in node.handlers]
            for handler in attempt.handlers:
                handler.body = _leave_loops(handler.body)
            result.append(attempt)
        else:
            result.append(node)
    return result
