"""Collects the results of runs in results.csv and writes the tables of results.md."""
import csv
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CSV = os.path.join(HERE, "results.csv")
FIELDS = ["config", "seed", "row", "valid_chosen_by", "valid_ndcg10", "test_ndcg10", "test_stderr", "test_err", "seconds"]
ROWS = ["AB+EXP", "AB+EXP.CPC", "AB+EXP.RBC", "AB+OneBest", "SVM+EXP", "SVM+EXP.CPC", "SVM+EXP.RBC", "SVM+OneBest", "ALL+EXP", "ALL+OneBest"]
# NDCG@10 and ERR of the paper's tables 2 and 3.
PAPER = {
    "mq2008": {"AB+EXP": (.790, .312), "AB+EXP.CPC": (.791, .312), "AB+EXP.RBC": (.788, .313), "AB+OneBest": (.779, .294),
               "SVM+EXP": (.774, .299), "SVM+EXP.CPC": (.767, .295), "SVM+EXP.RBC": (.776, .300), "SVM+OneBest": (.761, .293)},
    "ohsumed": {"AB+EXP": (.469, .549), "AB+EXP.CPC": (.472, .573), "AB+EXP.RBC": (.464, .549), "AB+OneBest": (.446, .506),
                "SVM+EXP": (.475, .579), "SVM+EXP.CPC": (.418, .505), "SVM+EXP.RBC": (.474, .577), "SVM+OneBest": (.455, .554)},
}


def read():
    if not os.path.exists(CSV):
        return []
    with open(CSV, newline="") as file:
        return list(csv.DictReader(file))


def write_csv(lines):
    lines.sort(key=lambda l: (l["config"], int(l["seed"]), ROWS.index(l["row"])))
    with open(CSV, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def add(config, seed, path):
    with open(path) as file:
        results = json.load(file)
    tool = results["rows"][0]["tool"]
    lines = [l for l in read() if (l["config"], l["seed"]) != (config, seed)]
    seconds = sum(t["seconds"] for t in results["timing"].values())
    for row in ROWS:
        found = {r["split"]: r for r in results["rows"] if r["name"] == row and r["tool"] == tool}
        if not found:
            continue
        chosen = [c["chosen_by"] for c in results["choices"] if c["row"] == row]
        lines.append({"config": config, "seed": seed, "row": row, "valid_chosen_by": f"{sum(chosen) / len(chosen):.5f}",
                      "valid_ndcg10": f"{found['valid']['ndcg@10']:.5f}", "test_ndcg10": f"{found['test']['ndcg@10']:.5f}",
                      "test_stderr": f"{found['test']['stderr']:.5f}", "test_err": f"{found['test']['err']:.5f}",
                      "seconds": f"{seconds:.1f}"})
    write_csv(lines)


def mean_and_spread(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))


def cell(values):
    if len(values) < 2:
        return f"{values[0]:.4f} (one seed)" if values else ""
    return "{:.4f} ± {:.4f}".format(*mean_and_spread(values))


def write():
    lines = read()
    out = []
    for name, title in (("mq2008", "MQ2008"), ("ohsumed", "OHSUMED")):
        for measure, field, index in (("NDCG@10", "test_ndcg10", 0), ("ERR", "test_err", 1)):
            out.append(f"### {title}, {measure} (yahoo), test, mean over seeds ± standard deviation between seeds\n")
            out.append("| row | recommended recipe | paper's recipe, measured here | the paper |\n|---|---|---|---|")
            for row in ROWS:
                cells = []
                for config in (name, "paper/" + name):
                    values = [float(l[field]) for l in lines if l["config"] == config and l["row"] == row]
                    cells.append(cell(values))
                paper = PAPER[name].get(row)
                cells.append(f"{paper[index]:.3f}" if paper else "")
                out.append(f"| {row} | " + " | ".join(cells) + " |")
            out.append("")
    counts = {c: len({l['seed'] for l in lines if l['config'] == c}) for c in sorted({l['config'] for l in lines})}
    out.append("Seeds measured: " + ", ".join(f"{c} {n}" for c, n in counts.items()) + ".\n")
    with open(os.path.join(HERE, "results.md"), "w") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    if sys.argv[1] == "add":
        add(*sys.argv[2:5])
    else:
        write()
