"""Figure 3: test NDCG@10 over the share of the training queries, in random, best-first and worst-first order.

A query is as good as the NDCG@10 of the single best feature on it, the feature (and its direction) that is best
on the fold's training queries. Queries without a relevant document have no NDCG; they stand at random places of
every order, so that each portion has its share of them.

The baselines are trained on all queries of a portion and not calibrated: a map of scores to grades that is fitted on
few queries can have a negative slope, and then it reverses a ranker.
"""
import json
import math
import random
from itertools import product
from tempfile import NamedTemporaryFile

from common import DATA, FOLDS, HERE, SETS, WORK, fold_files, mean, run, tunemix, write_config, write_csv, write_json
from svg import Chart, nice_ticks

ORDERS = ["random", "best first", "worst first"]
ROWS = ["ALL+EXP", "AB+EXP", "SVM+EXP"]
SHARES = range(10, 101, 10)
BASELINE_SHARES = [10, 30, 50, 70, 100]
LEARNERS = [
    {"type": "adaboost_mh", "base": "tree", "leaves": 8, "iterations": 100, "shrinkage": 0.1, "bandit": "exp3g", "bags": 2},
    {"type": "svm", "bags": 2},
]
QUICK = ["--threads", 1, "--quiet"]  # the models are small
# One model a fold, its options by the NDCG@10 of the fold's validation split.
BASELINES = {
    "AdaRank": {"type": "adarank", "max": [1, 5, 20], "round": [20, 200]},
    "RankBoost": {"type": "rankboost", "round": [20, 100, 300]},
    "RankSVM": {"type": "ranksvm", "C": [0.01, 0.1, 1, 10]},
    "RankNet": {"type": "ranknet", "epoch": [10, 30, 100]},
    "Coordinate Ascent": {"type": "coordinate_ascent"},
}


def read_queries(files):
    """Queries in file order: [[(label, {feature: value}, line), ...], ...]."""
    queries = {}
    for file in files:
        with open(file) as lines:
            for line in lines:
                words = line.split("#")[0].split()
                features = {int(i): float(v) for i, v in (word.split(":") for word in words[2:])}
                queries.setdefault(words[1], []).append((int(words[0]), features, line))
    return list(queries.values())


def discount(rank):
    return 1 / math.log2(rank + 2)


def ndcg10(labels, scores):
    """NDCG@10 averaged over the orders of tied documents: a tied group shares its mean gain."""
    order = sorted(range(len(labels)), key=lambda i: -scores[i])
    total, first = 0.0, 0
    while first < min(10, len(order)):
        last = first
        while last < len(order) and scores[order[last]] == scores[order[first]]:
            last += 1
        gain = sum(2 ** labels[i] - 1 for i in order[first:last]) / (last - first)
        total += gain * sum(discount(rank) for rank in range(first, min(last, 10)))
        first = last
    ideal = sorted((2 ** label - 1 for label in labels), reverse=True)[:10]
    return total / sum(gain * discount(rank) for rank, gain in enumerate(ideal))


def single_feature(query, feature, sign):
    return ndcg10([document[0] for document in query], [sign * document[1].get(feature, 0.0) for document in query])


def best_feature(queries):
    features = sorted({feature for query in queries for document in query for feature in document[1]})
    return max(((feature, sign) for feature in features for sign in (1, -1)),
               key=lambda choice: sum(single_feature(query, *choice) for query in queries))


def ordered(queries, order, seed):
    """Positions of the queries in the order in which they are added."""
    dice = random.Random(seed)
    judged = [q for q, query in enumerate(queries) if any(document[0] > 0 for document in query)]
    empty = [q for q in range(len(queries)) if q not in set(judged)]
    feature = best_feature([queries[q] for q in judged])
    quality = {q: single_feature(queries[q], *feature) for q in judged}
    dice.shuffle(judged)
    dice.shuffle(empty)
    if order != "random":
        judged.sort(key=lambda q: quality[q], reverse=order == "best first")
    placed = [((i + 0.5) / len(group), q) for group in (judged, empty) for i, q in enumerate(group)]
    return [q for _, q in sorted(placed)], feature, quality


def subset_folds(name, order):
    """For each share the folds with their subset of the training queries, in file order so that 100 % is one and the same."""
    folds = {share: [] for share in SHARES}
    notes = []
    for fold in range(FOLDS):
        files = fold_files(fold)
        queries = read_queries(DATA / name / file for file in files["train"])
        sequence, feature, quality = ordered(queries, order, 100 + fold)
        notes.append({"fold": fold + 1, "queries": len(queries), "feature": feature[0], "sign": feature[1],
                      "ndcg@10": sum(quality.values()) / len(quality)})
        for share in SHARES:
            kept = set(sequence[:round(len(sequence) * share / 100)])
            path = WORK / "subsets" / f"{name}-{order.replace(' ', '-')}-{share}-fold{fold + 1}.txt"
            if share == 100:
                path = WORK / "subsets" / f"{name}-100-fold{fold + 1}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(document[2] for q, query in enumerate(queries) if q in kept for document in query))
            folds[share].append({"train": [str(path)], "valid": [str(DATA / name / files["valid"][0])],
                                 "test": [str(DATA / name / files["test"][0])]})
    return folds, notes


