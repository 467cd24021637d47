"""Figure 2 and those of the 2012 paper: NDCG@1..10 of mixtures and of their best members under every tool, and
where tools disagree on the order."""
from itertools import combinations

from common import HERE, SETS, recipe, run, write_csv, write_json
from svg import Chart

TOOLS = ["yahoo", "ranklib", "trec", "letor3", "letor4", "mslr"]
FAMILIES = ["ALL", "AB", "SVM", "LM", "RS", "ET"]
CURVES = [*(f"{family}+EXP" for family in FAMILIES), "ALL+OneBest"]
ROWS = [f"{family}+{kind}" for family in FAMILIES for kind in ("EXP", "OneBest")]


def measure(name):
    config, title, tools = recipe(name)
    return [{"set": name, "row": p["row"], "tool": p["tool"], "k": p["k"], "ndcg": p["ndcg"], "stderr": p["stderr"]}
            for p in run(config, title, tools)["ndcg_at"] if p["split"] == "test" and p["k"] <= 10 and p["row"] in ROWS]


def find_reversals(points):
    """Every pair of rows that some tool puts in one order and some tool in the other, at each k."""
    value = {(p["row"], p["tool"], p["k"]): p["ndcg"] for p in points}
    found = []
    for k in sorted({p["k"] for p in points}):
        for a, b in combinations(ROWS, 2):
            gaps = {tool: value[a, tool, k] - value[b, tool, k] for tool in TOOLS}
            if min(gaps.values()) < -1e-12 and max(gaps.values()) > 1e-12:
                found.append({"set": points[0]["set"], "k": k, "row_a": a, "row_b": b,
                              "a_ahead": " ".join(t for t in TOOLS if gaps[t] > 1e-12),
                              "b_ahead": " ".join(t for t in TOOLS if gaps[t] < -1e-12),
                              **{f"gap_{tool}": gaps[tool] for tool in TOOLS}})
    return found


def draw_curves(name, points, path):
    chart = Chart(900, 640, f"{name}: test NDCG@k under each tool")
    chart.legend(CURVES, 60, 48)
    for number, tool in enumerate(TOOLS):
        shown = [p for p in points if p["tool"] == tool and p["row"] in CURVES]
        values = [p["ndcg"] for p in shown]
        panel = chart.panel(66 + 285 * (number % 3), 92 + 280 * (number // 3), 230, 196, (0.7, 10.3),
                            (min(values), max(values)), tool, "k", "NDCG@k" if number % 3 == 0 else "", xticks=list(range(1, 11)))
        for index, row in enumerate(CURVES):
            panel.line([(p["k"], p["ndcg"]) for p in shown if p["row"] == row], index)
    chart.write(path)


def draw_order(name, points, path):
    """Place of each row by NDCG@10, tool by tool; crossing lines are reversals."""
    chart = Chart(900, 110 + 34 * len(ROWS), f"{name}: order of the rows by test NDCG@10, tool by tool")
    left, gap, top = 150, 115, 86
    place = {}
    for t, tool in enumerate(TOOLS):
        chart.text(left + gap * t, 56, tool, "head", "middle")
        value = {p["row"]: p["ndcg"] for p in points if p["tool"] == tool and p["k"] == 10}
        for i, row in enumerate(sorted(ROWS, key=lambda r: -value[r])):
            place[row, tool] = (left + gap * t, top + 34 * i, value[row])
    ordered = sorted(ROWS, key=lambda r: place[r, TOOLS[0]][1])
    for index, row in enumerate(ordered):
        chart.path([place[row, tool][:2] for tool in TOOLS], index)
    for index, row in enumerate(ordered):
        for tool in TOOLS:
            x, y, value = place[row, tool]
            chart.dot(x, y, index, 4)
            chart.text(x, y - 8, f"{value:.4f}"[1:], "tag muted", "middle")
        chart.text(left - 26, place[row, TOOLS[0]][1] + 4, row, "", "end")
        chart.text(left + gap * (len(TOOLS) - 1) + 26, place[row, TOOLS[-1]][1] + 4, row)
    chart.text(16, 96 + 34 * len(ROWS), "first place on top; lines that cross are reversals", "muted")
    chart.write(path)


def main():
    for name in SETS:
        points = measure(name)
        reversals = find_reversals(points)
        out = HERE / "tools"
        write_csv(out / f"{name}.csv", points)
        write_csv(out / f"{name}-reversals.csv", reversals)
        write_json(out / f"{name}.json", {"set": name, "points": points, "reversals": reversals})
        draw_curves(name, points, out / f"{name}.svg")
        draw_order(name, points, out / f"{name}-order.svg")


if __name__ == "__main__":
    main()
