#!/usr/bin/env python3
"""tables.py FOLDER: prints the tables of README.md from what run.sh wrote, and writes curves.csv beside itself."""
import csv
import pathlib
import statistics
import sys
from collections import defaultdict

SETS = ["useful", "sparse300", "MSLR-sample", "MQ2008", "OHSUMED", "mslr10k"]
LONG = ["useful", "sparse300"]  # with ten times as many rounds too
BASES = ["stump", "tree", "product", "real"]
RULES = ["none", "random", "exp3a", "value", "exp3g", "exp3", "exp3p", "ucb1", "ucbv"]
ARMS = ["1", "4", "16"]
COLUMNS = ["cpu_seconds", "bound", "ndcg10", "largest_p"]


def read(*paths):
    """(rule, arms) -> rounds -> rows of the seeds."""
    curves = defaultdict(lambda: defaultdict(list))
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                settings = dict(item.split("=") for item in row["settings"].split())
                rule = settings["bandit"]
                key = (rule, "" if rule == "none" else settings["arms_per_pull"])
                curves[key][int(row["rounds"])].append({name: float(row[name]) for name in COLUMNS})
    return curves


def mean(rows, name):
    return statistics.fmean(row[name] for row in rows)


def short(value):
    return f"{value:.3f}".lstrip("0")


def bound(curves, key):
    return short(mean(curves[key][max(curves[key])], "bound"))


def best(curve):
    return max(mean(rows, "ndcg10") for rows in curve.values())


def best_ndcg(curves, key):
    return short(best(curves[key]))


def largest(curves, key):
    return short(max(row["largest_p"] for rows in curves[key].values() for row in rows))


def seconds_to(curve, wanted):
    for rounds in sorted(curve):
        if mean(curve[rounds], "ndcg10") >= wanted:
            return mean(curve[rounds], "cpu_seconds")
    return None


def time_to_full(curves, key):
    """Seconds to the best NDCG of the full search less .005, as a share of the full search's own."""
    full = curves[("none", "")]
    needed = seconds_to(curves[key], best(full) - 0.005)
    return "-" if needed is None else f"{needed / seconds_to(full, best(full) - 0.005):.2f}"


def difference(ours, theirs):
    """The mean difference of two lists over seeds, with its standard error: each seed has data of its own, the same for both."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    error = (statistics.variance(differences) / len(differences)) ** 0.5
    return f"{statistics.fmean(differences):+.3f} ({error:.3f})".replace("0.", ".")


def in_a_fifth(curves, key, long):
    """Best NDCG in a fifth of the full search's seconds, minus the best of the full search."""
    full = curves[("none", "")]
    limit = mean(full[max(full)], "cpu_seconds") / 5
    rounds = max((r for r in long[key] if mean(long[key][r], "cpu_seconds") <= limit),
                 key=lambda r: mean(long[key][r], "ndcg10"), default=None)
    if rounds is None:
        return "-"
    peak = max(full, key=lambda r: mean(full[r], "ndcg10"))
    return difference([row["ndcg10"] for row in long[key][rounds]], [row["ndcg10"] for row in full[peak]])


def by_seed(curve):
    """Mean NDCG from 50 rounds on, for each seed."""
    points = [rows for rounds, rows in curve.items() if rounds >= 50]
    return [statistics.fmean(rows[seed]["ndcg10"] for rows in points) for seed in range(len(points[0]))]


def against_random(curves, key):
    return difference(by_seed(curves[key]), by_seed(curves[("random", key[1])]))


def all_against_random(curves, rule, name, arms):
    """The same, meant over the four base classifiers and the numbers of arms in `arms`."""

    def mean_by_seed(rule):
        curve = [by_seed(curves[name, base][(rule, count)]) for base in BASES for count in arms]
        return [statistics.fmean(seed) for seed in zip(*curve, strict=True)]

    return difference(mean_by_seed(rule), mean_by_seed("random"))


def table(curves, base, value, rules, sets=SETS):
    print("| rule | " + " | ".join(sets) + " |")
    print("|---" * (len(sets) + 1) + "|")
    for rule in rules:
        keys = [("none", "")] if rule == "none" else [(rule, arms) for arms in ARMS]
        cells = [" / ".join(value(curves[name, base], key) for key in keys) for name in sets]
        print(f"| {rule} | " + " | ".join(cells) + " |")


def main():
    folder = pathlib.Path(sys.argv[1])
    curves = {(name, base): read(folder / f"{name}-{base}-none.csv", folder / f"{name}-{base}-drawn.csv")
              for name in SETS for base in BASES}
    long = {(name, base): read(folder / f"{name}-{base}-long.csv") for name in LONG for base in BASES}
    with open(pathlib.Path(__file__).parent / "curves.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["data", "base", "bandit", "arms", "rounds", "seeds"] + COLUMNS)
        for (name, base), rules in curves.items():
            for (rule, arms), curve in rules.items():
                for rounds, rows in sorted(curve.items()):
                    values = [f"{mean(rows, column):.4f}" for column in COLUMNS]
                    out.writerow([name, base, rule, arms, rounds, len(rows)] + values)
    for base in BASES:
        rules = [rule for rule in RULES if all((rule, "4") in curves[n, base] for n in SETS)]
        print(f"\n{base}: error bound at the end, 1 / 4 / 16 arms\n")
        table(curves, base, bound, ["none"] + rules)
        print(f"\n{base}: best validation NDCG@10 of the curve\n")
        table(curves, base, best_ndcg, ["none"] + rules)
        print(f"\n{base}: validation NDCG@10 against random (standard error over seeds)\n")
        table(curves, base, against_random, [rule for rule in ("exp3a", "value") if rule in rules])
        print(f"\n{base}: share of the full search's seconds to its best NDCG@10 less .005 (-: not reached)\n")
        table(curves, base, time_to_full, [rule for rule in ("random", "exp3a", "value") if rule in rules])
        print(f"\n{base}: best NDCG@10 in a fifth of the full search's seconds, minus its best (standard error over seeds)\n")
        long_rules = ["random", "exp3a", "value"]
        pairs = {(name, base): (curves[name, base], long[name, base]) for name in LONG}
        table(pairs, base, lambda pair, key: in_a_fifth(pair[0], key, pair[1]), long_rules, LONG)
        print(f"\n{base}: largest probability of an arm seen\n")
        table(curves, base, largest, [rule for rule in rules if rule != "random"])
    print("\nvalidation NDCG@10 against random, mean over the bases (standard error over seeds)\n")
    print("| rule, arms | " + " | ".join(SETS) + " |")
    print("|---" * (len(SETS) + 1) + "|")
    for rule in ("exp3a", "value"):
        for arms in [[count] for count in ARMS] + [ARMS]:
            cells = [all_against_random(curves, rule, name, arms) for name in SETS]
            print(f"| {rule}, {arms[0] if len(arms) == 1 else 'all three'} | " + " | ".join(cells) + " |")
    large = {base: read(folder / f"mslr10k-large-{base}.csv") for base in BASES}
    print("\nmslr10k-large, 4 arms: validation NDCG@10 (bound) at the end\n")
    print("| rule | " + " | ".join(BASES) + " |")
    print("|---" * (len(BASES) + 1) + "|")
    for rule in ("none", "random", "exp3a", "value"):
        cells = []
        for base in BASES:
            rows = large[base][(rule, "" if rule == "none" else "4")]
            rows = rows[max(rows)]
            cells.append(f"{mean(rows, 'ndcg10'):.4f} ({short(mean(rows, 'bound'))})".lstrip("0"))
        print(f"| {rule} | " + " | ".join(cells) + " |")


main()
