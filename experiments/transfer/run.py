"""Does a larger set with other, overlapping features help a small one? Against training on the small one alone.

    TUNEMIX_SHARED_DATA=DIR python3 experiments/transfer/run.py [generated] [parts] [ohsumed]

Writes results.csv beside it, a line for each set, size of the training data and way to use the source.
"""
import csv
import json
import os
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True
from program import ROOT, line_of, queries_of, tunemix  # noqa: E402

WORK = Path(os.environ.get("TRANSFER_WORK", ROOT / "runs/transfer"))
DATA = Path(os.environ.get("TUNEMIX_SHARED_DATA", ""))

LEARNERS = [{"type": "lambdamart", "leaves": 8, "iterations": 80, "shrinkage": 0.08},
            {"type": "ranksvm", "C": [0.1, 1, 10]}]
CALIBRATE = {"rbc": {"regressors": ["linear", "logistic", "poly2"], "targets": ["raw"]}}
WAYS = {"target only": None, "joint": {"use": "joint"}, "joint, weight .2": {"use": "joint", "weight": 0.2},
        "source only": {"use": "only"}, "both": {"use": "both"}}
# LETOR's descriptions of its features (MQ2008: number, OHSUMED: number): tf, tf*idf, BM25 and three language models of the
# title, of body or abstract, and of both. What is constant in a query (idf) is left out.
LETOR_PAIRS = ["3:1", "13:9", "23:11", "33:13", "38:14", "28:15",
               "1:16", "11:24", "21:26", "31:28", "36:29", "26:30",
               "5:31", "15:39", "25:41", "35:43", "40:44", "30:45"]


def keep_features(document, kept, factor=1.0):
    """The document with some of its features, under the numbers that they had."""
    words = [word.split(":") for word in document.features]
    return document._replace(features=[f"{i}:{float(value) * factor:g}" for i, value in words if int(i) in kept])


def write_queries(path, queries, kept=None, factor=1.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as out:
        for query in queries:
            for document in query:
                out.write(line_of(document if kept is None else keep_features(document, kept, factor)))
    return str(path)


def measure(name, folds, way, source, features=None):
    """Test NDCG@10 of the row that stands for the run, fold by fold."""
    data = {"folds": folds, "standardize": "replace", "labels": 5 if name.startswith("generated") else 3}
    if way is not None:
        data["source"] = {"files": source, **way, **({"features": features} if features else {})}
    config = {"name": name, "data": data, "learners": LEARNERS, "calibrate": CALIBRATE, "evaluate": {"tools": ["yahoo"]}}
    path = WORK / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=1) + "\n")
    rows = json.loads(tunemix("run", path, "--runs", WORK / "runs", "--quiet", "--json"))["rows"]
    row = next(r for r in rows if r["chosen"] and r["split"] == "test")
    return [fold["ndcg@10"] for fold in row["folds"]]


def add(results, data, queries, way, values, alone):
    n = len(values)
    gains = [v - a for v, a in zip(values, alone)]
    mean = sum(gains) / n
    error = (sum((g - mean) ** 2 for g in gains) / (n - 1) / n) ** 0.5
    results.append({"set": data, "training queries": queries, "way": way, "ndcg@10": round(sum(values) / n, 4),
                    "gain": round(mean, 4), "std. error of the gain": round(error, 4), "folds": n})
    print(results[-1], flush=True)


def ways(results, data, queries, name, run):
    alone = None
    for way, options in WAYS.items():
        values = run(f"{name}-{queries}-{way.replace(' ', '').replace(',', '')}", options)
        alone = alone or values
        add(results, data, queries, way, values, alone)


def generated(results):
    """A pair of sets from one problem of 25 features: the target has 6 to 25, the source 1 to 20 on another scale, and a
    fifth of its labels off by one."""
    chance = random.Random(1)
    target, source = set(range(6, 26)), set(range(1, 21))

    def made(seed, queries):
        file = WORK / f"made-{seed}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        tunemix("synth", "--seed", seed, "--queries", queries, "--out", file, "--quiet")
        return queries_of(file)

    def shifted(document):
        label = int(document.label)
        if chance.random() < 0.2:
            label = max(0, min(4, label + chance.choice([-1, 1])))
        return document._replace(label=str(label))

    big = write_queries(WORK / "source.txt", [[shifted(document) for document in query] for query in made(100, 400)], source, 2.5)
    splits = [(made(10 + fold, 160), made(20 + fold, 50), made(30 + fold, 200)) for fold in range(3)]
    for queries in [10, 40, 160]:
        folds = []
        for fold, (train, valid, test) in enumerate(splits):
            folds.append({"train": write_queries(WORK / f"train-{fold}-{queries}.txt", train[:queries], target),
                          "valid": write_queries(WORK / f"valid-{fold}.txt", valid, target),
                          "test": write_queries(WORK / f"test-{fold}.txt", test, target)})
        ways(results, "generated", queries, "generated",
             lambda name, way: measure(name, folds, way, [big], ["6-20"]))


def part(fold, i):
    return f"S{(fold + i) % 5 + 1}.txt"


def parts(results):
    """MQ2008 as two sets: the target has features 1 to 30 and as many training queries as a fold of OHSUMED;
    the source, the rest of the training parts, has 16 to 46."""
    target, source = set(range(1, 31)), set(range(16, 47))
    for queries in [63]:
        def run(name, way):
            values = []
            for fold in range(5):
                folder = WORK / f"parts-{fold}-{queries}"
                train = queries_of(*[DATA / "MQ2008" / part(fold, i) for i in range(3)])
                files = {"train": write_queries(folder / "train.txt", train[:queries], target)}
                for split, i in [("valid", 3), ("test", 4)]:
                    files[split] = write_queries(folder / f"{split}.txt", queries_of(DATA / "MQ2008" / part(fold, i)), target)
                big = write_queries(folder / "source.txt", train[queries:], source)
                values += measure(f"{name}-{fold}", [files], way, [big], ["16-30"])
            return values
        ways(results, "MQ2008 parts", queries, "parts", run)


def ohsumed(results):
    """OHSUMED with MQ2008 as its source: eighteen features in common."""
    big = [str(DATA / "MQ2008" / f"S{i}.txt") for i in range(1, 6)]
    for queries in [21, 63]:
        folds = []
        for fold in range(5):
            train = queries_of(*[DATA / "OHSUMED" / part(fold, i) for i in range(3)])
            folds.append({"train": write_queries(WORK / f"ohsumed-{fold}-{queries}.txt", train[:queries]),
                          "valid": str(DATA / "OHSUMED" / part(fold, 3)), "test": str(DATA / "OHSUMED" / part(fold, 4))})
        ways(results, "OHSUMED from MQ2008", queries, "ohsumed",
             lambda name, way: measure(name, folds, way, big, LETOR_PAIRS))


def main():
    chosen = sys.argv[1:] or ["generated", "parts", "ohsumed"]
    file = HERE / "results.csv"
    names = {"generated": "generated", "parts": "MQ2008 parts", "ohsumed": "OHSUMED from MQ2008"}
    kept = [row for row in csv.DictReader(open(file))] if file.exists() else []
    results = []
    for name, run in [("generated", generated), ("parts", parts), ("ohsumed", ohsumed)]:
        if name in chosen:
            run(results)
        else:
            results += [row for row in kept if row["set"] == names[name]]
    with open(file, "w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(results[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(results)


if __name__ == "__main__":
    main()
