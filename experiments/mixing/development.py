#!/usr/bin/env python3
"""Compares recipes on generated problems, made to choose by: nothing here is a test set of any table.

    experiments/mixing/development.py     the recommended recipe, on sixteen problems of little data
    experiments/mixing/development.py --middle     on six of 20 000 to 40 000 documents
    experiments/mixing/development.py experiments/mixing/from10.yaml recommended     a config, its folds replaced, and that recipe

For each problem and recipe: ALL+EXP on other queries (600; 1200 with --middle), minus the best of the families' EXP rows there (yahoo).
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
SPLITS = ["train", "valid", "test"]


def sparse(path):
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


def noisy(path):
    """Gives half of the documents the label of any document."""
    chance = random.Random(path.name)
    lines = [line.split(" ", 1) for line in path.read_text().splitlines()]
    labels = [label for label, _ in lines]
    path.write_text("".join(f"{chance.choice(labels) if chance.random() < 0.5 else label} {rest}\n" for label, rest in lines))


def as_it_is(path):
    pass


# Training and validation queries, how they are generated, and what is then changed in the files.
PROBLEMS = {
    "40 queries": (40, 20, ["--preset", "mslr10k"], as_it_is),
    "70 queries": (70, 25, ["--preset", "mslr10k"], as_it_is),
    "140 queries": (140, 47, ["--preset", "mslr10k"], as_it_is),
    "30 of 300 features useful": (100, 40, ["--preset", "mslr10k", "--features", "300", "--useful", "30"], as_it_is),
    "sparse, 300 features": (40, 40, ["--preset", "mslr10k", "--features", "300", "--useful", "100"], sparse),
    "sparse, 3 grades": (60, 30, ["--preset", "mslr10k", "--labels", "3", "--features", "100"], sparse),
    "2 grades": (100, 40, ["--preset", "mslr10k", "--labels", "2"], as_it_is),
    "quickstart": (150, 50, ["--preset", "quickstart"], as_it_is),
}
MIDDLE = {
    "290 queries": (290, 95, ["--preset", "mslr10k"], as_it_is),
    "520 queries": (520, 170, ["--preset", "mslr10k"], as_it_is),
    "520 queries, 46 features, 3 grades": (520, 170, ["--preset", "mslr10k", "--labels", "3", "--features", "46"], as_it_is),
    "400 queries, 60 of 300 features useful": (400, 130, ["--preset", "mslr10k", "--features", "300", "--useful", "60"], as_it_is),
    "290 queries, noisy": (290, 95, ["--preset", "mslr10k"], noisy),
    "520 queries, 46 features, 3 grades, noisy": (520, 170, ["--preset", "mslr10k", "--labels", "3", "--features", "46"], noisy),
}


def generate(name, problem, first_seed, others):
    """The files of its splits; `others`: queries to compare on."""
    train, valid, arguments, change = problem
    files = []
    for k, (split, queries) in enumerate(zip(SPLITS, [train, valid, others])):
        path = WORK / f"{name}-{split}.txt"
        files.append(path)
        if path.exists():
            continue
        subprocess.run([PROGRAM, "synth", *arguments, "--queries", str(queries), "--seed", str(first_seed + k), "--out", path, "--quiet"], check=True)
        change(path)
    return files


def ahead(recipe, files):
    """ALL+EXP minus the best family's EXP row, and ALL+EXP."""
    train, valid, test = (path.resolve() for path in files)
    if recipe == "recommended":
        arguments = ["--data-train", train, "--data-valid", valid, "--data-test", test]
    else:
        arguments = [recipe, f"data.folds=[{{train: {train}, valid: {valid}, test: {test}}}]"]
    command = [PROGRAM, "run", *arguments, "name=development", "evaluate.tools=[yahoo]", "--runs", WORK / "runs", "--quiet", "--json"]
    results = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    shutil.rmtree(WORK / "runs")
    rows = {row["name"]: row["ndcg@10"] for row in results["rows"] if row["split"] == "test"}
    mixture = rows.pop("ALL+EXP")
    return mixture - max(value for name, value in rows.items() if name.endswith("+EXP")), mixture


def main():
    middle = "--middle" in sys.argv
    recipes = [argument for argument in sys.argv[1:] if argument != "--middle"] or ["recommended"]
    WORK.mkdir(parents=True, exist_ok=True)
    print("| problem | " + " | ".join(recipes) + " |\n|---" + "|---" * len(recipes) + "|")
    found = {recipe: [] for recipe in recipes}
    for number, (problem, made) in enumerate((MIDDLE if middle else PROBLEMS).items()):
        for repeat in range(1 if middle else 2):
            name, first_seed, others = (f"{number}-{repeat}", 1000, 600) if not middle else (f"middle-{number}", 3000, 1200)
            files = generate(name, made, first_seed + 100 * number + 10 * repeat, others)
            for recipe in recipes:
                found[recipe].append(ahead(recipe, files))
            print(f"| {problem} | " + " | ".join(f"{found[recipe][-1][0]:+.4f}" for recipe in recipes) + " |", flush=True)
    print("| mean | " + " | ".join(f"{statistics.fmean(a for a, _ in found[recipe]):+.4f}" for recipe in recipes) + " |")
    for recipe in recipes[1:]:
        change = [b - a for (_, a), (_, b) in zip(found[recipes[0]], found[recipe])]
        error = statistics.stdev(change) / len(change) ** 0.5
        print(f"\nALL+EXP, {recipe} minus {recipes[0]}: {statistics.fmean(change):+.4f} (standard error {error:.4f})")


main()
