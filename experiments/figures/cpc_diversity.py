"""Figure 5: how much the outputs of the six class-probability calibrations differ on the recipe's boosted trees of 8 leaves.

One model a fold, calibrated in each way: p-values of the paired t-test over the queries' test NDCG@10, combined
over the folds by Fisher's method; and Kendall's tau of the two rankings, averaged over the queries.
"""
import json

from common import DATA, FOLDS, HERE, SETS, WORK, fold_files, mean, official_folds, run, tunemix, write_config, write_csv, write_json
from svg import Chart

TARGETS = ["shift", "ls", "ewls", "el", "ell", "sndcg"]
LEARNERS = [{"type": "adaboost_mh", "leaves": 8, "iterations": 500, "checkpoints": [500], "shrinkage": 0.05, "bandit": "value",
             "standardize": "append"}]


def overrides(name, target):
    return [f"name=cpc-{name}-{target}", f"calibrate.cpc=[{target}]", "calibrate.rbc.regressors=[]",
            "mix.choose=fixed", "evaluate.tools=[yahoo]"]


def query_ranges(file):
    ranges, last = [], None
    with open(file) as lines:
        for number, line in enumerate(lines):
            query = line.split(" ", 2)[1]
            if query != last:
                ranges.append([number, number])
                last = query
            ranges[-1][1] = number + 1
    return ranges


def signs(scores, ranges):
    """For each query the order of every pair of documents: 1, 0 or -1."""
    return [[(scores[i] > scores[j]) - (scores[i] < scores[j]) for i in range(a, b) for j in range(i + 1, b)]
            for a, b in ranges if b - a > 1]


def tau_b(x, y):
    both = sum(a * b for a, b in zip(x, y))
    scale = (sum(map(abs, x)) * sum(map(abs, y))) ** 0.5
    return both / scale if scale else None


def measure(name):
    config = write_config(f"cpc-{name}", official_folds(name), LEARNERS)
    values, orders = {}, {}
    for target in TARGETS:
        rows = run(config, *overrides(name, target))["rows"]
        values[target] = next(row["ndcg@10"] for row in rows if row["name"] == "AB+EXP" and row["split"] == "test")
        orders[target] = []
        for fold in range(FOLDS):
            exported = tunemix("export", config, *overrides(name, target), "--runs", WORK / "runs", "--row", "AB+EXP", "--fold",
                               fold + 1, "--out", "-")
            scores = [float(line) for line in exported.split()]
            orders[target] += signs(scores, query_ranges(DATA / name / fold_files(fold)["test"][0]))
    pairs = []
    for i, a in enumerate(TARGETS):
        for b in TARGETS[i + 1:]:
            test = json.loads(tunemix("compare", f"cpc-{name}-{a}", f"cpc-{name}-{b}", "--runs", WORK / "runs",
                                      "--row", "AB+EXP", "--json"))
            taus = [tau for tau in map(tau_b, orders[a], orders[b]) if tau is not None]
            pairs.append({"set": name, "a": a, "b": b, "ndcg_a": values[a], "ndcg_b": values[b],
                          "p_fisher": test["fisher"]["p"], **{f"p_fold{f + 1}": fold["p"] for f, fold in enumerate(test["folds"])},
                          "kendall_tau": mean(taus)})
    return values, pairs


def draw(name, values, pairs, path):
    chart = Chart(900, 470, f"{name}: do the class-probability calibrations differ? (boosted trees, 8 leaves)")
    size, heads = 56, [("p of equal test NDCG@10 (t-test per fold, Fisher)", "p_fisher"),
                       ("Kendall's tau of the rankings", "kendall_tau")]
    for column, (head, key) in enumerate(heads):
        left, top = 80 + 440 * column, 92
        chart.text(left + 3 * size, top - 34, head, "head", "middle")
        low = min(p[key] for p in pairs)
        for i, a in enumerate(TARGETS):
            chart.text(left - 8, top + size * i + size / 2 + 4, a, "", "end")
            chart.text(left + size * i + size / 2, top - 10, a, "", "middle")
            for j, b in enumerate(TARGETS):
                if i == j:
                    continue
                value = next(p[key] for p in pairs if {p["a"], p["b"]} == {a, b})
                strength = value if key == "p_fisher" else (value - low) / (1 - low + 1e-9)
                on = chart.cell(left + size * j, top + size * i, size, size, strength)
                words = "<.001" if value < 0.0005 else f"{value:.3f}".replace("0.", ".")
                chart.text(left + size * j + size / 2, top + size * i + size / 2 + 4, words, "on" if on else "", "middle")
    words = ", ".join(f"{target} {values[target]:.4f}".replace(" 0.", " .") for target in TARGETS)
    chart.text(16, 456, f"Stronger colour: more alike. Test NDCG@10 (yahoo): {words}", "muted")
    chart.write(path)


def main():
    for name in SETS:
        values, pairs = measure(name)
        out = HERE / "cpc_diversity"
        write_csv(out / f"{name}.csv", pairs)
        write_json(out / f"{name}.json", {"set": name, "learners": LEARNERS, "ndcg@10": values, "pairs": pairs})
        draw(name, values, pairs, out / f"{name}.svg")


if __name__ == "__main__":
    main()
