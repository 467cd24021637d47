#!/usr/bin/env python3
"""Prints the tables of README.md from curves/*.csv."""
import csv
import pathlib
from collections import defaultdict

HERE = pathlib.Path(__file__).parent
SETS = ["useful", "sparse300", "MSLR-sample", "MQ2008", "OHSUMED", "mslr10k"]
RULES = ["none", "random", "exp3a", "value", "exp3g", "exp3", "exp3p", "ucb1", "ucbv"]
ARMS = ["1", "4", "16"]


def mean(values):
    return sum(values) / len(values)


def read(path):
    """(rule, arms) -> rounds -> rows of the seeds."""
    curves = defaultdict(lambda: defaultdict(list))
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            settings = dict(item.split("=") for item in row["settings"].split())
            key = (settings["bandit"], settings.get("arms_per_pull", ""))
            curves[key][int(row["rounds"])].append(
                {name: float(row[name]) for name in ("cpu_seconds", "bound", "ndcg10", "largest_p")}
            )
    return curves


def short(value):
    return f"{value:.3f}".lstrip("0")


def at_end(curve, name):
    return mean([row[name] for row in curve[max(curve)]])


def best_ndcg(curve):
    return max(mean([row["ndcg10"] for row in rows]) for rows in curve.values())


def seconds_to(curve, wanted):
    """CPU seconds until the mean NDCG reaches `wanted`."""
    for rounds in sorted(curve):
        if mean([row["ndcg10"] for row in curve[rounds]]) >= wanted:
            return mean([row["cpu_seconds"] for row in curve[rounds]])
    return None


def table(base, value, rules=RULES):
    print("| rule | " + " | ".join(SETS) + " |")
    print("|---" * (len(SETS) + 1) + "|")
    for rule in rules:
        cells = []
        for name in SETS:
            curves = read(HERE / "curves" / f"{name}-{base}.csv")
            keys = [("none", "")] if rule == "none" else [(rule, arms) for arms in ARMS]
            cells.append(" / ".join(value(curves, key) for key in keys if key in curves))
        print(f"| {rule} | " + " | ".join(cells) + " |")


def time_to_full(curves, key):
    """Seconds to the best NDCG of the full search less .005, as a share of the full search's to its best."""
    full = curves[("none", "")]
    wanted = best_ndcg(full)
    needed = seconds_to(curves[key], wanted - 0.005)
    whole = seconds_to(full, wanted)
    return "-" if needed is None else f"{needed / whole:.2f}"


for kind in ("stump", "tree", "product"):
    print(f"\n### {kind}: error bound at the end, 1 / 4 / 16 arms\n")
    table(kind, lambda curves, key: short(at_end(curves[key], "bound")))
    print(f"\n### {kind}: best validation NDCG@10 of the curve\n")
    table(kind, lambda curves, key: short(best_ndcg(curves[key])))
    print(f"\n### {kind}: share of the full search's seconds to its best NDCG less .005 (-: not reached)\n")
    table(kind, time_to_full, ["random", "exp3a", "value"])
    print(f"\n### {kind}: largest probability of an arm seen\n")
    table(kind, lambda curves, key: short(max(row["largest_p"] for rows in curves[key].values() for row in rows)), RULES[2:])
