"""What the options of a learner's entry bring on MQ2008 and OHSUMED: ordinal classes, groups of labels, shares of features, views
of them, some of the features, and copies of queries. Five official folds, seed 1, two bags, five calibrations; a section takes about a minute of processor time.

    TUNEMIX_SHARED_DATA=... python3 experiments/options/options.py [classes labels cdf views features copies]

writes SECTION.md beside this script: test NDCG@10 under the yahoo preset, its standard error over queries, and the validation value.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "figures"))
sys.dont_write_bytecode = True
from common import SETS, official_folds, run, write_config  # noqa: E402

HERE = Path(__file__).resolve().parent
BOOST = {"type": "adaboost_mh", "leaves": 8, "iterations": 200, "checkpoints": [50], "shrinkage": 0.1, "bandit": "value", "bags": 2}
SVM = {"type": "svm", "C": [0.003, 0.03, 0.3], "bags": 2}
LAMBDAMART = {"type": "lambdamart", "leaves": 8, "iterations": 200, "checkpoints": [50], "shrinkage": 0.05, "bags": 2}
RANKSVM = {"type": "ranksvm", "bags": 2}
CALIBRATE = {"cpc": ["shift", "ls", "sndcg"], "rbc": {"regressors": ["linear", "poly2"], "targets": ["raw"]}}
GROUPINGS = [[[0], [1, 2]], [[0, 1], [2]]]


def classes():
    for name, row, learner in [("AdaBoost.MH", "AB+EXP", BOOST), ("SVM", "SVM+EXP", SVM)]:
        for kind in ["multi", "ordinal", ["multi", "ordinal"]]:
            yield f"{name}, classes: {str(kind).replace(chr(39), '')}", row, {}, [{**learner, "classes": kind}]
    yield "AdaBoost.MH, weights: distance", "AB+EXP", {}, [{**BOOST, "weights": "distance"}]
    yield "AdaBoost.MH, weights: [exponential, distance]", "AB+EXP", {}, [{**BOOST, "weights": ["exponential", "distance"]}]


def labels():
    for name, row, learner in [("AdaBoost.MH", "AB+EXP", BOOST), ("SVM", "SVM+EXP", SVM), ("LambdaMART", "LM+EXP", LAMBDAMART)]:
        for groups in [[], *GROUPINGS, [[], *GROUPINGS]]:
            yield f"{name}, labels: {groups}", row, {}, [{**learner, "labels": groups}]


def cdf():
    for name, row, learner in [("SVM", "SVM+EXP", SVM), ("RankSVM", "RS+EXP", RANKSVM),
                               ("RankNet", "RN+EXP", {"type": "ranknet", "epoch": 50, "checkpoints": [20], "layer": 1, "bags": 2}),
                               ("linear regression", "LR+EXP", {"type": "linear_regression", "bags": 2}),
                               ("AdaBoost.MH", "AB+EXP", BOOST)]:
        for kind in ["none", "replace", "append", "cdf"] if learner is not BOOST else ["none", "cdf"]:
            yield f"{name}, standardize: {kind}", row, {}, [{**learner, "standardize": kind}]


def views():
    for name, row, learner in [("LambdaMART", "LM+EXP", LAMBDAMART), ("AdaBoost.MH", "AB+EXP", BOOST), ("SVM", "SVM+EXP", SVM),
                               ("RankSVM", "RS+EXP", RANKSVM)]:
        for kind in ["none", "append", "context", ["none", "context"]]:
            yield f"{name}, standardize: {str(kind).replace(chr(39), '')}", row, {}, [{**learner, "standardize": kind}]


def features(name):
    parts = {"MQ2008": {"BM25": ["21-25"], "BM25 and language models": ["21-40"], "text (body, anchor, title, URL)": ["1-40"],
                        "page (PageRank, links, URL, length)": ["41-46"], "all": "all"},
             "OHSUMED": {"title": ["1-15"], "abstract": ["16-30"], "title and abstract as one": ["31-45"], "all": "all"}}[name]
    yield "random", "RND+EXP", {}, [{"type": "random", "bags": 2}]
    for words, chosen in parts.items():
        data = {"features": chosen}
        yield f"best feature of: {words}", "BF+EXP", data, [{"type": "best_feature", "bags": 2}]
        yield f"LambdaMART on: {words}", "LM+EXP", data, [LAMBDAMART]
        yield f"SVM on: {words}", "SVM+EXP", data, [SVM]


def copies():
    for name, row, learner in [("LambdaMART", "LM+EXP", LAMBDAMART), ("RankSVM", "RS+EXP", RANKSVM), ("AdaBoost.MH", "AB+EXP", BOOST)]:
        yield f"{name}, copies: 0", row, {}, [learner]
        for share in [0.2, 0.5]:
            yield f"{name}, copies: 2, leave_out: {share}", row, {}, [{**learner, "copies": 2, "leave_out": share}]


def measure(name, row, data, learners, number):
    path = write_config(f"options-{name}", official_folds(name), learners, calibrate=CALIBRATE)
    overrides = [f"data.{key}={str(value).replace(chr(39), '')}" for key, value in data.items()]
    rows = {r["split"]: r for r in run(path, *overrides)["rows"] if r["name"] == row and r["tool"] == "yahoo"}
    print(name, number, row, f"{rows['test']['ndcg@10']:.4f}", flush=True)
    return rows["test"]["ndcg@10"], rows["test"]["stderr"], rows["valid"]["ndcg@10"]


SECTIONS = {"classes": classes, "labels": labels, "cdf": cdf, "views": views, "features": features, "copies": copies}


def short(value):
    return f"{value:.4f}"[1:]


def main():
    for section in sys.argv[1:] or SECTIONS:
        make = SECTIONS[section]
        out = [f"Made by `python3 experiments/options/options.py {section}`; test NDCG@10 (yahoo), five folds, seed 1.\n"]
        tables = [[(words, measure(name, row, data, learners, n)) for n, (words, row, data, learners) in
                   enumerate(make(name) if make is features else make())] for name in SETS]
        if make is features:
            for name, table in zip(SETS, tables):
                out += [f"| {name} | test | std. error | validation |", "|---|---|---|---|"]
                out += [f"| {words} | {short(t)} | {short(e)} | {short(v)} |" for words, (t, e, v) in table] + [""]
        else:
            out += ["| | " + " | ".join(f"{name} test | std. error | validation" for name in SETS) + " |", "|---" * 7 + "|"]
            for lines in zip(*tables):
                out.append(f"| {lines[0][0]} | " + " | ".join(f"{short(t)} | {short(e)} | {short(v)}" for _, (t, e, v) in lines) + " |")
        (HERE / f"{section}.md").write_text("\n".join(out).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
