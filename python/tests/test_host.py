"""What the process does around the package: a locale with a comma for the decimal point, and forks."""

import json
import multiprocessing
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import tunemix
from support import LEARNERS, PROGRAM, make_data, write_letor

X, y, qid = make_data()
X_new, y_new, qid_new = make_data(seed=1)

# argv: the decimal point, the folder of the data, the folder of what is written.
IN_A_LOCALE = """
import locale, os, sys
locale.setlocale(locale.LC_ALL, "")
assert locale.localeconv()["decimal_point"] == sys.argv[1]
import tunemix
from support import make_data
os.chdir(sys.argv[3])
run = tunemix.run(f"{sys.argv[2]}/config.yaml", runs="runs", overrides=["mix.c.to=20.5"])
scores = run.bundle(fold=1).predict(make_data(seed=3)[0], make_data(seed=3)[2], member_scores={"tiny": [1e-40, 0.5] * 240})
open("predicted", "w").write(repr(scores.tolist()))
"""


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True)
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """The folder of a config whose data has numbers that only a slow way of reading gets right."""
    folder = tmp_path_factory.mktemp("experiment")
    files = {}
    for seed, name in enumerate(("train", "valid", "test"), 1):
        split = make_data(seed=seed)
        write_letor(folder / name, *split)
        files[name] = str(folder / f"{name}.tiny")
        (folder / files[name]).write_text("1.5e-400\n0.25\n" * (len(split[1]) // 2))
    data = {"root": str(folder), "folds": [{name: name for name in files}]}
    learners = [{**LEARNERS[1], "shrinkage": 0.15}, {"type": "scores", "name": "tiny", "files": files}]
    (folder / "config.yaml").write_text(json.dumps({"name": "same", "data": data, "learners": learners}))
    return folder


def made(folder):
    """The files of a run, without its times."""
    results = json.loads((folder / "runs/same/results.json").read_text())
    del results["timing"]
    report = (folder / "runs/same/report.html").read_text()
    return {
        "results": results,
        "report": re.findall(r"\[[-\d.e,\s\[\]]{20,}\]", report),
        "bundle": (folder / "runs/same/bundle-fold1.tmx").read_bytes(),
    }


@pytest.mark.parametrize("by", ["package", "program"])
def test_a_comma_for_the_decimal_point_changes_nothing(by, german, experiment, tmp_path):
    outcomes = []
    for point, environment in ((".", {"LC_ALL": "C"}), (",", german)):
        folder = tmp_path / environment["LC_ALL"]
        folder.mkdir()
        if by == "package":
            command = [sys.executable, "-c", IN_A_LOCALE, point, experiment, folder]
        else:
            command = [PROGRAM, "run", experiment / "config.yaml", "--runs", folder / "runs", "mix.c.to=20.5"]
        path = os.pathsep.join((os.path.dirname(__file__), os.environ["PYTHONPATH"]))
        subprocess.run(command, env={**os.environ, **environment, "PYTHONPATH": path}, check=True)
        outcomes.append(made(folder))
        assert len(outcomes[-1]["report"]) > 3
        if by == "package":
            outcomes[-1]["predicted"] = (folder / "predicted").read_text()
    assert outcomes[0] == outcomes[1]


def forked(function, *arguments):
    """What the function gives in a forked child, which has a minute for it."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply_async(function, arguments).get(60)


def fit_and_predict():
    return tunemix.Ranker(LEARNERS, threads=2).fit(X, y, qid=qid).predict(X_new, qid_new)


def test_a_forked_child_has_threads_of_its_own():
    ranker = tunemix.Ranker(LEARNERS, threads=2).fit(X, y, qid=qid)
    scores = ranker.predict(X_new, qid_new)
    for _ in range(3):
        np.testing.assert_array_equal(forked(ranker.predict, X_new, qid_new), scores)
        np.testing.assert_array_equal(forked(fit_and_predict), scores)
        np.testing.assert_array_equal(ranker.predict(X_new, qid_new), scores)
