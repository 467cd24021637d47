"""NDCG@10 of ALL+EXP against c and T: chosen on the queries that the weights come from (mix.parts=1, as in the
paper) and by cross-validation over the validation queries (mix.parts=10); beside them the test NDCG@10 at fixed c.

T is one length for all learners that have lengths, rounds of boosting or trees of a forest: each gives its longest
model up to T, or its shortest where T is below that. The figure has the lengths of AdaBoost.MH; c and T are chosen
from all."""
from common import HERE, SETS, mean, recipe, report_data, run, write_csv, write_json
from svg import Chart, label

GRID = ["mix.c.from=0", "mix.c.to=1000", "mix.c.step=25"]
CHOICES = {"in-sample": 1, "cross-validated": 10}
TEST_C = [0, 25, 50, 100, 200, 400, 1000]
LENGTHS = {50: 50, 100: 100, 200: 200, 500: 0}  # as mix.fixed.iterations has it; 0: the longest of each


def test_row(results, name="ALL+EXP"):
    return next(r for r in results["rows"] if r["name"] == name and r["split"] == "test" and r["tool"] == "yahoo")


def measure(name):
    config, title, _ = recipe(name)
    points, chosen = [], {}
    for choice, parts in CHOICES.items():
        data = report_data(config, f"{title}-{choice}", "evaluate.tools=[yahoo]", f"mix.parts={parts}", *GRID)
        chosen[choice] = {
            "c_and_T_by_fold": [[p["c"], p["iterations"]] for p in data["choices"] if p["row"] == "ALL+EXP"],
            "chosen_by": mean(p["chosen_by"] for p in data["choices"] if p["row"] == "ALL+EXP"),
            "test": test_row(data)["ndcg@10"], "test_stderr": test_row(data)["stderr"]}
        chosen["one best member"] = {
            "chosen_by": mean(p["quality"] for p in data["choices"] if p["row"] == "ALL+OneBest"),
            "test": test_row(data, "ALL+OneBest")["ndcg@10"], "test_stderr": test_row(data, "ALL+OneBest")["stderr"]}
        for c, length in sorted({(p["c"], p["iterations"]) for p in data["surface"] if p["iterations"] in LENGTHS}):
            values = [p["quality"] for p in data["surface"] if (p["c"], p["iterations"]) == (c, length)]
            points.append({"set": name, "value": choice, "c": c, "T": length, "ndcg@10": mean(values)})
    for length, fixed_length in LENGTHS.items():
        for c in TEST_C:
            fixed = ["mix.choose=fixed", f"mix.fixed.c={c}", f"mix.fixed.iterations={fixed_length}"]
            row = test_row(run(config, f"{title}-fixed", "evaluate.tools=[yahoo]", *fixed))
            points.append({"set": name, "value": "test", "c": float(c), "T": length, "ndcg@10": row["ndcg@10"]})
    return points, chosen


def over_lengths(points, value):
    """The mean over T for each c."""
    mine = [p for p in points if p["value"] == value]
    return [(c, mean(p["ndcg@10"] for p in mine if p["c"] == c)) for c in sorted({p["c"] for p in mine})]


def draw(name, points, path):
    lengths = list(LENGTHS)
    grid_c = sorted({p["c"] for p in points if p["value"] == "in-sample"})
    chart = Chart(900, 660, f"{name}: NDCG@10 of ALL+EXP against c and T, mean over folds")
    kinds = [kind for kind in [*CHOICES, "test"] if any(p["value"] == kind for p in points)]
    chart.legend(kinds, 60, 48)
    lines = [over_lengths(points, kind) for kind in kinds]
    values = [value for line in lines for _, value in line]
    panel = chart.panel(70, 84, 790, 230, (-10, 1010), (min(values), max(values)), "mean over T", "c", "NDCG@10",
                        xticks=[0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000])
    for index, line in enumerate(lines):
        panel.line(line, index)
    surfaces = [p for p in points if p["value"] in CHOICES]
    for column, kind in enumerate(CHOICES):
        left, top, width, height = 70 + 420 * column, 402, 370, 190
        mine = [p["ndcg@10"] for p in surfaces if p["value"] == kind]
        low, high = min(mine), max(mine)
        chart.text(left + width / 2, top - 10, f"{kind}: {label(round(low, 4))} (faint) to {label(round(high, 4))}", "head", "middle")
        w, h = width / len(grid_c), height / len(lengths)
        for p in surfaces:
            if p["value"] == kind:
                chart.cell(left + w * grid_c.index(p["c"]), top + height - h * (lengths.index(p["T"]) + 1), w, h,
                           (p["ndcg@10"] - low) / (high - low))
        for i, length in enumerate(lengths):
            chart.text(left - 6, top + height - h * (i + 0.5) + 4, str(length), "small muted", "end")
        for c in range(0, 1001, 250):
            chart.text(left + w * (grid_c.index(c) + 0.5), top + height + 17, str(c), "small muted", "middle")
        chart.text(left + width / 2, top + height + 36, "c", "", "middle")
        chart.text(left - 44, top + height / 2, "T, rounds or trees" if column == 0 else "", "", "middle", -90)
    chart.write(path)


def main():
    for name in SETS:
        points, chosen = measure(name)
        out = HERE / "surface"
        write_csv(out / f"{name}.csv", points)
        means = {kind: {f"{c:g}": value for c, value in over_lengths(points, kind) if c in TEST_C} for kind in [*CHOICES, "test"]}
        write_json(out / f"{name}.json", {"set": name, "chosen": chosen, "mean_over_T": means, "points": points})
        draw(name, points, out / f"{name}.svg")


if __name__ == "__main__":
    main()
