"""Match events against millions of Boolean subscriptions in microseconds.

>>> import boolfilter as bf
>>> cheap_toys = bf.parse("price < 10 AND (category = 'Toy' OR NOT brand IN ('Acme', 'Bolt'))")
>>> bf.evaluate(cheap_toys, {"price": 5, "category": "Toy", "brand": "Acme"})
True
"""

from boolfilter.builder import Attribute, attr
from boolfilter.engine import Engine, Rejected
from boolfilter.errors import (
    BadSubscriptionError,
    BoolFilterError,
    DamagedFileError,
    EventError,
    EventRuleError,
    ExpressionError,
    LeafCountError,
    LimitError,
    NestingDepthError,
    SchemaError,
    SubscriptionIdError,
    SubscriptionSchemaError,
    SubscriptionSyntaxError,
    TextLengthError,
    UnknownSubscriptionError,
    UnsupportedError,
)
from boolfilter.evaluate import evaluate
from boolfilter.explain import Explanation, explain
from boolfilter.expressions import (
    FALSE,
    TRUE,
    And,
    Constant,
    Expression,
    Not,
    Operator,
    Or,
    Pattern,
    Predicate,
    Xor,
    all_of,
    any_of,
    odd_of,
)
from boolfilter.language import parse
from boolfilter.limits import Limits
from boolfilter.matchers import Matcher, matcher
from boolfilter.normalise import normalise
from boolfilter.schema import Schema
from boolfilter.statistics import Statistics

__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Attribute",
    "BadSubscriptionError",
    "BoolFilterError",
    "Constant",
    "DamagedFileError",
    "Engine",
    "EventError",
    "EventRuleError",
    "Explanation",
    "Expression",
    "ExpressionError",
    "LeafCountError",
    "LimitError",
    "Limits",
    "Matcher",
    "NestingDepthError",
    "Not",
    "Operator",
    "Or",
    "Pattern",
    "Predicate",
    "Rejected",
    "Schema",
    "SchemaError",
    "Statistics",
    "SubscriptionIdError",
    "SubscriptionSchemaError",
    "SubscriptionSyntaxError",
    "TextLengthError",
    "UnknownSubscriptionError",
    "UnsupportedError",
    "Xor",
    "all_of",
    "any_of",
    "attr",
    "evaluate",
    "explain",
    "matcher",
    "normalise",
    "odd_of",
    "parse",
]
