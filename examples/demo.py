"""A short tour: subscriptions in, events through, and which of them match."""

from __future__ import annotations

import boolfilter as bf

SUBSCRIPTIONS = {
    "alice": "price < 10 AND (category = 'Toy' OR NOT brand IN ('Acme', 'Bolt'))",
    "bob": "category = 'Book' AND title ILIKE '%python%' AND price BETWEEN 5 AND 50",
    "carol": "tags CONTAINS 'sale' AND NOT (brand = 'Acme' XOR price >= 100)",
    "dave": "user.country IN ('NZ', 'AU') AND listed >= DATE '2024-06-01'",
    "erin": (bf.attr("price") < 10) & ~bf.attr("brand").is_in(["Acme"]),
}
EVENTS = [
    {"price": 5, "category": "Toy", "brand": "Acme"},
    {"price": 25.5, "category": "Book", "title": "Fluent Python", "tags": ["sale", "used"]},
    {"price": 120, "brand": "Acme", "tags": ["sale"], "user": {"country": "NZ"}},
    {"price": 3, "brand": None},
]


def main() -> None:
    expressions = {
        name: bf.parse(text) if isinstance(text, str) else text
        for name, text in SUBSCRIPTIONS.items()
    }
    for name, expression in expressions.items():
        print(f"{name:>6}: {expression}")
    for nulls in ("false", "sql"):
        print(f'\nnulls="{nulls}"')
        for event in EVENTS:
            matches = [n for n, e in expressions.items() if bf.evaluate(e, event, nulls=nulls)]
            print(f"  {event}\n    -> {', '.join(matches) or 'nobody'}")
    print("\nA mistake gets a place and a hint:")
    try:
        bf.parse('price < 10 AND brand = "Acme"')
    except bf.SubscriptionSyntaxError as error:
        print(error)


if __name__ == "__main__":
    main()
