#!/usr/bin/env python3
"""Compares recipes on sixteen small generated problems, made to choose by: nothing here is a test set of any table.

    experiments/mixing/development.py     the recommended recipe
    experiments/mixing/development.py experiments/mixing/from10.yaml recommended     a config, its folds replaced, and that recipe

For each problem and recipe: ALL+EXP on 600 other queries, minus the best of the families' EXP rows there.
WORK=runs/development, TUNEMIX=build/bin/tunemix
"""
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

PROGRAM = os.environ.get("TUNEMIX", "build/bin/tunemix")
WORK = pathlib.Path(os.environ.get("WORK", "runs/development"))
# Training and validation queries, how they are generated, and whether most values are left out.
PROBLEMS = {
    "40 queries": (40, 20, ["--preset", "mslr10k"], False),
    "70 queries": (70, 25, ["--preset", "mslr10k"], False),
    "140 queries": (140, 47, ["--preset", "mslr10k"], False),
    "30 of 300 features useful": (100, 40, ["--preset", "mslr10k", "--features", "300", "--useful", "30"], False),
    "sparse, 300 features": (40, 40, ["--preset", "mslr10k", "--features", "300", "--useful", "100"], True),
    "sparse, 3 grades": (60, 30, ["--preset", "mslr10k", "--labels", "3", "--features", "100"], True),
    "2 grades": (100, 40, ["--preset", "mslr10k", "--labels", "2"], False),
    "quickstart": (150, 50, ["--preset", "quickstart"], False),
}
SPLITS = ["train", "valid", "test"]


def leave_out_values(path):
    """Keeps 2 to 50 % of each feature's values."""
    shares = random.Random(5)
    kept = {}
    chance = random.Random(path.name)
    lines = []
    for line in path.read_text().splitlines():
        label, query, *values = line.split("#")[0].split()
        for value in values:
            feature = value.split(":")[0]
            if feature not in kept:
                kept[feature] = 0.02 + 0.48 * shares.random() ** 2
        lines.append(" ".join([label, query] + [v for v in values if chance.random() < kept[v.split(":")[0]]]))
    path.write_text("\n".join(lines) + "\n")


def generate(number, repeat):
    train, valid, arguments, sparse = list(PROBLEMS.values())[number]
    files = []
    for k, (split, queries) in enumerate(zip(SPLITS, [train, valid, 600])):
        path = WORK / f"{number}-{repeat}-{split}.txt"
        files.append(path)
        if path.exists():
            continue
        seed = 1000 + 100 * number + 10 * repeat + k
        subprocess.run([PROGRAM, "synth", *arguments, "--queries", str(queries), "--seed", str(seed), "--out", path, "--quiet"], check=True)
        if sparse:
            leave_out_values(path)
    return files


def ahead(recipe, files):
    """ALL+EXP minus the best family's EXP row, and ALL+EXP."""
    train, valid, test = (path.resolve() for path in files)
    if recipe == "recommended":
        arguments = ["--data-train", train, "--data-valid", valid, "--data-test", test]
    else:
        arguments = [recipe, f"data.folds=[{{train: {train}, valid: {valid}, test: {test}}}]"]
    command = [PROGRAM, "run", *arguments, "name=development", "--runs", WORK / "runs", "--quiet", "--json"]
    results = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    shutil.rmtree(WORK / "runs")
    rows = {row["name"]: row["ndcg@10"] for row in results["rows"] if row["split"] == "test"}
    mixture = rows.pop("ALL+EXP")
    return mixture - max(value for name, value in rows.items() if name.endswith("+EXP")), mixture


def main():
    recipes = sys.argv[1:] or ["recommended"]
    WORK.mkdir(parents=True, exist_ok=True)
    print("| problem | " + " | ".join(recipes) + " |\n|---" + "|---" * len(recipes) + "|")
    found = {recipe: [] for recipe in recipes}
    for number, problem in enumerate(PROBLEMS):
        for repeat in range(2):
            files = generate(number, repeat)
            for recipe in recipes:
                found[recipe].append(ahead(recipe, files))
            print(f"| {problem} | " + " | ".join(f"{found[recipe][-1][0]:+.4f}" for recipe in recipes) + " |", flush=True)
    print("| mean | " + " | ".join(f"{statistics.fmean(a for a, _ in found[recipe]):+.4f}" for recipe in recipes) + " |")
    for recipe in recipes[1:]:
        change = [b - a for (_, a), (_, b) in zip(found[recipes[0]], found[recipe])]
        error = statistics.stdev(change) / len(change) ** 0.5
        print(f"\nALL+EXP, {recipe} minus {recipes[0]}: {statistics.fmean(change):+.4f} (standard error {error:.4f})")


main()
