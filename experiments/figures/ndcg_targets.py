"""Figure 4: validation NDCG@10 of members calibrated by regression on the grade (raw) and on the grade over the
query's ideal DCG (ndcg): the same model and the same regressor make a pair. Only of learners with K scores: most
regressors leave the order of a single score as it is, whatever their target."""
import math
import re

from common import HERE, SETS, mean, recipe, report_data, write_csv, write_json
from svg import Chart

FAMILIES = {"boosting": "boosting", "svm": "SVM"}
REGRESSORS = ["linear", "logistic", "neural", "poly2", "poly3", "poly4"]


def measure(name):
    config, title, tools = recipe(name)
    members = report_data(config, title + "-lengths", tools, "mix.checkpoints=all")["members"]
    found = {}
    for member in members:
        words = re.split("[^a-z0-9]", member["calibration"])
        if member["kind"] != "rbc" or member["family"] not in FAMILIES:
            continue
        regressor = next(word for word in words if word in REGRESSORS)
        target = next(word for word in words if word in ("raw", "ndcg"))
        key = (member["fold"], member["family"], member["model"], member["iterations"], regressor)
        found.setdefault(key, {})[target] = member["quality"]
    return [{"set": name, "fold": key[0], "family": key[1], "model": key[2], "iterations": key[3],
             "regressor": key[4], "raw": pair["raw"], "ndcg": pair["ndcg"]}
            for key, pair in found.items() if len(pair) == 2]


def summarise(pairs):
    """Mean difference ndcg - raw, with the standard error over the folds (members of a fold are not independent)."""
    folds = sorted({p["fold"] for p in pairs})
    by_fold = [mean(p["ndcg"] - p["raw"] for p in pairs if p["fold"] == fold) for fold in folds]
    centre = mean(by_fold)
    spread = math.sqrt(sum((d - centre) ** 2 for d in by_fold) / (len(by_fold) - 1) / len(by_fold))
    return {"pairs": len(pairs), "raw": mean(p["raw"] for p in pairs), "ndcg": mean(p["ndcg"] for p in pairs),
            "difference": centre, "stderr_over_folds": spread,
            "ndcg_higher": mean(p["ndcg"] > p["raw"] for p in pairs), "raw_higher": mean(p["ndcg"] < p["raw"] for p in pairs)}


def draw(name, pairs, path):
    chart = Chart(900, 470, f"{name}: validation NDCG@10 of regression calibrations, normalised against raw targets")
    chart.legend(REGRESSORS, 60, 50, lines=False)
    for column, family in enumerate(FAMILIES):
        shown = [p for p in pairs if p["family"] == family]
        values = sorted(v for p in shown for v in (p["raw"], p["ndcg"]))
        low, high = values[len(values) // 200], values[-1]
        edge = 0.04 * (high - low)
        panel = chart.panel(70 + 430 * column, 90, 350, 320, (low - edge, high + edge), (low, high),
                            FAMILIES[family], "target: grade (raw)", "target: grade / ideal DCG (ndcg)")
        panel.diagonal()
        for index, regressor in enumerate(REGRESSORS):
            panel.scatter([(p["raw"], p["ndcg"]) for p in shown if p["regressor"] == regressor
                           and min(p["raw"], p["ndcg"]) >= low], index)
    chart.write(path)


def main():
    for name in SETS:
        pairs = measure(name)
        out = HERE / "ndcg_targets"
        groups = {"all": summarise(pairs)}
        for key in ("family", "regressor"):
            for value in dict.fromkeys(p[key] for p in pairs):
                groups[value] = summarise([p for p in pairs if p[key] == value])
        write_csv(out / f"{name}.csv", pairs)
        write_json(out / f"{name}.json", {"set": name, "summary": groups})
        draw(name, pairs, out / f"{name}.svg")


if __name__ == "__main__":
    main()
