"""Collects the results of runs in results.csv and writes the tables of results.md.

    python3 experiments/letor/tables.py add CONFIG SEED RESULTS.json
    python3 experiments/letor/tables.py write
"""
import csv
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CSV = os.path.join(HERE, "results.csv")
FIELDS = ["config", "seed", "row", "tool", "chosen_by", "valid_ndcg@10", "test_ndcg@10", "test_stderr", "test_err", "test_err_stderr", "seconds"]
SETS = [("mq2008", "MQ2008"), ("ohsumed", "OHSUMED")]
TOOLS = ["yahoo", "ranklib", "trec", "letor3", "letor4", "mslr"]
# Rows of the tables: what the paper prints (NDCG@10 and ERR; MQ2008, OHSUMED), and the baseline that is measured here.
PRINTED = {
    "BestFeature": ((.776, .297), (.443, .534), "BF"),
    "AdaRank.ERR": ((.770, .294), (.441, .534), None),
    "AdaRank.NDCG": ((.767, .287), (.445, .519), "AR"),
    "RankBoost": ((.780, .303), (.446, .544), "RB"),
    "RankSVM": ((.781, .301), (.466, .570), "RS"),
    "RankNet": ((.729, .266), (.452, .542), "RN"),
    "Coordinate Ascent": ((.783, .306), (.448, .540), "CA"),
    "AB+EXP": ((.790, .312), (.469, .549), None),
    "AB+EXP.CPC": ((.791, .312), (.472, .573), None),
    "AB+EXP.RBC": ((.788, .313), (.464, .549), None),
    "AB+OneBest": ((.779, .294), (.446, .506), None),
    "SVM+EXP": ((.774, .299), (.475, .579), None),
    "SVM+EXP.CPC": ((.767, .295), (.418, .505), None),
    "SVM+EXP.RBC": ((.776, .300), (.474, .577), None),
    "SVM+OneBest": ((.761, .293), (.455, .554), None),
}
MORE = {"ListNet": "LN", "FRank": "FR", "linear regression": "LR", "LambdaMART": "LM"}
# The algorithms of the 2012 comparison.
SIX = {"AdaRank": "AR", "RankBoost": "RB", "RankSVM": "RS", "RankNet": "RN", "Coordinate Ascent": "CA", "LambdaMART": "LM"}


def read():
    if not os.path.exists(CSV):
        return []
    with open(CSV, newline="") as file:
        return list(csv.DictReader(file))


def add(config, seed, path):
    with open(path) as file:
        results = json.load(file)
    lines = [l for l in read() if (l["config"], l["seed"]) != (config, seed)]
    seconds = sum(t["seconds"] for t in results["timing"].values())
    headline = results["rows"][0]["tool"]
    for row in dict.fromkeys(r["name"] for r in results["rows"]):
        if config.startswith("baselines/") and (not row.endswith("+OneBest") or row.startswith("ALL")):
            continue
        chosen = [c["chosen_by"] for c in results["choices"] if c["row"] == row]
        for tool in TOOLS if config.startswith("baselines/") or row == "ALL+EXP" else [headline]:
            found = {r["split"]: r for r in results["rows"] if r["name"] == row and r["tool"] == tool}
            if not found:
                continue
            test = found["test"]
            values = [sum(chosen) / len(chosen), found["valid"]["ndcg@10"], test["ndcg@10"], test["stderr"], test["err"], test["err_stderr"]]
            lines.append(dict(zip(FIELDS, [config, seed, row, tool, *(f"{v:.5f}" for v in values), f"{seconds:.1f}"])))
    with open(CSV, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda l: (l["config"], int(l["seed"]))))


class Measured:
    """A row's value over seeds, and the standard error of its mean over queries (of one seed, on average)."""

    def __init__(self, lines, config, row, field, error, tool="yahoo"):
        mine = [l for l in lines if (l["config"], l["row"], l["tool"]) == (config, row, tool)]
        self.values = [float(l[field]) for l in mine]
        self.sigma = sum(float(l[error]) for l in mine) / len(mine) if mine else 0
        self.mean = sum(self.values) / len(self.values) if mine else None

    def text(self, bold):
        if self.mean is None:
            return ""
        mark = "**" if bold else ""
        spread = ""
        if len(self.values) > 1:
            spread = " ± {:.4f}".format(math.sqrt(sum((v - self.mean) ** 2 for v in self.values) / (len(self.values) - 1)))
        return f"{mark}{self.mean:.4f}{mark}{spread}"


