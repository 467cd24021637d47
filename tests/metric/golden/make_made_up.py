#!/usr/bin/python3
"""Writes made_up.txt, made_up.scores and made_up.json: NDCG@1..10 and MAP of made-up scores as XGBoost, scikit-learn and LightGBM
print them. Needs the packages python3-xgboost and python3-sklearn; LIGHTGBM names LightGBM's program (without it its figures are kept).

    /usr/bin/python3 tests/metric/golden/make_made_up.py
"""
import json
import os
import random
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import xgboost
from sklearn.metrics import ndcg_score

HERE = Path(__file__).parent
RANKS = range(1, 11)


def make():
    """Queries of 2 to 14 documents; some without a relevant one, tied scores, scores that are tied in single precision only."""
    draw = random.Random(2012)
    queries = []
    for q in range(40):
        size = draw.randint(2, 14)
        labels = [0 if q % 8 == 0 else draw.choice([0, 0, 0, 1, 1, 2, 3, 4]) for _ in range(size)]
        scores = [round(draw.uniform(0.1, 2) + 0.4 * label, 1) + draw.choice([0, 0, 1e-12]) for label in labels]
        queries.append((labels, scores))
    return queries


def xgboost_values(queries, minus):
    labels = [label for query in queries for label in query[0]]
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels)
    data.set_group([len(query[0]) for query in queries])
    data.set_base_margin([score for query in queries for score in query[1]])
    names = [f"ndcg@{k}{minus}" for k in RANKS] + ["map" + minus]
    found = {}
    for name in names:
        booster = xgboost.train({"objective": "rank:ndcg", "eval_metric": name}, data, num_boost_round=0)
        found[name] = booster.eval(data).rsplit(":", 1)[1]
    return {"ndcg": [float(found[name]) for name in names[:-1]], "map": float(found[names[-1]]), "decimals": 12}


def sklearn_values(queries):
    ndcg = [float(np.mean([ndcg_score([labels], [scores], k=k) for labels, scores in queries])) for k in RANKS]
    return {"ndcg": ndcg, "decimals": 12}


def lightgbm_values(queries, program):
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        draw = random.Random(1)
        data.write_text("".join(f"{label} 1:{draw.random()}\n" for query in queries for label in query[0]))
        Path(f"{data}.query").write_text("".join(f"{len(query[0])}\n" for query in queries))
        Path(f"{data}.init").write_text("".join(f"{score!r}\n" for query in queries for score in query[1]))
        # One round at a rate that changes no score.
        out = subprocess.run(
            [program, "task=train", f"data={data}", "objective=lambdarank", "metric=ndcg,map", "is_training_metric=true",
             "eval_at=" + ",".join(map(str, RANKS)) + ",1000", "num_iterations=1", "learning_rate=1e-30", "num_threads=1",
             f"output_model={folder}/model", "min_data_in_leaf=5", "feature_pre_filter=false"],
            check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"training (\S+) : (\S+)", out))
    return {"ndcg": [float(found[f"ndcg@{k}"]) for k in RANKS], "map": float(found["map@1000"]), "decimals": 6}


def main():
    queries = make()
    (HERE / "made_up.txt").write_text("".join(f"{label} qid:{q + 1} 1:{i}\n" for q, query in enumerate(queries)
                                              for i, label in enumerate(query[0])))
    (HERE / "made_up.scores").write_text("".join(f"{score!r}\n" for query in queries for score in query[1]))
    target = HERE / "made_up.json"
    golden = json.loads(target.read_text()) if target.exists() else {}
    golden |= {"data": "made_up.txt", "scores": "made_up.scores", "xgboost": xgboost_values(queries, ""),
               "xgboost-": xgboost_values(queries, "-"), "sklearn": sklearn_values(queries)}
    if program := os.environ.get("LIGHTGBM"):
        golden["lightgbm"] = lightgbm_values(queries, program)
    target.write_text(json.dumps(golden, indent=1) + "\n")


main()
