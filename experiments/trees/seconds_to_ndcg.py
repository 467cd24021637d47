#!/usr/bin/env python3
"""Seconds of training to a validation NDCG@10: lambdamart, LightGBM's lambdarank and XGBoost's rank:ndcg with the same leaves, rate and rounds.

    experiments/trees/seconds_to_ndcg.py TRAIN VALID [--leaves 64] [--rate 0.1] [--rounds 300] [--threads 2]

LIGHTGBM names LightGBM's program and `xgboost` is looked for on the path; one that is missing is left out. Needs build/bin/tunemix and
build/bench/tree_probe. Seconds are those of building bins and trees: reading the text is left out (LightGBM and TuneMix say when training starts;
for XGBoost a run of one round is subtracted, and with it the building of its bins). Writes seconds_to_ndcg.csv beside this script and prints a table."""
import argparse
import csv
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True
from program import ROOT, documents, ndcg, run  # noqa: E402



def without_queries(source, target):
    """The file as LightGBM and XGBoost take it: queries by their sizes in files beside it."""
    sizes, last = [], None
    with target.open("w") as out:
        for document in documents(source):
            out.write(" ".join([document.label, *document.features]) + "\n")
            if document.query != last:
                sizes.append(0)
                last = document.query
            sizes[-1] += 1
    for ending in ("query", "group"):
        Path(f"{target}.{ending}").write_text("".join(f"{size}\n" for size in sizes))
    return target


def lambdamart(args, lengths, _train, _valid, _work):
    text = run(ROOT / "build/bench/tree_probe", "lambdamart", args.threads, args.train, args.valid, "-", f"leaves={args.leaves}", f"shrinkage={args.rate}",
               f"iterations={args.rounds}", f"points={','.join(map(str, lengths))}", "patience=0")
    first, round_ms = map(float, re.search(r"first ([\d.]+) s, ([\d.]+) ms a round", text).groups())
    values = {int(length): float(value) for length, value in re.findall(r"^T=(\d+) ([\d.]+)$", text, re.M)}
    return [(length, first + (length - 1) * round_ms / 1000, value) for length, value in sorted(values.items())]


def lightgbm(args, lengths, train, valid, work):
    text = run(os.environ["LIGHTGBM"], "task=train", "objective=lambdarank", f"data={train}", f"num_leaves={args.leaves}", f"learning_rate={args.rate}",
               f"num_iterations={args.rounds}", f"num_threads={args.threads}", f"output_model={work}/l.model")
    seconds = {int(made): float(elapsed) for elapsed, made in re.findall(r"([\d.]+) seconds elapsed, finished iteration (\d+)", text)}
    rows = []
    for length in lengths:
        run(os.environ["LIGHTGBM"], "task=predict", f"data={valid}", f"input_model={work}/l.model", f"num_iteration_predict={length}",
            f"output_result={work}/scores", f"num_threads={args.threads}")
        rows.append((length, seconds[length], ndcg(args.valid, work / "scores")))
    return rows


def xgboost(args, lengths, train, valid, work):
    def fit(rounds, *more):
        begun = time.monotonic()
        run("xgboost", os.devnull, f"data={train}?format=libsvm", "objective=rank:ndcg", "tree_method=hist", "grow_policy=lossguide", "max_depth=0",
            # its gradients are so small that with min_child_weight = 1 no tree would have a cut
            f"max_leaves={args.leaves}", "min_child_weight=0", "lambda=0.0001", f"eta={args.rate}", f"num_round={rounds}", f"nthread={args.threads}", "verbosity=0", f"model_dir={work}", *more)
        return time.monotonic() - begun

    one = fit(1)
    a_round = (fit(args.rounds) - one) / (args.rounds - 1)
    fit(args.rounds, f"save_period={math.gcd(*lengths)}")
    rows = []
    for length in lengths:
        run("xgboost", os.devnull, "task=pred", f"model_in={work}/{length:04}.model", f"test:data={valid}?format=libsvm", f"name_pred={work}/scores",
            "verbosity=0")
        rows.append((length, length * a_round, ndcg(args.valid, work / "scores")))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("valid", type=Path)
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    programs = [("TuneMix", lambdamart)]
    if "LIGHTGBM" in os.environ:
        programs.append(("LightGBM", lightgbm))
    if shutil.which("xgboost"):
        programs.append(("XGBoost", xgboost))
    lengths = [length for length in (5, 10, 20, 50, 100, 200, 300, 500, 1000) if length <= args.rounds]
    curves = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        train, valid = without_queries(args.train, work / "train.txt"), without_queries(args.valid, work / "valid.txt")
        for name, measure in programs:
            curves[name] = measure(args, lengths, train, valid, work)
    with (HERE / "seconds_to_ndcg.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["program", "rounds", "seconds", "valid_ndcg10"])
        for name, curve in curves.items():
            rows.writerows((name, length, f"{seconds:.2f}", f"{value:.4f}") for length, seconds, value in curve)
    best = max(value for curve in curves.values() for _, _, value in curve)
    print("| validation NDCG@10 | " + " | ".join(curves) + " |\n|---|" + "---|" * len(curves))
    for target in [best - step for step in (0.03, 0.02, 0.01, 0.005, 0.0025, 0)]:
        cells = []
        for curve in curves.values():
            reached = [(seconds, length) for length, seconds, value in curve if value >= target - 1e-9]
            cells.append(f"{reached[0][0]:.1f} s (T = {reached[0][1]})" if reached else "not reached")
        print(f"| {target:.4f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
