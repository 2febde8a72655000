"""Chains of operators over sparse and dense operands, as a whole.  In: the syntax of an expression; out: its value by
the cheapest order of its products, and without products of which few elements are asked for.

    S @ A @ B                      -->    (S @ A) @ B or S @ (A @ B), by the sizes and the entries there are
    (P @ Q).multiply(M).sum()      -->    the sums of the products where M has entries

Operands are evaluated from left to right, as Python does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from weft.frontend.building import Building
from weft.frontend.models import products
from weft.frontend.models.formats import CSR, Compressed
from weft.frontend.values import Array, Scalar, Struct, Value
from weft.ir.expr import Const


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def _waits(node: ast.AST) -> bool:
    """Whether an operand may be evaluated before a product to its left: it calls nothing and is no product itself."""
    return not any(
        isinstance(part, (ast.Call, ast.NamedExpr, ast.Await)) or _is_product(part) for part in ast.walk(node)
    )


def _is_dense(value: Value, rank: int) -> bool:
    return isinstance(value, Array) and value.rank == rank and not value.is_list


def _is_compressed(value: Value) -> bool:
    return isinstance(value, Struct) and issubclass(value.kind, Compressed)


class SparseChains(Building):
    """Expressions that are seen as a whole."""

    def _eval_binop(self, node: ast.BinOp) -> Value:
        left = node.left
        if not (_is_product(node) and isinstance(left, ast.BinOp) and _is_product(left) and _waits(node.right)):
            return super()._eval_binop(node)
        first, second, third = self.evaluate_all([left.left, left.right, node.right])
        self.at(node)
        chain = [first, second, third]
        if not self.emitter.decisions.strict and _is_dense(third, 2) and _chooses(self, first, second):
            return self._inline_function(products.in_cheaper_order, chain, {}, node)
        if not self.emitter.decisions.strict and _is_dense(third, 1) and _is_dense(second, 2) and _is_compressed(first):
            return self.matmul(first, self.matmul(second, third, node), node)
        self.at(left)
        product = self.matmul(first, second, left)
        self.at(node)
        return self.matmul(product, third, node)

    def _eval_call(self, node: ast.Call) -> Value:
        parts = _masked_sum(node)
        if parts is None:
            return super()._eval_call(node)
        product, mask, inner = parts
        assert isinstance(product, ast.BinOp) and isinstance(node.func, ast.Attribute)
        operands = [product.left, product.right, mask]
        left, right, over = self.evaluate_all(operands)
        arguments = self.evaluate_all([*node.args, *(keyword.value for keyword in node.keywords)])
        self.at(node)
        if _alike(self, [left, right, over]):
            found: Value = self._inline_function(products.masked, [left, right, over], {}, inner)
        else:
            whole = self.matmul(left, right, product)
            assert isinstance(inner, (ast.BinOp, ast.Call))
            if isinstance(inner, ast.BinOp):
                found = self.binary("mul", whole, over, inner, self.at(inner))
            else:
                found = self.call(self.attribute(whole, "multiply", inner), [over], {}, inner)
        keywords = {str(k.arg): value for k, value in zip(node.keywords, arguments[len(node.args) :])}
        method = self.attribute(found, "sum", node)
        return self.call(method, list(arguments[: len(node.args)]), keywords, node)


def _chooses(builder: Building, first: Value, second: Value) -> bool:
    """Whether a product of a sparse and a dense matrix may wait for another one."""
    return (_is_compressed(first) and _is_dense(second, 2)) or (_is_dense(first, 2) and _is_compressed(second))


def _alike(builder: Building, values: Sequence[Value]) -> bool:
    """Whether three operands are matrices in compressed rows, of one interface."""
    kinds = {value.kind for value in values if isinstance(value, Struct)}
    flags = [value.fields["is_array"] for value in values if isinstance(value, Struct) and value.kind is CSR]
    known = {flag.expr.value for flag in flags if isinstance(flag, Scalar) and isinstance(flag.expr, Const)}
    return kinds == {CSR} and len(flags) == len(values) and len(known) == 1


def _masked_sum(node: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The product, the mask and what combines them, of (P @ Q).multiply(M).sum(...)."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "sum"):
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        return None
    inner = node.func.value
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute) or inner.func.attr != "multiply":
        return None
    one = inner.args[0] if len(inner.args) == 1 and not inner.keywords else None
    if one is None or isinstance(one, ast.Starred) or not _waits(one):
        return None
    return (inner.func.value, one, inner) if _is_product(inner.func.value) else None
