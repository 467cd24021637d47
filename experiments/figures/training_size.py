"""Tapper's thesis: test NDCG@3 and NDCG@5 over the share of the training queries (random order), beside the best feature and chance."""
from common import HERE, SETS, run, write_config, write_csv
from learning_curves import subset_folds
from svg import Chart

RANKS = [3, 5]
SHARES = [10, 20, 40, 70, 100]
ROWS = ["ALL+EXP", "LM+EXP", "RS+EXP", "BF+EXP", "RND+EXP"]
LEARNERS = [
    {"type": "lambdamart", "leaves": 8, "iterations": 100, "checkpoints": [20, 50], "shrinkage": 0.1, "bags": 2},
    {"type": "ranksvm", "bags": 2},
    {"type": "best_feature", "bags": 2},
    {"type": "random", "bags": 2},
]


def measure(name):
    folds, _ = subset_folds(name, "random")
    points = []
    for share in SHARES:
        config = write_config(f"size-{name}-{share}", folds[share], LEARNERS, labels=3, evaluate={"tools": ["yahoo"]},
                              calibrate={"rbc": {"regressors": ["linear", "poly2"]}})
        points += [{"set": name, "percent": share, "row": p["row"], "k": p["k"], "ndcg": p["ndcg"], "stderr": p["stderr"]}
                   for p in run(config)["ndcg_at"] if p["split"] == "test" and p["row"] in ROWS and p["k"] in RANKS]
    return points


def draw(name, points, path):
    chart = Chart(640, 380, f"{name}: test NDCG@3 and @5 (yahoo) by share of training queries")
    chart.legend(ROWS, 60, 48)
    values = [p["ndcg"] for p in points]
    for column, k in enumerate(RANKS):
        panel = chart.panel(60 + 290 * column, 84, 250, 236, (5, 105), (min(values), max(values)), f"NDCG@{k}", "training queries, %",
                            "NDCG@k" if column == 0 else "", xticks=[20, 40, 60, 80, 100])
        for index, row in enumerate(ROWS):
            panel.line([(p["percent"], p["ndcg"]) for p in points if p["k"] == k and p["row"] == row], index)
    chart.write(path)


def main():
    out = HERE / "learning_curves"
    lines = ["Made by `experiments/figures/run.sh training_size`.\n",
             "| set | row | measure | " + " | ".join(f"{share} %" for share in SHARES) + " |", "|---" * (3 + len(SHARES)) + "|"]
    for name in SETS:
        points = measure(name)
        write_csv(out / f"{name}-training-size.csv", points)
        draw(name, points, out / f"{name}-training-size.svg")
        value = {(p["row"], p["k"], p["percent"]): p["ndcg"] for p in points}
        for k in RANKS:
            for row in ROWS:
                cells = " | ".join(f"{value[row, k, share]:.4f}"[1:] for share in SHARES)
                lines.append(f"| {name} | {row} | NDCG@{k} | {cells} |")
    (out / "training-size.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
