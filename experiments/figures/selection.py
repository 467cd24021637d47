"""Figure 1 of the 2012 paper: models chosen by one tool's NDCG@10 (or ERR, MAP) on validation, and their test NDCG under all tools."""
from common import HERE, SETS, official_folds, run, write_config, write_csv
from svg import Chart

BY = ["ndcg@10:yahoo", "ndcg@10:ranklib", "ndcg@10:letor4", "ndcg@5:yahoo", "err", "map"]
TOOLS = ["yahoo", "ranklib", "letor4", "trec", "sklearn"]
DRAWN = ["yahoo", "ranklib", "letor4"]
ROWS = ["AR+OneBest", "LM+OneBest", "RN+OneBest", "CA+OneBest", "ALL+EXP"]


def config(name):
    """The paper's four algorithms, each with a grid or a path to choose from. One calibration, linear: it keeps
    a ranker's order where its slope is positive, and all are here."""
    short = [10, 20, 50, 100, 200]
    learners = [{"type": "adarank", "round": short, "max": [2, 5], "bags": 2},
                {"type": "lambdamart", "leaves": [4, 8, 16], "iterations": short, "shrinkage": 0.1, "bags": 2},
                {"type": "ranknet", "epoch": short, "layer": [0, 1], "l2": [0.0001, 0.01], "bags": 2},
                {"type": "coordinate_ascent", "r": [1, 2, 3], "bags": 2}]
    return write_config(f"selection-{name}", official_folds(name), learners,
                        calibrate={"cpc": [], "rbc": {"regressors": ["linear"], "targets": ["raw"]}},
                        evaluate={"tools": TOOLS})


def measure(name):
    path = config(name)
    return [{"set": name, "by": by, "row": p["row"], "tool": p["tool"], "k": p["k"], "ndcg": p["ndcg"], "stderr": p["stderr"]}
            for by in BY for p in run(path, f"mix.metric={by}")["ndcg_at"]
            if p["split"] == "test" and p["row"] in ROWS]


def draw(name, points, path):
    shown = BY[:3]
    chart = Chart(900, 130 + 226 * len(ROWS), f"{name}: test NDCG@k by tool (columns) of models chosen by a tool's validation NDCG@10 (lines)")
    chart.legend(shown, 60, 48)
    for r, row in enumerate(ROWS):
        for t, tool in enumerate(DRAWN):
            here = [p for p in points if p["row"] == row and p["tool"] == tool and p["by"] in shown]
            values = [p["ndcg"] for p in here]
            panel = chart.panel(66 + 285 * t, 92 + 226 * r, 230, 150, (0.7, 10.3), (min(values), max(values)), f"{row}, {tool}",
                                "k" if r + 1 == len(ROWS) else "", "NDCG@k" if t == 0 else "", xticks=list(range(1, 11)))
            for index, by in enumerate(shown):
                panel.line([(p["k"], p["ndcg"]) for p in here if p["by"] == by], index)
    chart.write(path)


def table(points):
    """Test NDCG@10: a line for each row and what its models were chosen by, a column for each tool; the best choice of a row is bold."""
    value = {(p["row"], p["by"], p["tool"]): p["ndcg"] for p in points if p["k"] == 10}
    lines = ["| row | chosen by | " + " | ".join(TOOLS) + " |", "|---|---" + "|---" * len(TOOLS) + "|"]
    for row in ROWS:
        best = {tool: max(value[row, by, tool] for by in BY) for tool in TOOLS}
        for by in BY:
            cells = []
            for tool in TOOLS:
                text = f"{value[row, by, tool]:.4f}"[1:]
                cells.append(f"**{text}**" if value[row, by, tool] == best[tool] else text)
            lines.append(f"| {row} | {by} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    out = HERE / "selection"
    tables = "# Chosen by one tool, reported by all: test NDCG@10\n\nMade by `experiments/figures/run.sh selection`.\n"
    for name in SETS:
        points = measure(name)
        write_csv(out / f"{name}.csv", points)
        draw(name, points, out / f"{name}.svg")
        tables += f"\n## {name}\n\n{table(points)}"
    (out / "table.md").write_text(tables)


if __name__ == "__main__":
    main()