def bold_column(cells):
    """The best of a column and all within one sigma (its standard error over queries) of it, as in the paper."""
    known = [c for c in cells if c.mean is not None]
    if not known:
        return [""] * len(cells)
    best = max(known, key=lambda c: c.mean)
    return [c.text(c.mean is not None and c.mean >= best.mean - best.sigma) for c in cells]


def table(lines, measure):
    field, error, index = ("test_ndcg@10", "test_stderr", 0) if measure == "NDCG@10" else ("test_err", "test_err_stderr", 1)
    rows = list(PRINTED) + list(MORE) + ["ALL+EXP", "ALL+OneBest"]
    for config, _ in SETS:  # families that only the recommended recipe has
        rows += [l["row"] for l in lines if l["config"] == config and l["row"] not in rows]
    rows = list(dict.fromkeys(rows))
    columns = []
    for s, (name, _) in enumerate(SETS):
        columns.append([f"{PRINTED[row][s][index]:.3f}" if row in PRINTED else "" for row in rows])
        for config in ("paper/" + name, name):
            cells = []
            for row in rows:
                code = PRINTED[row][2] if row in PRINTED else MORE.get(row)
                if code and config == name:
                    cells.append(Measured(lines, "baselines/" + name, code + "+OneBest", field, error))
                else:
                    cells.append(Measured(lines, config, row, field, error))
            columns.append(bold_column(cells))
    out = [f"## {measure} (yahoo), test", "",
           "| | " + " | ".join(f"{t}: printed | as in the paper, measured | here" for _, t in SETS) + " |", "|---|" + "---|" * 6]
    out += [f"| {row} | " + " | ".join(column[r] for column in columns) + " |" for r, row in enumerate(rows)]
    return out + [""]


def tool_table(lines):
    """The 2012 comparison: each algorithm under each tool."""
    out = ["## Six algorithms under every tool, NDCG@10, test", ""]
    for name, title in SETS:
        config = "baselines/" + name
        out += [f"| {title} | " + " | ".join(TOOLS) + " |", "|---|" + "---|" * len(TOOLS)]
        columns = [bold_column([Measured(lines, config, code + "+OneBest", "test_ndcg@10", "test_stderr", tool) for code in SIX.values()])
                   for tool in TOOLS]
        out += [f"| {row} | " + " | ".join(column[r] for column in columns) + " |" for r, row in enumerate(SIX)]
        orders = {}
        for tool in TOOLS:
            value = {row: Measured(lines, config, code + "+OneBest", "test_ndcg@10", "test_stderr", tool).mean for row, code in SIX.items()}
            if all(v is not None for v in value.values()):
                orders.setdefault(" > ".join(sorted(SIX, key=lambda row: -value[row])), []).append(tool)
        out += [""] + [f"- {', '.join(tools)}: {order}" for order, tools in orders.items()] + [""]
    return out


def write():
    lines = read()
    out = ["# Tables 2 and 3 of Tune & Mix, and the 2012 comparison", "",
           "Written by run.sh. Five official folds; mean over seeds ± standard deviation between seeds. Bold: the best of a column and what is within",
           "one sigma of it, the standard error of its mean over queries, as in the paper. ERR has D = 4, as the paper's tables. Printed: the paper's",
           "figures. The baselines (BestFeature to LambdaMART) stand in the column `here`: one model a fold, parameters by its validation split",
           "(baselines.yaml); AdaRank is the one for NDCG. LETOR's folds rotate, so what was chosen by means over folds has seen every test label: see README.md.",
           ""]
    out += table(lines, "NDCG@10") + table(lines, "ERR") + tool_table(lines)
    counts = {c: len({l["seed"] for l in lines if l["config"] == c}) for c in sorted({l["config"] for l in lines})}
    out.append("Seeds measured: " + ", ".join(f"{c} {n}" for c, n in counts.items()) + ".\n")
    with open(os.path.join(HERE, "results.md"), "w") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "add":
        add(*sys.argv[2:5])
    elif sys.argv[1:] == ["write"]:
        write()
    else:
        sys.exit(__doc__)
