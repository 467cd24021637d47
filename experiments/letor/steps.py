"""From the paper's recipe to the recommended one, boosting alone, one change after the other.

    TUNEMIX_SHARED_DATA=... python3 experiments/letor/steps.py [mq2008 ohsumed]        TUNEMIX=build/bin/tunemix; three minutes a set

Prints for each step AB+EXP's validation and test NDCG@10, first with c and T chosen as the step's recipe says, then of the uniform
mixture at the longest T, which is fitted to no validation query.
"""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import tunemix  # noqa: E402

PAPER_MIX = "parts: 1, normalize: none, families: pooled"


def learners(tree, product, growth, rest):
    return (f"  - {{type: adaboost_mh, base: tree, leaves: [8, 64], growth: {growth}, shrinkage: {tree}, {rest}}}\n"
            f"  - {{type: adaboost_mh, base: product, terms: [3, 10], shrinkage: {product}, {rest}}}\n")


PAPER_SEARCH = "iterations: 1000, bandit: exp3p, arms_per_pull: 1"
SEARCH = "iterations: 500, bandit: exp3g, arms_per_pull: 4"
STEPS = [
    ("the paper's recipe", learners(1, 1, "edge", PAPER_SEARCH), PAPER_MIX, "none"),
    ("shrinkage .1", learners(0.1, 0.1, "edge", PAPER_SEARCH), PAPER_MIX, "none"),
    ("trees by energy, with .05", learners(0.05, 0.1, "energy", PAPER_SEARCH), PAPER_MIX, "none"),
    ("exp3g with 4 features a pull, 500 rounds", learners(0.05, 0.1, "energy", SEARCH), PAPER_MIX, "none"),
    ("5 bags", learners(0.05, 0.1, "energy", SEARCH + ", bags: 5"), PAPER_MIX, "none"),
    ("standardised by query, cross-validated", learners(0.05, 0.1, "energy", SEARCH + ", bags: 5"), "parts: 10", "none"),
    ("standardised features appended", learners(0.05, 0.1, "energy", SEARCH + ", bags: 5"), "parts: 10", "append"),
]


def main():
    for name in sys.argv[1:] or ["mq2008", "ohsumed"]:
        data = Path(f"configs/{name}.yaml").read_text().split("evaluate:")[0]
        with tempfile.TemporaryDirectory() as scratch:
            config = Path(scratch) / "step.yaml"
            for step, models, mix, standardize in STEPS:
                values = []
                for choice in ("", ", choose: fixed, fixed: {c: 0}"):
                    config.write_text(f"{data}  standardize: {standardize}\nlearners:\n{models}mix: {{{mix}{choice}}}\n"
                                      "evaluate: {tools: [yahoo]}\n")
                    results = json.loads(tunemix("run", config, "name=step", "--runs", scratch, "--quiet", "--json"))
                    rows = {row["split"]: row["ndcg@10"] for row in results["rows"] if row["name"] == "AB+EXP"}
                    values.append(f"{rows['valid']:.4f} / {rows['test']:.4f}")
                print(f"{name}, {step}: chosen {values[0]}, uniform {values[1]}", flush=True)


if __name__ == "__main__":
    main()
