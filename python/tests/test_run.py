"""Experiments have the bytes of the program's; progress, Ctrl-C and the lock."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas
import pytest

import tunemix
from support import LEARNERS, make_data, make_weights, tunemix as program, write_letor, write_weights

SPLITS = {name: make_data(seed=seed) for seed, name in enumerate(("train", "valid", "test"), 1)}
CONFIG = {"name": "both", "seed": 7, "learners": LEARNERS, "mix": {"c": {"to": 40}}, "evaluate": {"tools": ["yahoo", "trec"]}}


@pytest.fixture(scope="module")
def by_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    for name, split in SPLITS.items():
        write_letor(folder / name, *split)
    data = {"root": str(folder), "folds": [{name: name for name in SPLITS}]}
    (folder / "config.yaml").write_text(json.dumps({**CONFIG, "data": data}))
    program("run", folder / "config.yaml", "--runs", folder / "runs")
    return folder


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory):
    runs = tmp_path_factory.mktemp("memory") / "runs"
    return tunemix.run(CONFIG, SPLITS, runs=runs, report=False)


def rows(results):
    return {key: value for key, value in results.items() if key != "timing"}


def bundle_of(folder):
    return (folder / "runs/both/bundle-fold1.tmx").read_bytes()


def test_a_run_of_files_has_the_programs_bytes(by_program, tmp_path):
    data = {"root": str(by_program), "folds": [{name: name for name in SPLITS}]}
    run = tunemix.run({**CONFIG, "data": data}, runs=tmp_path / "runs", threads=1)
    assert bundle_of(tmp_path) == bundle_of(by_program)
    assert rows(run.results) == rows(json.loads((by_program / "runs/both/results.json").read_text()))
    assert os.path.exists(f"{run.directory}/report.html")
    again = tunemix.run(by_program / "config.yaml", runs=tmp_path / "runs", overrides=["mix.c.to=30"])
    assert again.results["timing"]["train"]["jobs"] == 0 or again.results["timing"]["train"]["cached"] > 0


def test_data_in_memory_gives_the_programs_numbers(by_program, in_memory):
    assert rows(in_memory.results) == rows(json.loads((by_program / "runs/both/results.json").read_text()))
    program("export", by_program / "config.yaml", "--runs", by_program / "runs", "--out", by_program / "out.scores")
    exported = np.array((by_program / "out.scores").read_text().split(), dtype=np.float32)
    assert (in_memory.scores() == exported).all()
    assert not os.path.exists(f"{in_memory.directory}/report.html")


def test_bundles_score_as_the_program_does(by_program, in_memory):
    bundle = by_program / "runs/both/bundle-fold1.tmx"
    program("predict", "--bundle", bundle, "--data", by_program / "test", "--out", by_program / "new.scores")
    expected = np.array((by_program / "new.scores").read_text().split(), dtype=np.float32)
    X, _, qid = SPLITS["test"]
    assert (tunemix.load(bundle).predict(X, qid) == expected).all()
    assert (in_memory.bundle().predict(X.astype(float), qid) == expected).all()
    # A bundle of the other's data, read by the program.
    program("predict", "--bundle", in_memory.bundle_path(), "--data", by_program / "test", "--out", by_program / "back.scores")
    assert (by_program / "back.scores").read_bytes() == (by_program / "new.scores").read_bytes()


def test_the_final_model_has_the_programs_bytes(by_program, tmp_path):
    program("fit", by_program / "config.yaml", "--runs", by_program / "runs", "--out", by_program / "final.tmx")
    told = []
    run = tunemix.run(by_program / "config.yaml", runs=tmp_path, final=True, report=False, progress=told.append)
    assert open(run.final_path(), "rb").read() == (by_program / "final.tmx").read_bytes()
    assert run.final().info["trained_on"]["queries"] == 120 and told[-1].stage == "final"
    in_memory = tunemix.run(CONFIG, SPLITS, runs=tmp_path / "memory", report=False, final=True).final()
    assert in_memory.info["trained_on"] == {"files": ["data in memory"], "queries": 120, "documents": 1440}
    X, _, qid = SPLITS["test"]
    assert (in_memory.predict(X, qid) == run.final().predict(X, qid)).all()
    with pytest.raises(tunemix.InputError, match="give final=True"):
        tunemix.run(CONFIG, SPLITS, runs=tmp_path / "memory", report=False).final()


def test_splits_that_are_not_given(by_program, tmp_path):
    """As on the command line: validation out of training, results on validation."""
    for given, fold in [
        (("train", "valid"), {"train": "train", "valid": "valid"}),
        (("train", "test"), {"train": "train", "valid": {"from": "train"}, "test": "test"}),
        (("train",), {"train": "train", "valid": {"from": "train"}}),
    ]:
        config = {**CONFIG, "learners": LEARNERS[2:]}
        run = tunemix.run(config, {name: SPLITS[name] for name in given}, runs=tmp_path / "memory", report=False)
        files = {**config, "data": {"root": str(by_program), "folds": [fold]}}
        assert rows(run.results) == rows(tunemix.run(files, runs=tmp_path / "files", report=False).results), given
        assert {row["split"] for row in run.results["rows"]} >= {"test" if "test" in given else "valid"}
    with pytest.raises(tunemix.InputError, match="of which train is needed"):
        tunemix.run(CONFIG, {"valid": SPLITS["valid"]}, runs=tmp_path)
    with pytest.raises(tunemix.InputError, match="some folds have test data and others have none"):
        tunemix.run(CONFIG, [SPLITS, {"train": SPLITS["train"]}], runs=tmp_path)


def test_names_of_columns(tmp_path):
    columns = [f"feature {j}" for j in range(6)]
    frames = {name: (pandas.DataFrame(X, columns=columns), *rest) for name, (X, *rest) in SPLITS.items()}
    run = tunemix.run({**CONFIG, "learners": LEARNERS[2:]}, frames, runs=tmp_path)
    assert run.bundle().info["feature_names"] == columns
    assert columns[0] in open(f"{run.directory}/report.html").read()
    by_name = {**CONFIG, "learners": LEARNERS[2:], "data": {"features": ["feature 1", "feature 0"]}}
    by_number = {**CONFIG, "learners": LEARNERS[2:], "data": {"features": [1, 2]}}
    chosen = [tunemix.run(config, frames, runs=tmp_path, report=False).scores() for config in (by_name, by_number)]
    assert (chosen[0] == chosen[1]).all() and (chosen[0] != run.scores()).any()
    with pytest.raises(tunemix.InputError, match="'feature9' is no name in the training data; did you mean 'feature"):
        tunemix.run({**by_name, "data": {"features": "feature9"}}, frames, runs=tmp_path)
    frames["test"] = (frames["test"][0][columns[::-1]], *frames["test"][1:])
    with pytest.raises(tunemix.InputError, match="column 1 of test X is 'feature 5'; expected 'feature 0', as train X has it"):
        tunemix.run(CONFIG, frames, runs=tmp_path)


def test_weights_give_the_programs_bytes(in_memory, tmp_path):
    weighted = {name: (*split, make_weights(split[1], seed)) for seed, (name, split) in enumerate(SPLITS.items())}
    for name, (X, y, qid, weights) in weighted.items():
        write_letor(tmp_path / name, X, y, qid)
        write_weights(tmp_path / name, weights)
    data = {"root": str(tmp_path), "folds": [{name: name for name in SPLITS}]}
    (tmp_path / "config.yaml").write_text(json.dumps({**CONFIG, "data": data}))
    program("run", tmp_path / "config.yaml", "--runs", tmp_path / "runs")
    run = tunemix.run(CONFIG, weighted, runs=tmp_path / "memory", report=False)
    assert rows(run.results) == rows(json.loads((tmp_path / "runs/both/results.json").read_text()))
    assert rows(run.results) != rows(in_memory.results) and (run.scores() != in_memory.scores()).any()
    for name, bundle in (("files", tmp_path / "runs/both/bundle-fold1.tmx"), ("memory", run.bundle_path())):
        program("predict", "--bundle", bundle, "--data", tmp_path / "test", "--out", tmp_path / f"{name}.scores")
    assert (tmp_path / "files.scores").read_bytes() == (tmp_path / "memory.scores").read_bytes()


def test_rows_come_back_in_their_order(in_memory):
    X, _, qid = SPLITS["test"]
    mixed = np.random.default_rng(2).permutation(len(X))
    bundle = in_memory.bundle()
    scores = bundle.predict(X[mixed], qid[mixed])
    np.testing.assert_allclose(scores, bundle.predict(X, qid)[mixed], atol=1e-5)


def test_the_cache_serves_the_same_data(in_memory, tmp_path):
    runs = os.path.dirname(in_memory.directory)
    told = []
    again = tunemix.run(CONFIG, SPLITS, runs=runs, report=False, progress=told.append)
    assert (again.scores() == in_memory.scores()).all()
    assert not [p for p in told if p.stage in ("train", "calibrate")]
    other = {**SPLITS, "train": (SPLITS["train"][0] + 1, *SPLITS["train"][1:])}
    tunemix.run(CONFIG, other, runs=runs, report=False, progress=told.append)
    assert [p for p in told if p.stage == "train"]


def test_progress(tmp_path):
    told = []
    tunemix.run(CONFIG, SPLITS, runs=tmp_path, report=False, progress=told.append, threads=2)
    ends = {p.stage: p for p in told}
    assert list(ends) == ["data", "train", "calibrate", "mix", "evaluate"]
    assert ends["train"].done == ends["train"].jobs == 3
    assert all(0 <= p.share <= 1 and p.done <= p.jobs for p in told)


def test_what_progress_raises_ends_the_run(tmp_path):
    class Enough(Exception):
        pass

    def stop(progress):
        raise Enough(progress.stage)

    with pytest.raises(Enough, match="data"):
        tunemix.run(CONFIG, SPLITS, runs=tmp_path, progress=stop)
    # And leaves nothing locked.
    tunemix.run(CONFIG, SPLITS, runs=tmp_path, report=False)


ENDLESS = [{"type": "adaboost_mh", "leaves": 8, "iterations": 1000000}]


def test_interrupt(tmp_path):
    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        tunemix.run({**CONFIG, "learners": ENDLESS}, SPLITS, runs=tmp_path, progress=press)
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_without_progress(tmp_path):
    script = (
        "import tunemix; import test_run as t\n"
        "print('ready', flush=True)\n"
        f"tunemix.run({{**t.CONFIG, 'learners': t.ENDLESS}}, t.SPLITS, runs={str(tmp_path)!r})\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], cwd=os.path.dirname(__file__), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode == -signal.SIGINT


def test_other_threads_run_meanwhile(tmp_path):
    seen = threading.Event()

    def look():
        # The library has written its store and has not returned: the lock is free.
        while not (tmp_path / "runs" / ".store").exists():
            time.sleep(0.001)
        if not ended:
            seen.set()

    ended = []
    thread = threading.Thread(target=look)
    thread.start()
    tunemix.run(CONFIG, SPLITS, runs=tmp_path / "runs", report=False)
    ended.append(True)
    thread.join()
    assert seen.is_set()


def test_two_runs_at_once(tmp_path, in_memory):
    found = {}

    def run(name):
        found[name] = tunemix.run({**CONFIG, "name": name}, SPLITS, runs=tmp_path / name, report=False)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found["one"].scores() == in_memory.scores()).all()
    assert (found["two"].scores() == in_memory.scores()).all()


@pytest.mark.parametrize(
    "config, data, sentence",
    [
        ({**CONFIG, "learner": []}, SPLITS, "^config: learner: unknown key; did you mean 'learners'"),
        ({**CONFIG, "learners": [{"type": "svn"}]}, SPLITS, "^config: learners.0.type: is 'svn'.*did you mean 'svm'"),
        ({**CONFIG, "data": {"folds": []}}, SPLITS, "the data is given already"),
        (CONFIG, None, "data: is missing"),
        (CONFIG, {"trian": SPLITS["train"]}, "expected a dict of train, valid and test"),
        (CONFIG, {**SPLITS, "test": SPLITS["test"][:2]}, r"data\['test'\] has 2 parts; expected \(X, y, qid\)"),
        (CONFIG, {**SPLITS, "valid": (*SPLITS["valid"], [1, -1])}, r"valid sample_weight has shape \(2,\); expected 480 weights"),
        (CONFIG, {**SPLITS, "test": SPLITS["train"]}, "all 40 test queries are in the training data too"),
        (CONFIG, {**SPLITS, "valid": (SPLITS["valid"][0][:, :3], *SPLITS["valid"][1:])}, "has 3 features and the training data has 6"),
        ({**CONFIG, "seed": float("nan")}, SPLITS, "config: "),
        ({**CONFIG, "seed": object()}, SPLITS, "is no value of a config"),
        ("nowhere.yaml", None, "nowhere.yaml"),
    ],
)
def test_what_is_refused(config, data, sentence, tmp_path):
    with pytest.raises(tunemix.InputError, match=sentence):
        tunemix.run(config, data, runs=tmp_path)


def test_a_resolved_config_of_given_data_says_so(in_memory):
    said = program("run", f"{in_memory.directory}/config.resolved.yaml", check=False)
    assert said.returncode == 2 and "the data of this run was in the memory of a program" in said.stderr


def test_damaged_bundles_are_refused(in_memory, tmp_path):
    content = bytearray(open(in_memory.bundle_path(), "rb").read())
    content[len(content) // 2] ^= 1
    (tmp_path / "bad.tmx").write_bytes(content)
    with pytest.raises(tunemix.InputError, match="bad.tmx"):
        tunemix.load(tmp_path / "bad.tmx")
    with pytest.raises(tunemix.InputError, match="5 features; the ensemble 'both' was trained on 6"):
        in_memory.bundle().predict(SPLITS["test"][0][:, :5])
