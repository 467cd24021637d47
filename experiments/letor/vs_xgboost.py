"""The recommended recipe against XGBoost's rank:pairwise on the same folds, query by query.

    TUNEMIX_SHARED_DATA=... python3 experiments/letor/vs_xgboost.py        TUNEMIX=build/bin/tunemix; needs the `xgboost` program

XGBoost's depth, learning rate and number of rounds are chosen on each fold by validation NDCG@10 (yahoo preset), as ours are. Prints
what `tunemix compare` says of the two on the five test splits: mean NDCG@10, paired t-test over queries, Fisher over folds.
"""
import json
import os
import subprocess
import tempfile
from pathlib import Path

PROGRAM = os.environ.get("TUNEMIX", "build/bin/tunemix")
DATA = Path(os.environ["TUNEMIX_SHARED_DATA"])
FOLDS = [([1, 2, 3], 4, 5), ([2, 3, 4], 5, 1), ([3, 4, 5], 1, 2), ([4, 5, 1], 2, 3), ([5, 1, 2], 3, 4)]
GRID = [(depth, eta) for depth in (3, 6) for eta in (0.05, 0.1)]
ROUNDS, PERIOD = 300, 25


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def predict(model, data, out):
    run("xgboost", os.devnull, "task=pred", f"model_in={model}", f"test:data={data}?format=libsvm", f"name_pred={out}", "verbosity=0")


def ndcg(data, scores):
    report = json.loads(run(PROGRAM, "eval", "--data", data, "--scores", scores, "--tool", "yahoo", "--json"))
    return report["tools"]["yahoo"]["ndcg"][9]


def plain(source, out):
    """Without comments, which the peer's reader does not take."""
    out.write_text("".join(line.split("#")[0].rstrip() + "\n" for line in source.open()))
    return out


def xgboost_scores(folder, parts, train, valid, test, out):
    joined = folder / "train.txt"
    joined.write_text("".join(parts[i].read_text() for i in train))
    best = (-1.0,)
    for depth, eta in GRID:
        models = folder / f"models-{depth}-{eta}"
        models.mkdir()
        run("xgboost", os.devnull, f"data={joined}?format=libsvm", "objective=rank:pairwise", "tree_method=hist", f"max_depth={depth}",
            f"eta={eta}", f"num_round={ROUNDS}", f"save_period={PERIOD}", f"model_dir={models}", "nthread=2", "verbosity=0")
        for model in sorted(models.iterdir()):
            predict(model, parts[valid], folder / "valid.scores")
            best = max(best, (ndcg(parts[valid], folder / "valid.scores"), depth, eta, str(model)))
    predict(best[3], parts[test], out)
    return f"depth {best[1]}, eta {best[2]}, {Path(best[3]).name}"


def main():
    for name in ("mq2008", "ohsumed"):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            source = DATA / name.upper()
            parts = {i: plain(source / f"S{i}.txt", scratch / f"S{i}.txt") for i in range(1, 6)}
            run(PROGRAM, "run", f"configs/{name}.yaml", "--runs", scratch / "runs", "--quiet")
            labels, ours, theirs = [], [], []
            for number, (train, valid, test) in enumerate(FOLDS, 1):
                folder = scratch / f"fold{number}"
                folder.mkdir()
                theirs.append(folder / "xgboost.scores")
                chosen = xgboost_scores(folder, parts, train, valid, test, theirs[-1])
                print(f"{name} fold {number}: XGBoost with {chosen}", flush=True)
                ours.append(folder / "tunemix.scores")
                run(PROGRAM, "export", f"configs/{name}.yaml", "--runs", scratch / "runs", "--fold", number, "--out", ours[-1], "--quiet")
                labels.append(parts[test])
            print(f"\n{name}: A is TuneMix ALL+EXP, B is XGBoost rank:pairwise")
            print(run(PROGRAM, "compare", "--data", *labels, "--a", *ours, "--b", *theirs))


if __name__ == "__main__":
    main()