def mean_ndcg10(queries, scores):
    values, first = [], 0
    for query in queries:
        labels = [document[0] for document in query]
        if any(labels):
            values.append(ndcg10(labels, scores[first:first + len(labels)]))
        first += len(labels)
    return mean(values)


def best_test_scores(learner, fold):
    """Test scores of the model that is best on validation, of all combinations of the learner's options."""
    grid = {key: values for key, values in learner.items() if key != "type"}
    queries = read_queries(fold["valid"])
    documents = sum(map(len, queries))
    found = []
    for values in product(*grid.values()):
        options = [word for key, value in zip(grid, values) for word in ("--set", f"{key}={value}")]
        with NamedTemporaryFile(suffix=".tmx") as model:
            tunemix("train", "--data", *fold["train"], "--learner", learner["type"], *options, "--model", model.name, *QUICK)
            scored = tunemix("score", "--model", model.name, "--data", *fold["valid"], *fold["test"], "--out", "-", *QUICK)
        scores = [float(line) for line in scored.split()]
        found.append((mean_ndcg10(queries, scores[:documents]), scores[documents:]))
    return max(found, key=lambda one: one[0])[1]


def baseline(learner, folds):
    """Test NDCG@10, mean over folds as in the rows of a run, and its standard error."""
    found = []
    for fold in folds:
        with NamedTemporaryFile("w") as scores:
            scores.writelines(f"{score!r}\n" for score in best_test_scores(learner, fold))
            scores.flush()
            evaluated = tunemix("eval", "--data", *fold["test"], "--scores", scores.name, "--tool", "yahoo", "--json", *QUICK)
        found.append(json.loads(evaluated)["tools"]["yahoo"])
    return mean(one["ndcg"][9] for one in found), math.sqrt(sum(one["stderr"] ** 2 for one in found)) / len(found)


def measure(name):
    points, features, whole = [], [], {}
    for order in ORDERS:
        folds, features = subset_folds(name, order)
        for share in SHARES:
            title = f"curve-{name}-{order.replace(' ', '-')}-{share}" if share < 100 else f"curve-{name}-100"
            config = write_config(title, folds[share], LEARNERS, labels=3, evaluate={"tools": ["yahoo"]})
            values = {row["name"]: (row["ndcg@10"], row["stderr"]) for row in run(config)["rows"]
                      if row["name"] in ROWS and row["split"] == "test"}
            if share == 100 and whole:
                values |= whole
            elif share in BASELINE_SHARES:
                measured = {row: baseline(learner, folds[share]) for row, learner in BASELINES.items()}
                whole = measured if share == 100 else whole
                values |= measured
            points += [{"set": name, "order": order, "percent": share, "row": row, "ndcg@10": value, "stderr": stderr}
                       for row, (value, stderr) in values.items()]
    return points, features


def draw(title, points, rows, path, bars):
    shown = [p for p in points if p["row"] in rows]
    low = min(p["ndcg@10"] - bars * p["stderr"] for p in shown)
    high = max(p["ndcg@10"] + bars * p["stderr"] for p in shown)
    chart = Chart(900, 380, f"{title}: test NDCG@10 (yahoo) over the share of the training queries")
    chart.legend(rows, 60, 48)
    for column, order in enumerate(ORDERS):
        panel = chart.panel(60 + 285 * column, 84, 250, 236, (5, 105), (low, high), order, "training queries, %",
                            "NDCG@10" if column == 0 else "", xticks=[20, 40, 60, 80, 100], yticks=nice_ticks(low, high, 8))
        for index, row in enumerate(rows):
            line = [p for p in shown if p["order"] == order and p["row"] == row]
            shift = (index - 1) * 1.0 if bars else 0
            for p in line if bars else []:
                panel.bar(p["percent"] + shift, p["ndcg@10"] - p["stderr"], p["ndcg@10"] + p["stderr"], index)
            panel.line([(p["percent"] + shift, p["ndcg@10"]) for p in line], index)
    chart.write(path)


def main():
    for name in SETS:
        points, features = measure(name)
        out = HERE / "learning_curves"
        write_csv(out / f"{name}.csv", points)
        write_json(out / f"{name}.json", {"learners": LEARNERS, "baselines": BASELINES, "best_feature": features, "points": points})
        draw(name, points, ROWS, out / f"{name}.svg", bars=1)
        draw(f"{name}, beside classic rankers", points, ["ALL+EXP", *BASELINES], out / f"{name}-baselines.svg", bars=0)


if __name__ == "__main__":
    main()
