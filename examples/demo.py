"""A marketplace with 100,000 saved searches: load them, match live listings, ask why, change one.

Takes about half a minute on a slow machine and needs nothing but boolfilter.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import boolfilter as bf

SEARCHES = 100_000
STREAM_SECONDS = 5.0
CATEGORIES = "Bike Camera Chair Coat Desk Drum Guitar Lamp Laptop Phone Sofa Tent Toy Watch".split()
BRANDS = [maker + kind for maker in "Acme Bolt Cora Dyna Elan Fjord".split()
          for kind in ("", " Pro", " Home", " Kids", " Studio")]  # fmt: skip
WORDS = "vintage wooden silver compact folding leather signed electric mint handmade".split()
TAGS = "sale new-in refurbished pickup limited bundle local eco".split()
COUNTRIES = "NZ AU JP DE FR GB US CA BR IN".split()


def searches(rng: random.Random) -> Iterator[tuple[str, str]]:
    """What users saved, as (id, subscription) pairs."""
    pick = rng.choice
    for number in range(SEARCHES):
        price = rng.randint(5, 900)
        wanted = f"category = '{pick(CATEGORIES)}' AND price < {price}"
        brands = ", ".join(f"'{brand}'" for brand in rng.sample(BRANDS, 3))
        text = (
            f"{wanted} AND brand = '{pick(BRANDS)}' AND title ILIKE '%{pick(WORDS)}%'",
            f"{wanted} AND brand IN ({brands}) AND tags CONTAINS '{pick(TAGS)}'",
            f"{wanted} AND NOT (used OR seller.country = '{pick(COUNTRIES)}')"
            f" AND (seller.rating >= 4.9 OR tags CONTAINS '{pick(TAGS)}') AND brand IN ({brands})",
            f"brand = '{pick(BRANDS)}' AND price BETWEEN {price} AND {price + price // 10}"
            f" AND (title ILIKE '%{pick(WORDS)}%' OR seller.country = '{pick(COUNTRIES)}')",
        )[number % 4]
        yield f"search-{number}", text


def listings(rng: random.Random) -> Iterator[dict[str, Any]]:
    """What sellers put up: nested, with lists, and without end."""
    while True:
        category, brand = rng.choice(CATEGORIES), rng.choice(BRANDS)
        yield {
            "title": f"{rng.choice(WORDS)} {rng.choice(WORDS)} {brand} {category}".title(),
            "category": category,
            "brand": brand,
            "price": round(rng.lognormvariate(5, 1), 2),
            "used": rng.random() < 0.6,
            "tags": rng.sample(TAGS, rng.randint(0, 3)),
            "seller": {"country": rng.choice(COUNTRIES), "rating": round(rng.uniform(3, 5), 1)},
        }


def main() -> None:
    screen = Screen()
    engine = bf.Engine()
    load(engine, screen)
    listing, matches = watch(engine, listings(random.Random(2)), screen)
    largest = max(matches, key=lambda name: engine[name].leaves)
    explain(engine, listing, largest)
    change(engine, listing, largest)


def load(engine: bf.Engine, screen: Screen) -> None:
    started = time.perf_counter()

    def progress(done: int, total: int | None) -> None:
        bar = "#" * (30 * done // SEARCHES)
        screen.update([f"loading [{bar:<30}] {done:>7,} saved searches"])

    engine.subscribe_many(searches(random.Random(1)), progress=progress)
    seconds = time.perf_counter() - started
    screen.finish([f"{len(engine):,} saved searches loaded in {seconds:.1f} s, among them:"])
    for name in ("search-0", "search-1", "search-2", "search-3"):
        print(f"  {name}: {engine[name]}")


def watch(
    engine: bf.Engine, stream: Iterator[dict[str, Any]], screen: Screen
) -> tuple[dict[str, Any], list[Any]]:
    """Match the stream for a while; returns the last listing that someone waited for."""
    print(f"\nlistings arrive, for {STREAM_SECONDS:.0f} seconds")
    micros: list[float] = []
    total = 0
    latest: tuple[dict[str, Any], list[Any]] = ({}, [])
    engine.match(next(stream))
    started = shown = time.perf_counter()
    for listing in stream:
        before = time.perf_counter()
        matches = engine.match(listing)
        now = time.perf_counter()
        micros.append((now - before) * 1e6)
        total += len(matches)
        if matches:
            latest = (listing, matches)
        elapsed = now - started
        if now - shown > screen.seconds_between:
            shown = now
            screen.update(report(micros, total, elapsed, latest))
        if elapsed > STREAM_SECONDS and latest[1]:
            break
    screen.finish(report(micros, total, elapsed, latest) + histogram(micros))
    return latest


def report(
    micros: list[float], matches: int, seconds: float, latest: tuple[dict[str, Any], list[Any]]
) -> list[str]:
    p50, p99, worst = np.percentile(micros, [50, 99, 100])
    listing, found = latest
    title = f"{listing.get('title', '')}, {listing.get('price', 0):,.2f}"
    return [
        f"  {len(micros) / seconds:>9,.0f} listings/s  {matches / seconds:>9,.0f} matches/s",
        f"  latency of match: p50 {p50:,.0f} us, p99 {p99:,.0f} us, max {worst:,.0f} us",
        f"  {title:<50.50} -> {len(found)} searches",
    ]


def histogram(micros: list[float]) -> list[str]:
    """Latencies in buckets that grow by the same factor."""
    edges = np.geomspace(min(micros), np.percentile(micros, 99.9), 11)
    counts, _ = np.histogram(micros, edges)
    lines = ["  latencies, but for the slowest in 1,000:"]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        bar = "#" * round(50 * count / max(counts))
        lines.append(f"  {low:>7.0f} to {high:<5.0f} us {bar} {100 * count / len(micros):.1f}%")
    return lines


def explain(engine: bf.Engine, listing: dict[str, Any], name: str) -> None:
    print(f"\nwhy did {name} hear of this listing? (* decided)\n  {listing}")
    for line in str(engine.explain(name, listing)).splitlines():
        print(f"  {line}")


def change(engine: bf.Engine, listing: dict[str, Any], name: str) -> None:
    """Every change holds from the next match on."""
    print("\nthe engine is live:")
    engine.unsubscribe(name)
    print(f"  {name} unsubscribed; matches now: {name in engine.match(listing)}")
    engine.subscribe(name, f"category = '{listing['category']}' AND price < 1")
    print(f"  back with price < 1; matches now: {name in engine.match(listing)}")
    engine.subscribe(name, f"category = '{listing['category']}'", replace=True)
    print(f"  replaced by any price; matches now: {name in engine.match(listing)}")


class Screen:
    """Lines that are updated in place on a terminal, and printed now and then elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._lines = 0
        self.seconds_between = 0.1 if self._is_terminal else 1.0
        self._last = time.perf_counter()

    def update(self, lines: list[str]) -> None:
        if self._is_terminal:
            up = f"\x1b[{self._lines}A" if self._lines else ""
            print(up + "".join(f"\x1b[2K{line}\n" for line in lines), end="", flush=True)
            self._lines = len(lines)
        elif time.perf_counter() - self._last >= self.seconds_between:
            print("\n".join(lines), flush=True)
            self._last = time.perf_counter()

    def finish(self, lines: list[str]) -> None:
        self._last = 0.0
        self.update(lines)
        self._lines = 0


if __name__ == "__main__":
    main()
