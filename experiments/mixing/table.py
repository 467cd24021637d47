"""Collects ALL+EXP and the families' rows of runs in results.csv, and prints the table of README.md.

    python3 experiments/mixing/table.py add SET SEED RESULTS.json
    python3 experiments/mixing/table.py show
"""
import csv
import json
import sys
from pathlib import Path

CSV = Path(__file__).resolve().parent / "results.csv"
FIELDS = ["set", "seed", "row", "test_ndcg@10", "stderr"]


def read():
    return list(csv.DictReader(CSV.open(newline=""))) if CSV.exists() else []


def add(name, seed, path):
    results = json.loads(Path(path).read_text())
    lines = [l for l in read() if (l["set"], l["seed"]) != (name, seed)]
    tool = results["rows"][0]["tool"]
    for row in results["rows"]:
        if row["split"] == "test" and row["tool"] == tool:
            lines.append(dict(zip(FIELDS, [name, seed, row["name"], f"{row['ndcg@10']:.5f}", f"{row['stderr']:.5f}"])))
    with CSV.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def short(value):
    return f"{value:.4f}".lstrip("0")


def show():
    """The best single row is the one that is best by its mean over seeds on test: as hard a rival as there is."""
    lines = read()
    print("| set | seeds | ALL+EXP | best single row | ahead | the families |\n|---|---|---|---|---|---|")
    ahead = []
    for name in dict.fromkeys(l["set"] for l in lines):
        values = {}
        for l in lines:
            if l["set"] == name:
                values.setdefault(l["row"], []).append(float(l["test_ndcg@10"]))
        means = {row: sum(v) / len(v) for row, v in values.items()}
        mixture = means.pop("ALL+EXP")
        means.pop("ALL+OneBest", None)
        best = max(means, key=means.get)
        families = sorted((row for row in means if row.endswith("+EXP")), key=lambda row: -means[row])
        ahead.append(mixture - means[best])
        print(f"| {name} | {len(values[best])} | {short(mixture)} | {best} {short(means[best])} | {ahead[-1]:+.4f} | "
              + ", ".join(f"{row[:-4]} {short(means[row])}" for row in families) + " |")
    print(f"\nsmallest {min(ahead):+.4f}, mean {sum(ahead) / len(ahead):+.4f}")


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "add":
        add(*sys.argv[2:5])
    elif sys.argv[1:] == ["show"]:
        show()
    else:
        sys.exit(__doc__)
