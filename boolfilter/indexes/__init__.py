"""One-dimensional indexes: from the value of an attribute to the predicates that it satisfies."""
