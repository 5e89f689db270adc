"""Subscriptions in the languages of other packages: the subset that all of them have."""

from __future__ import annotations

from dataclasses import dataclass

from boolfilter.expressions import And, Expression, Not, Operator, Or, Predicate, postorder


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes what all have: comparisons of integers, AND, OR and NOT."""

    conjunction: str
    disjunction: str
    negation: str
    equal: str
    unequal: str
    attribute: str = "{}"

    def text(self, expression: Expression) -> str:
        """The expression, with brackets around every operator but the outermost.

        >>> import boolfilter as bf
        >>> expression = bf.parse("a = 1 AND (b < 2 OR NOT c <> 3)")
        >>> for dialect in (CEL, PYTHON, SQL):
        ...     print(dialect.text(expression))
        a == 1 && (b < 2 || !(c != 3))
        e['a'] == 1 and (e['b'] < 2 or not (e['c'] != 3))
        a = 1 AND (b < 2 OR NOT (c <> 3))
        """
        texts: list[str] = []
        for node in postorder(expression):
            children = texts[len(texts) - len(node.children) :]
            del texts[len(texts) - len(node.children) :]
            texts.append(self._node(node, children, outermost=node is expression))
        return texts[0]

    def _node(self, node: Expression, children: list[str], outermost: bool) -> str:
        if isinstance(node, Predicate):
            return self._comparison(node)
        if isinstance(node, Not):
            bracketed = children[0] if children[0].startswith("(") else f"({children[0]})"
            return f"{self.negation}{bracketed}"
        if not isinstance(node, (And, Or)):
            raise ValueError(f"not in every language: {node}")
        text = (self.conjunction if isinstance(node, And) else self.disjunction).join(children)
        return text if outermost else f"({text})"

    def _comparison(self, node: Predicate) -> str:
        signs = {Operator.EQUAL: self.equal, Operator.NOT_EQUAL: self.unequal}
        sign = signs.get(node.operator, node.operator.value)
        if type(node.operand) is not int or sign not in {*signs.values(), "<", "<=", ">", ">="}:
            raise ValueError(f"not in every language: {node}")
        return f"{self.attribute.format(node.attribute)} {sign} {node.operand}"


CEL = Dialect(" && ", " || ", "!", "==", "!=")
PYTHON = Dialect(" and ", " or ", "not ", "==", "!=", attribute="e['{}']")
RULE_ENGINE = Dialect(" and ", " or ", "not ", "==", "!=")
SQL = Dialect(" AND ", " OR ", "NOT ", "=", "<>")
