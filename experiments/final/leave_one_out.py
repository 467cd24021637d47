#!/usr/bin/env python3
"""Is a final model as good as the fold models? Each split of MQ2008 in turn is left out of the config; `fit` runs
four folds over the other four splits and trains the final model on all of them; the final bundle and the four fold
bundles are judged on the split that was left out.

    experiments/final/leave_one_out.py --data $TUNEMIX_SHARED_DATA/MQ2008 [--splits 1 2]
"""
import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import ndcg, tunemix  # noqa: E402

LEARNERS = """learners:
  - {type: adaboost_mh, leaves: 8, iterations: 200, checkpoints: [50, 100], shrinkage: 0.05, bandit: value, bags: 2}
  - {type: svm, bags: 2}
  - {type: lambdamart, leaves: 8, iterations: 200, checkpoints: [50, 100], shrinkage: 0.05, bags: 2}
evaluate: {tools: [yahoo]}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--splits", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    args = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="leave-one-out-"))

    def judge(bundle, data):
        tunemix("predict", "--bundle", bundle, "--data", data, "--out", work / "scores", "--quiet")
        return ndcg(data, work / "scores")

    means = []
    print("left out  final    fold models (mean)  expected by the bundle")
    for left in args.splits:
        others = [s for s in range(1, 6) if s != left]
        folds = []
        for i in range(4):
            a, b, valid, test = (others[(i + k) % 4] for k in range(4))
            folds.append(f"    - {{train: [S{a}.txt, S{b}.txt], valid: S{valid}.txt, test: S{test}.txt}}")
        config = work / f"without{left}.yaml"
        config.write_text(f"name: without{left}\ndata:\n  root: {args.data}\n  standardize: append\n  folds:\n"
                          + "\n".join(folds) + "\n" + LEARNERS)
        info = json.loads(tunemix("fit", config, "--runs", work / "runs", "--json", "--quiet"))
        data = pathlib.Path(args.data) / f"S{left}.txt"
        folder = work / "runs" / f"without{left}"
        final = judge(folder / "bundle.tmx", data)
        single = [judge(folder / f"bundle-fold{f}.tmx", data) for f in range(1, 5)]
        means.append((final, sum(single) / 4))
        print(f"S{left}        {final:.4f}   {' '.join(f'{s:.4f}' for s in single)} ({means[-1][1]:.4f})   "
              f"{info['expected']['value']:.4f} +- {info['expected']['stderr']:.4f}", flush=True)
    n = len(means)
    print(f"mean      {sum(m[0] for m in means) / n:.4f}   {sum(m[1] for m in means) / n:.4f}")


main()
