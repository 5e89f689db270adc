"""Schemas: what attributes events have, with which values, in events of which types.

The schema is that of Le Subscribe (Pereira et al., 2000): domains with their operators, attributes
with a domain, types of events whose attributes are mandatory or optional and unique or multiple,
views over several types, and four rules by which a schema grows. docs/schema.md tells all of it.
"""

from boolfilter.schema.domains import (
    Domain,
    DomainType,
    boolean,
    enumerated,
    hierarchical,
    numeric,
    string,
    timestamp,
)
from boolfilter.schema.schema import Schema
from boolfilter.schema.views import Annotation, View

__all__ = [
    "Annotation",
    "Domain",
    "DomainType",
    "Schema",
    "View",
    "boolean",
    "enumerated",
    "hierarchical",
    "numeric",
    "string",
    "timestamp",
]
