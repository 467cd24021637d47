"""Small ranking data, and the program to compare with."""

import os
import subprocess

import numpy as np

PROGRAM = os.environ["TUNEMIX_PROGRAM"]

# Quick to train, and of every kind: several columns, one column, points along a path.
LEARNERS = [
    {"type": "adaboost_mh", "base": "tree", "leaves": 4, "iterations": 30},
    {"type": "lambdamart", "leaves": 4, "iterations": 30},
    {"type": "linear_regression"},
]


def make_data(queries=40, documents=12, features=6, seed=0):
    """X (float32), y from 0 to 2, qid: words of adjacent rows."""
    random = np.random.default_rng(seed)
    rows = queries * documents
    X = random.normal(size=(rows, features)).astype(np.float32)
    X[random.random(X.shape) < 0.3] = 0
    X[:, -1] = random.random(rows, dtype=np.float32) + 1
    hidden = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * random.normal(size=rows)
    y = np.digitize(hidden, [0.6, 1.5])
    qid = np.repeat([f"q{seed}-{q}" for q in range(queries)], documents)
    return X, y, qid


def write_letor(path, X, y, qid):
    with open(path, "w") as file:
        for row, label, query in zip(X, y, qid):
            values = " ".join(f"{j + 1}:{np.format_float_scientific(v)}" for j, v in enumerate(row))
            file.write(f"{label} qid:{query} {values}\n")


def make_weights(y, seed=0):
    """Weights of documents: of all sizes, some 0, as 32-bit floats."""
    random = np.random.default_rng(seed + 100)
    weights = random.gamma(1.0, size=len(y)).astype(np.float32) * (1 + y)
    weights[random.random(len(y)) < 0.1] = 0
    return weights.astype(np.float32)


def write_weights(path, weights):
    """FILE.weight beside the data file."""
    path = f"{path}.weight"
    with open(path, "w") as file:
        file.writelines(f"{np.format_float_scientific(weight)}\n" for weight in weights)


def tunemix(*arguments, check=True):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise AssertionError(f"tunemix {' '.join(map(str, arguments))}: {done.stderr}")
    return done
