"""The recommended recipe against XGBoost's rank:pairwise on the same folds, query by query: as it is used, and with equal means.

    TUNEMIX_SHARED_DATA=... python3 experiments/letor/vs_xgboost.py [mq2008 ohsumed]     TUNEMIX=build/bin/tunemix; needs the `xgboost` program

One model: depth, learning rate and number of rounds are chosen on each fold by validation NDCG@10 (yahoo preset), as ours are.
Equal means: as many models as the recipe trains on a fold, each on another four fifths of the training queries, with features standardised
within each query appended, their scores averaged; depth and rate as chosen for one model with these features, rounds by validation of the
average. What ALL+EXP is ahead of that comes from mixing different learners and not from bags or features.
Prints what `tunemix compare` says of the two on the five test splits: mean NDCG@10, paired t-test over queries, Fisher over folds.
"""
import json
import math
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import ndcg, queries_of, run, tunemix  # noqa: E402

DATA = Path(os.environ.get("TUNEMIX_SHARED_DATA") or sys.exit("set TUNEMIX_SHARED_DATA to the folder that holds MQ2008/ and OHSUMED/"))
FOLDS = [([1, 2, 3], 4, 5), ([2, 3, 4], 5, 1), ([3, 4, 5], 1, 2), ([4, 5, 1], 2, 3), ([5, 1, 2], 3, 4)]
GRID = [(depth, eta) for depth in (3, 6) for eta in (0.05, 0.1)]
ROUNDS, PERIOD = 300, 25


def numbers_of(file):
    """[(label, qid, {feature: value})] by query, in file order, without comments, which the peer's reader does not take."""
    def numbers(document):
        return document.label, f"qid:{document.query}", {int(i): float(v) for i, v in (w.split(":") for w in document.features)}
    return [[numbers(document) for document in query] for query in queries_of(file)]


def appended(query):
    """Beside every feature the same one with mean 0 and deviation 1 within the query (0 where it is constant)."""
    width = max(i for document in query for i in document[2])
    extra = [{} for _ in query]
    for i in range(1, width + 1):
        values = [document[2].get(i, 0.0) for document in query]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        for more, value in zip(extra, values):
            more[width + i] = (value - mean) / deviation if deviation > 1e-12 else 0.0
    return [(label, qid, {**features, **more}) for (label, qid, features), more in zip(query, extra)]


def write(queries, file):
    file.write_text("".join(f"{label} {qid} " + " ".join(f"{i}:{v:.9g}" for i, v in features.items()) + "\n"
                            for query in queries for label, qid, features in query))
    return file


def train(folder, data, depth, eta, seed=0):
    folder.mkdir()
    run("xgboost", os.devnull, f"data={data}?format=libsvm", "objective=rank:pairwise", "tree_method=hist", f"max_depth={depth}",
        f"eta={eta}", f"num_round={ROUNDS}", f"save_period={PERIOD}", f"model_dir={folder}", "nthread=2", "verbosity=0", f"seed={seed}")
    return sorted(folder.iterdir())


def predict(model, data, out):
    run("xgboost", os.devnull, "task=pred", f"model_in={model}", f"test:data={data}?format=libsvm", f"name_pred={out}", "verbosity=0")
    return [float(line) for line in out.open()]


def one_model(folder, files, valid, test, out):
    """The best of the grid on the validation split; its scores go to `out`."""
    best = (-1.0,)
    for depth, eta in GRID:
        for model in train(folder / f"one-{depth}-{eta}", files["train"], depth, eta):
            predict(model, valid, folder / "valid.scores")
            best = max(best, (ndcg(valid, folder / "valid.scores"), depth, eta, str(model)))
    predict(best[3], test, out)
    return best


def write_mean(lists, out):
    out.write_text("".join(f"{sum(values) / len(values):.9g}\n" for values in zip(*lists)))
    return out


def many_models(folder, queries, valid, test, depth, eta, bags, out):
    models = []
    for bag in range(bags):
        kept = queries[:]
        random.Random(1000 + bag).shuffle(kept)
        data = write(kept[:round(0.8 * len(kept))], folder / "bag.txt")
        models.append(train(folder / f"bag-{bag}", data, depth, eta, bag))
    best = (-1.0, 0)
    for step in range(len(models[0])):
        mean = write_mean([predict(m[step], valid, folder / "bag.scores") for m in models], folder / "valid.scores")
        best = max(best, (ndcg(valid, mean), step))
    write_mean([predict(m[best[1]], test, folder / "bag.scores") for m in models], out)
    return best


def main():
    for name in sys.argv[1:] or ("mq2008", "ohsumed"):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            source = DATA / name.upper()
            plain = {i: numbers_of(source / f"S{i}.txt") for i in range(1, 6)}
            wide = {i: [appended(query) for query in plain[i]] for i in range(1, 6)}
            parts = {i: write(plain[i], scratch / f"S{i}.txt") for i in range(1, 6)}
            wide_parts = {i: write(wide[i], scratch / f"W{i}.txt") for i in range(1, 6)}
            results = json.loads(tunemix("run", f"configs/{name}.yaml", "--runs", scratch / "runs", "--quiet", "--json"))
            bags = results["timing"]["train"]["jobs"] // len(FOLDS)
            labels, ours, single, bagged = [], [], [], []
            for number, (train_parts, valid, test) in enumerate(FOLDS, 1):
                folder = scratch / f"fold{number}"
                folder.mkdir()
                files = {"train": write([q for i in train_parts for q in plain[i]], folder / "train.txt")}
                single.append(folder / "single.scores")
                one = one_model(folder, files, parts[valid], parts[test], single[-1])
                folder = scratch / f"wide{number}"
                folder.mkdir()
                wide_queries = [q for i in train_parts for q in wide[i]]
                files = {"train": write(wide_queries, folder / "train.txt")}
                chosen = one_model(folder, files, wide_parts[valid], wide_parts[test], folder / "one.scores")
                bagged.append(folder / "bagged.scores")
                many_models(folder, wide_queries, wide_parts[valid], wide_parts[test], chosen[1], chosen[2], bags, bagged[-1])
                print(f"{name} fold {number}: one model with depth {one[1]}, eta {one[2]}; {bags} bags with depth {chosen[1]}, eta {chosen[2]}",
                      flush=True)
                ours.append(folder / "tunemix.scores")
                tunemix("export", f"configs/{name}.yaml", "--runs", scratch / "runs", "--fold", number, "--out", ours[-1], "--quiet")
                labels.append(parts[test])
            for title, theirs in (("one XGBoost model", single), (f"{bags} bagged XGBoost models, standardised features appended", bagged)):
                print(f"\n{name}: A is TuneMix ALL+EXP, B is {title}")
                print(tunemix("compare", "--data", *labels, "--a", *ours, "--b", *theirs), flush=True)


if __name__ == "__main__":
    main()
