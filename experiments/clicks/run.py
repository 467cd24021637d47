"""What is lost by learning from clicks instead of grades, and what the click model saves of it.

    python3 experiments/clicks/run.py

Documents come from `tunemix synth`; simulated people see ten of them in the order of a weak ranker (one feature with noise),
look at rank r with probability 1 / r, and click what they look at with probability .05 + .2 * grade. Training data is then
made from the log in three ways and the same experiment run on each, validated and tested on true grades.
"""
import json
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import ROOT, documents, line_of, tunemix  # noqa: E402

WORK = Path(os.environ.get("CLICKS_WORK", ROOT / "runs/clicks"))
SHOWN = 10


def name_of(document):
    return document.comment.split()[-1]


def simulate(file, log, sessions, seed):
    chance = random.Random(seed)
    queries = {}
    for document in documents(file):
        first = float(document.features[0].split(":")[1])
        queries.setdefault(document.query, []).append((name_of(document), int(document.label), first))
    with open(log, "w") as out:
        for query, shown in queries.items():
            values = [value for _, _, value in shown]
            spread = max(values) - min(values) or 1.0
            for _ in range(sessions):
                order = sorted(shown, key=lambda d: -d[2] / spread + chance.gauss(0, 0.5))[:SHOWN]
                clicked = [str(rank + 1) for rank, (_, grade, _) in enumerate(order)
                           if chance.random() < (0.05 + 0.2 * grade) / (rank + 1)]
                out.write(f"{query}\t{' '.join(name for name, _, _ in order)}\t{' '.join(clicked)}\n")


def naive(file, log, out):
    """Grades by the share of clicks, five of equal width up to the largest: no model of who looked."""
    seen, clicks = {}, {}
    for line in open(log):
        query, shown, ranks = line.rstrip("\n").split("\t")
        for rank, name in enumerate(shown.split()):
            seen[query, name] = seen.get((query, name), 0) + 1
            clicks[query, name] = clicks.get((query, name), 0) + (str(rank + 1) in ranks.split())
    top = max(clicks[key] / seen[key] for key in seen)
    with open(out, "w") as to:
        for document in documents(file):
            key = (document.query, name_of(document))
            if key in seen:
                share = clicks[key] / seen[key] / top
                to.write(line_of(document._replace(label=str(min(4, int(5 * share))))))


def measure(name, train):
    config = {"name": name, "data": {"root": str(WORK), "labels": 5, "folds": [{"train": train, "valid": "valid.txt", "test": "test.txt"}]},
              "learners": [{"type": "lambdamart", "leaves": 8, "iterations": 150, "shrinkage": 0.05, "bags": 2},
                           {"type": "adaboost_mh", "base": "tree", "leaves": 8, "iterations": 150, "shrinkage": 0.1, "bags": 2}],
              "evaluate": {"tools": ["yahoo"]}}
    path = WORK / f"{name}.yaml"
    path.write_text(json.dumps(config, indent=1) + "\n")
    rows = json.loads(tunemix("run", path, "--runs", WORK / "runs", "--quiet", "--json"))["rows"]
    row = next(r for r in rows if r["chosen"] and r["split"] == "test")
    return row["ndcg@10"], row["stderr"]


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    for seed, (split, queries) in enumerate([("documents", 200), ("valid", 60), ("test", 400)], 1):
        tunemix("synth", "--seed", seed, "--queries", queries, "--out", WORK / f"{split}.txt", "--quiet")
    print("| sessions a query | training data | test NDCG@10 (yahoo) | std. error |\n|---|---|---|---|")
    print("| | true grades of all documents | {:.4f} | {:.4f} |".format(*measure("truth", "documents.txt")))
    for sessions in [5, 20, 100]:
        log = WORK / f"log-{sessions}.tsv"
        simulate(WORK / "documents.txt", log, sessions, sessions)
        naive(WORK / "documents.txt", log, WORK / f"naive-{sessions}.txt")
        tunemix("clicks", log, "--features", WORK / "documents.txt", "--out", WORK / f"model-{sessions}.txt", "--quiet")
        plain = WORK / f"unweighted-{sessions}.txt"
        plain.write_text((WORK / f"model-{sessions}.txt").read_text())
        for what, file in [("share of clicks", f"naive-{sessions}.txt"), ("click model, all weights 1", plain.name),
                           ("click model with its weights", f"model-{sessions}.txt")]:
            print("| {} | {} | {:.4f} | {:.4f} |".format(sessions, what, *measure(Path(file).stem, file)), flush=True)


if __name__ == "__main__":
    main()
