#!/usr/bin/env python3
"""Which masses of families, of the choices of mix.families, mix best? Every set is trained once; only the mixing is run again.

    experiments/mixing/families.py [SET...]     sets: mslr10k-N and web2-N (generated, N validation queries), and, where
                                                TUNEMIX_SHARED_DATA is set, mq2008, ohsumed, mslr-sample, sparse300 in folds
default: all; SEEDS="1", WORK=runs/families, TUNEMIX=build/bin/tunemix

ALL+EXP of generated sets on 1200 other queries; of the real sets by cross-validation over the validation queries, which is the
value that c and T are chosen by: no test data takes part.
"""
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

PROGRAM = os.environ.get("TUNEMIX", "build/bin/tunemix")
WORK = Path(os.environ.get("WORK", "runs/families")).resolve()
SHARED = os.environ.get("TUNEMIX_SHARED_DATA")
SEEDS = os.environ.get("SEEDS", "1").split()
CHOICES = ["pooled", "equal", "weighted", "learned"]
GENERATED = [f"{preset}-{queries}" for preset in ("mslr10k", "web2") for queries in (25, 100, 400)]
REAL = {"mq2008": "MQ2008", "ohsumed": "OHSUMED", "mslr-sample": "MSLR-sample", "sparse300": "sparse300"}
# Families of all kinds, those that matter on raw and on standardised features, and one that is near noise.
LEARNERS = """learners:
  - {type: adaboost_mh, leaves: [8, 32], iterations: 200, checkpoints: [100], shrinkage: 0.05, bandit: value, standardize: none}
  - {type: adaboost_mh, leaves: [8, 32], iterations: 200, checkpoints: [100], shrinkage: 0.05, bandit: value, standardize: append}
  - {type: adaboost_mh, votes: real, leaves: 16, iterations: 200, checkpoints: [100], shrinkage: 0.05, bandit: value, standardize: append}
  - {type: svm, standardize: append}
  - {type: svm, standardize: cdf}
  - {type: lambdamart, leaves: 8, iterations: 200, checkpoints: [100], shrinkage: 0.05, standardize: none}
  - {type: lambdamart, leaves: 8, iterations: 200, checkpoints: [100], shrinkage: 0.05, standardize: append}
  - {type: ranksvm, standardize: cdf}
  - {type: extra_trees, checkpoints: [100], standardize: append}
  - {type: best_feature, standardize: none}
calibrate: {cpc: [ls, ell], rbc: {regressors: [linear, poly2], targets: [raw]}}
"""


def generate(preset, split, seed, queries):
    path = WORK / f"{preset}-{split}-{queries}.txt"
    if not path.exists():
        subprocess.run([PROGRAM, "synth", "--preset", preset, "--seed", str(seed), "--queries", str(queries), "--out", path, "--quiet"], check=True)
    return path


def in_folds(name):
    """The queries of all files of a set, in turn in five."""
    folder = WORK / name
    if not folder.exists():
        folder.mkdir()
        lines = [line for file in sorted((Path(SHARED) / REAL[name]).glob("*.txt")) for line in file.read_text().splitlines()]
        files, number, before = [[] for _ in range(5)], 0, None
        for line in lines:
            query = line.split(" ", 2)[1]
            number += query != before
            before = query
            files[number % 5].append(line + "\n")
        for part, content in enumerate(files):
            (folder / f"S{part + 1}.txt").write_text("".join(content))
    return folder


def folds_of(name):
    if name in REAL:
        folder = in_folds(name)
        files = [folder / f"S{part + 1}.txt" for part in range(5)]
        return [([files[f], files[(f + 1) % 5], files[(f + 2) % 5]], files[(f + 3) % 5], files[(f + 4) % 5]) for f in range(5)]
    preset, queries = name.split("-")
    return [([generate(preset, "train", 5, 140)], generate(preset, "valid", 6, int(queries)), generate(preset, "test", 7, 1200))]


def run(name, seed):
    """By choice of families: ALL+EXP."""
    folds = "".join(f"    - {{train: [{', '.join(map(str, train))}], valid: {valid}, test: {test}}}\n" for train, valid, test in folds_of(name))
    config = WORK / f"{name}.yaml"
    config.write_text(f"name: {name}\ndata:\n  folds:\n{folds}{LEARNERS}")
    values = {}
    for families in CHOICES:
        command = [PROGRAM, "run", config, f"seed={seed}", f"mix.families={families}", "--runs", WORK / f"runs-{name}-{seed}", "--quiet", "--json"]
        results = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        chosen = [choice["chosen_by"] for choice in results["choices"] if choice["row"] == "ALL+EXP"]
        test = [row["ndcg@10"] for row in results["rows"] if row["name"] == "ALL+EXP" and row["split"] == "test"]
        values[families] = statistics.mean(chosen) if name in REAL else test[0]
    return values


def short(value):
    return f"{value:.4f}".lstrip("0")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    names = sys.argv[1:] or GENERATED + (list(REAL) if SHARED else [])
    print("| set | " + " | ".join(CHOICES) + " |\n|---|" + "---|" * len(CHOICES))
    for name in names:
        values = [run(name, seed) for seed in SEEDS]
        print(f"| {name} | " + " | ".join(short(statistics.mean(v[c] for v in values)) for c in CHOICES) + " |", flush=True)


main()
