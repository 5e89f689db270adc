"""Hierarchies: values that are kinds of other values, as a mapping of each to its parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from boolfilter.errors import SchemaError

Parents = Mapping[str, tuple[str, ...]]
_LONGEST_CYCLE_TOLD = 20


def parents_of(kinds: Mapping[str, str | Iterable[str] | None]) -> dict[str, tuple[str, ...]]:
    """Each value with its parents; a parent that is not named by itself has none.

    SchemaError if a value is, over some steps, a kind of itself. Linear in the hierarchy.

    >>> parents_of({"chair": "dining room", "table": ["dining room", "outdoor"]})
    {'chair': ('dining room',), 'table': ('dining room', 'outdoor'), 'dining room': (), 'outdoor': ()}
    >>> parents_of({"egg": "hen", "hen": "egg"})
    Traceback (most recent call last):
        ...
    boolfilter.errors.SchemaError: the hierarchy has a cycle: 'egg' is a kind of 'hen' is a kind of 'egg'
    """  # noqa: E501
    parents = {value: _listed(value, above) for value, above in kinds.items()}
    for above in list(parents.values()):
        for parent in above:
            parents.setdefault(parent, ())
    _refuse_cycles(parents)
    return parents


def ancestors(parents: Parents, value: str) -> list[str]:
    """What a value is a proper kind of, nearest first; nothing for a value that is not there.

    Some tenths of a microsecond for each, whatever the size of the hierarchy.

    >>> ancestors({"stool": ("chair",), "chair": ("seat",), "seat": ()}, "stool")
    ['chair', 'seat']
    """
    found = dict.fromkeys(parents.get(value, ()))
    todo = list(found)
    for above in todo:  # which grows meanwhile
        for parent in parents[above]:
            if parent not in found:
                found[parent] = None
                todo.append(parent)
    return todo


def _listed(value: str, above: object) -> tuple[str, ...]:
    if above is None:
        return ()
    parents = (above,) if isinstance(above, str) else above
    if not isinstance(parents, Iterable):
        raise SchemaError(f"the parents of {value!r} are a value or a list of them, not {above!r}")
    return tuple(dict.fromkeys(parents))


def _refuse_cycles(parents: Parents) -> None:
    cycle = _cycle(parents)
    if not cycle:
        return
    told = [repr(value) for value in cycle]
    if len(told) > _LONGEST_CYCLE_TOLD:
        told[_LONGEST_CYCLE_TOLD // 2 : -_LONGEST_CYCLE_TOLD // 2] = ["..."]
    problem = " is a kind of ".join(told)
    raise SchemaError(f"the hierarchy has a cycle: {problem}", cycle=tuple(cycle))


def _cycle(parents: Parents) -> list[str]:
    """The values of a cycle, the first again at the end; nothing if there is none."""
    done: set[str] = set()
    for start in parents:
        # The way up from here, each value with the parents that are still to be looked at.
        path = {} if start in done else {start: iter(parents[start])}
        while path:
            value = next(reversed(path))
            parent = next(path[value], None)
            if parent is None:
                done.add(value)
                path.popitem()
            elif parent in path:
                way = list(path)
                return [*way[way.index(parent) :], parent]
            elif parent not in done:
                path[parent] = iter(parents[parent])
    return []
