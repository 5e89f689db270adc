"""The command: ``python -m benchmarks NAME [options]``."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.report import Report

EXPERIMENTS = {
    "tree-size": "bytes per subscription tree, the paper's format against ours",
    "parsing": "texts of few shapes, parsed by binding literals against plain Lark",
    "speed": "time per event of the engine and of the paper's algorithm, on three workloads",
    "growth": "time per event as subscriptions grow tenfold, beside the candidates",
    "memory": "resident bytes per subscription of an engine",
    "load": "subscriptions a second from texts, expressions and columns",
    "abegen": "arbitrary expressions of A-Tree's generator: engine, baselines, scans; --vary",
    "peers": "the engine against other packages on the same subscriptions and events",
    "mix": "matching while subscriptions come and go, against matching alone",
    "figure3": "subscription matching as in figure 3 of paper 002, and its claims",
    "threads": "two threads against one",
    "scale-subscriptions": "indexes on Spark of up to 5,000,000 subscriptions, by shards",
    "scale-events": "batches of events on Spark against two local threads",
    "scale-cores": "matching on Spark with two cores against one",
    "sizing": "a cluster for so many subscriptions and events, from what was measured",
    "spark-peers": "the engine on Spark against the ways that need no engine",
    "lesubscribe-figures": "Le Subscribe's figures 9a, 10 and 11, and its cost of insertion",
    "lesubscribe-algorithms": "every algorithm of the Le Subscribe paper, in plain Python",
    "start": "a cold compile of the kernels, and the first match of a warm process",
    "light-events": "paper 003: RAPIDMatch against TreeMatch, and its claims",
    "profile-orders": "paper 004: comparison steps of profile trees, by order",
    "thesis": "paper 001: event and insertion time of the counting algorithm and the engine",
    "algorithms": "every matcher on the workloads that all accept",
    "observe": "what knowing the distribution of events gains the engine",
    "schema": "kinds of kinds, checked events, and subscriptions of another type of events",
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="experiment", metavar="NAME")
    modules = {}
    for name, summary in EXPERIMENTS.items():
        modules[name] = importlib.import_module(f"benchmarks.{name.replace('-', '_')}")
        command = commands.add_parser(name, help=summary, description=modules[name].__doc__)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--no-save", action="store_true", help="print only")
        modules[name].add_options(command)
    options = parser.parse_args(arguments)
    if options.experiment is None:
        parser.print_help()
        return 0
    module = modules[options.experiment]
    report = Report(options.experiment, arguments, options.seed, module.__doc__ or "")
    module.run(options, report)
    report.show()
    if not options.no_save:
        report.save()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
