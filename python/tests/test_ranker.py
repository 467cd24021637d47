"""The ranker as scikit-learn's tools use it."""

import json
import os
import pickle
import stat
import subprocess
import tempfile

import numpy as np
import pandas
import pytest
import scipy.sparse
import sklearn.base
import sklearn.model_selection

import tunemix
from support import LEARNERS, make_data, make_weights, tunemix as program, write_letor, write_weights

X, y, qid = make_data()
X_new, y_new, qid_new = make_data(seed=1)


@pytest.fixture(scope="module")
def ranker():
    return tunemix.Ranker(LEARNERS).fit(X, y, qid=qid)


def random_missing(values, seed):
    return np.where(np.random.default_rng(seed).random(values.shape) < 0.2, np.float32(np.nan), values)


def same(a, b):
    return (a.predict(X_new, qid_new) == b.predict(X_new, qid_new)).all()


def test_it_learns(ranker):
    scores = ranker.predict(X_new, qid_new)
    assert scores.dtype == np.float32 and scores.shape == (len(X_new),)
    by_chance = tunemix.evaluate(y_new, np.zeros(len(y_new)), qid_new, ties="average")["ndcg@10"]
    assert ranker.score(X_new, y_new, qid_new) > by_chance + 0.1
    assert ranker.n_features_in_ == 6


def test_the_same_seed_gives_the_same_ensemble(ranker):
    assert same(ranker, tunemix.Ranker(LEARNERS, threads=1).fit(X.astype(float), list(y), qid=list(qid)))
    assert same(ranker, tunemix.Ranker(LEARNERS).fit(scipy.sparse.csr_matrix(X), y, qid=qid))
    assert not same(ranker, tunemix.Ranker(LEARNERS, seed=2).fit(X, y, qid=qid))


def test_it_is_the_programs_ensemble(ranker, tmp_path):
    write_letor(tmp_path / "train", X, y, qid)
    write_letor(tmp_path / "new", X_new, y_new, qid_new)
    fold = {"train": "train", "valid": {"from": "train", "share": 0.2, "seed": 1}, "test": "new"}
    config = {"name": "same", "data": {"root": str(tmp_path), "folds": [fold]}, "learners": LEARNERS}
    (tmp_path / "config.yaml").write_text(json.dumps(config))

    def by_program():
        program("run", tmp_path / "config.yaml", "--runs", tmp_path / "runs")
        bundle = tmp_path / "runs/same/bundle-fold1.tmx"
        program("predict", "--bundle", bundle, "--data", tmp_path / "new", "--out", tmp_path / "scores")
        return np.array((tmp_path / "scores").read_text().split(), dtype=np.float32)

    assert (ranker.predict(X_new, qid_new) == by_program()).all()
    weights = make_weights(y)
    write_weights(tmp_path / "train", weights)
    weighted = tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, sample_weight=weights)
    assert not same(weighted, ranker)
    assert (weighted.predict(X_new, qid_new) == by_program()).all()


def test_weights(ranker):
    weights = make_weights(y)
    weighted = tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, sample_weight=weights)
    # In any container, and with rows in any order.
    assert same(weighted, tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, sample_weight=pandas.Series(weights.astype(float))))
    assert same(ranker, tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, sample_weight=np.ones(len(y), dtype=int)))
    by_turns = np.argsort(np.tile(np.arange(12), 40), kind="stable")
    mixed = tunemix.Ranker(LEARNERS).fit(X[by_turns], y[by_turns], qid=qid[by_turns], sample_weight=weights[by_turns])
    assert same(weighted, mixed)


def test_weights_of_the_eval_set():
    weights = make_weights(y_new, seed=1)
    data = dict(qid=qid, eval_set=(X_new, y_new), eval_qid=qid_new)
    plain = tunemix.Ranker(LEARNERS).fit(X, y, **data)
    weighted = tunemix.Ranker(LEARNERS).fit(X, y, **data, eval_sample_weight=weights)
    assert weighted.validation_["ndcg@10"] != plain.validation_["ndcg@10"]
    pair = dict(qid=qid, eval_set=[(X_new, y_new)], eval_qid=[qid_new], eval_sample_weight=[weights])
    assert tunemix.Ranker(LEARNERS).fit(X, y, **pair).validation_ == weighted.validation_


def test_validation(ranker):
    assert ranker.validation_["name"] == "ALL+EXP" and ranker.validation_["folds"][0]["queries"] == 8
    assert 0.5 < ranker.validation_["ndcg@10"] <= 1


def test_validation_that_was_trained_on_is_refused():
    with pytest.raises(tunemix.InputError, match="all 40 validation queries are in the training data too"):
        tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, eval_set=(X, y), eval_qid=qid)
    with pytest.warns(UserWarning, match="all 40 validation queries are in the training data too"):
        tunemix.Ranker(LEARNERS[2:], allow_overlap=True).fit(X, y, qid=qid, eval_set=(X, y), eval_qid=qid)


def test_eval_set(ranker):
    with_set = tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, eval_set=(X_new, y_new), eval_qid=qid_new)
    as_lists = tunemix.Ranker(LEARNERS).fit(X, y, qid=qid, eval_set=[(X_new, y_new)], eval_qid=[qid_new])
    assert same(with_set, as_lists) and not same(with_set, ranker)


def test_save_and_load(ranker, tmp_path):
    ranker.save(tmp_path / "bundle.tmx")
    bundle = tunemix.load(tmp_path / "bundle.tmx")
    assert same(ranker, bundle)
    assert bundle.info["features"] == 6 and bundle.info["labels"] == 3


def test_pickle(ranker):
    assert same(ranker, pickle.loads(pickle.dumps(ranker)))


def test_save_replaces_only_regular_files(ranker, tmp_path):
    ranker.save(tmp_path / "direct.tmx")
    content = (tmp_path / "direct.tmx").read_bytes()
    (tmp_path / "link").symlink_to("behind.tmx")
    ranker.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "behind.tmx").read_bytes() == content
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    ranker.save(tmp_path / "pipe")
    assert reader.communicate()[0] == content and (tmp_path / "pipe").is_fifo()
    if os.getuid() == 0:
        os.mknod(tmp_path / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        ranker.save(tmp_path / "device")
        assert (tmp_path / "device").is_char_device()


def test_without_a_temporary_folder(ranker, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert same(ranker, pickle.loads(pickle.dumps(ranker)))
    assert same(tunemix.Ranker(LEARNERS, runs=tmp_path).fit(X, y, qid=qid), ranker)
    with pytest.raises(tunemix.RunError, match="no temporary folder to train in: .*; set TMPDIR to a folder"):
        tunemix.Ranker(LEARNERS).fit(X, y, qid=qid)


def test_a_cache_that_is_kept(ranker, tmp_path):
    told = []
    cached = tunemix.Ranker(LEARNERS, runs=tmp_path, progress=told.append).fit(X, y, qid=qid)
    assert [p for p in told if p.stage == "train"] and same(cached, ranker)
    told.clear()
    assert same(cached.fit(X, y, qid=qid), ranker)
    assert not [p for p in told if p.stage == "train"]


def test_clone_and_parameters():
    ranker = tunemix.Ranker(LEARNERS, seed=3, mix={"c": {"to": 20}})
    copy = sklearn.base.clone(ranker)
    assert copy is not ranker and copy.get_params() == ranker.get_params()
    assert copy.set_params(seed=4) is copy and copy.seed == 4 and ranker.seed == 3
    assert repr(tunemix.Ranker(seed=3)) == "Ranker(seed=3)"
    with pytest.raises(tunemix.InputError, match="'sed' is no parameter of Ranker"):
        copy.set_params(sed=4)


def test_group_k_fold():
    scores = np.zeros(len(X))
    folds = sklearn.model_selection.GroupKFold(2)
    for train, test in folds.split(X, y, qid):
        part = sklearn.base.clone(tunemix.Ranker(LEARNERS)).fit(X[train], y[train], qid=qid[train])
        scores[test] = part.predict(X[test], qid[test])
    by_chance = tunemix.evaluate(y, np.zeros(len(y)), qid, ties="average")["ndcg@10"]
    assert tunemix.evaluate(y, scores, qid)["ndcg@10"] > by_chance + 0.1


def test_a_score_needs_queries(ranker):
    with pytest.raises(tunemix.InputError, match=r"qid is missing.*give score\(X, y, qid\).*GroupKFold"):
        ranker.score(X_new, y_new)
    # So that scikit-learn's searches do not choose by it: they call score(X, y).
    with pytest.raises(ValueError, match="qid is missing"):
        sklearn.model_selection.cross_val_score(
            tunemix.Ranker(LEARNERS[2:]), X, y, groups=qid, cv=sklearn.model_selection.GroupKFold(2),
            fit_params={"qid": qid}, error_score="raise",
        )


def test_what_a_bundle_says_of_itself(ranker):
    info = ranker.bundle_.info
    assert info["trained_on"] == {"files": ["data in memory"], "queries": 32, "documents": 384}
    assert info["expected"]["measure"] == "yahoo NDCG@10" and info["expected"]["on"] == "the validation data of fold 1"
    assert info["expected"]["value"] == ranker.validation_["ndcg@10"]
    assert info["expected"]["stderr"] == ranker.validation_["stderr"]


def test_final(ranker, tmp_path):
    final = tunemix.Ranker(LEARNERS, final=True).fit(X, y, qid=qid)
    assert not same(final, ranker) and final.validation_ == ranker.validation_
    info = final.bundle_.info
    assert info["fold"] == 0 and info["trained_on"] == {"files": ["data in memory"], "queries": 40, "documents": 480}
    # What the program makes of the same data.
    write_letor(tmp_path / "train", X, y, qid)
    data = {"root": str(tmp_path), "folds": [{"train": "train", "valid": {"from": "train"}}]}
    config = {"name": "same", "data": data, "learners": LEARNERS, "evaluate": {"tools": ["yahoo"]}}
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    program("fit", tmp_path / "config.yaml", "--runs", tmp_path / "runs", "--out", tmp_path / "final.tmx")
    by_program = tunemix.load(tmp_path / "final.tmx")
    assert by_program.info["trained_on"]["files"] == ["train"]
    assert same(final, by_program)


def test_frames_keep_their_names():
    frame = pandas.DataFrame(X, columns=["bm25", "title", "clicks", "age", "length", "rank"])
    fitted = tunemix.Ranker(LEARNERS[:1]).fit(frame, pandas.Series(y), qid=pandas.Series(qid))
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert (fitted.predict(frame, qid) == fitted.predict(X, qid)).all()
    assert fitted.bundle_.info["feature_names"] == list(frame.columns)
    # They go with the bundle: to other processes, and into what the program says of it.
    for known in (fitted, pickle.loads(pickle.dumps(fitted)).bundle_):
        for other, sentence in [
            (frame[frame.columns[::-1]], "column 1 of X is 'rank'; expected 'bm25', as the data that the ensemble"),
            (frame.rename(columns={"title": "Title"}), "column 2 of X is 'Title'; expected 'title'"),
            (frame.drop(columns="clicks"), "column 3 of X is 'age'; expected 'clicks'"),
            (frame.drop(columns="rank"), "X has no column 6; expected 'rank'"),
            (frame.assign(more=1.0), "X has a column 7, 'more'; the data that the ensemble was trained on has 6"),
        ]:
            with pytest.raises(tunemix.InputError, match=sentence):
                known.predict(other, qid)
    # Without words for names, columns go by their place.
    assert (fitted.predict(pandas.DataFrame(X), qid) == fitted.predict(X, qid)).all()
    assert tunemix.Ranker(LEARNERS[2:]).fit(X, y, qid=qid).bundle_.info["feature_names"] == []
    with pytest.raises(tunemix.InputError, match="X: features 1 and 2 are both called 'bm25'.*; rename its columns"):
        fitted.fit(frame.rename(columns={"title": "bm25"}), y, qid=qid)
    with pytest.raises(tunemix.InputError, match="column 1 of eval X is 'rank'; expected 'bm25', as X has it"):
        fitted.fit(frame, y, qid=qid, eval_set=(frame[frame.columns[::-1]], y), eval_qid=qid)


def test_the_program_shows_the_names_of_a_frame(tmp_path):
    frame = pandas.DataFrame(X, columns=["bm25", "title", "clicks", "age", "length", "rank"])
    quick = tunemix.Ranker(
        LEARNERS[1:2],
        calibrate={"rbc": {"regressors": ["linear"], "targets": ["raw"]}},
        mix={"normalize": "none"},
        runs=tmp_path / "runs",
    )
    # Other names for the same data find nothing of the first in the cache.
    quick.fit(frame.rename(columns={"title": "headline"}), y, qid=qid)
    assert quick.bundle_.info["feature_names"][1] == "headline"
    quick.fit(frame, y, qid=qid).save(tmp_path / "ranker.tmx")
    told = json.loads(program("inspect", tmp_path / "ranker.tmx", "--json").stdout)
    assert told["feature_names"] == list(frame.columns)
    write_letor(tmp_path / "new", X_new, y_new, qid_new)
    important = program("importance", "--bundle", tmp_path / "ranker.tmx", "--data", tmp_path / "new").stdout
    assert "headline" not in important and "title" in important
    exported = program("export-model", tmp_path / "ranker.tmx", "--format", "xgboost").stdout
    assert json.loads(exported)["learner"]["feature_names"] == list(frame.columns)


def test_pandas_categories_are_taken_as_such(tmp_path):
    random = np.random.default_rng(4)
    brands = np.array(["acme", "zeta", "omega", "ümlaut"])
    told = np.where(random.random(len(y)) < 0.6, y, random.integers(0, 4, len(y)))
    frame = pandas.DataFrame(X[:, 1:3], columns=["bm25", "length"])
    frame.insert(1, "brand", pandas.Categorical(brands[told]))
    frame.loc[::7, "brand"] = None
    fitted = tunemix.Ranker(LEARNERS).fit(frame, y, qid=qid)
    without = tunemix.Ranker(LEARNERS).fit(frame.drop(columns="brand"), y, qid=qid)
    assert fitted.validation_["ndcg@10"] > without.validation_["ndcg@10"] + 0.05
    assert fitted.bundle_.info["categorical"] == [2] and fitted.bundle_.info["features"] == 3
    scores = fitted.predict(frame, qid)
    # In another order, with more of them, as numbers of a dictionary of its own.
    other = frame.assign(brand=frame["brand"].cat.set_categories(["new", *brands[::-1]]))
    assert (fitted.predict(other, qid) == scores).all()
    new = fitted.predict(frame.assign(brand=pandas.Categorical(["never seen"] * len(frame))), qid)
    assert np.isfinite(new).all()
    # Numbers, of an array, named by the caller.
    codes = frame.assign(brand=frame["brand"].cat.codes.replace(-1, np.nan).astype(float)).to_numpy(np.float32)
    by_number = tunemix.Ranker(LEARNERS, categorical=[2]).fit(codes, y, qid=qid)
    assert (by_number.predict(codes, qid) == scores).all()
    run = tunemix.run({"learners": LEARNERS}, {"train": (frame, y, qid)}, runs=tmp_path, report=False)
    assert run.bundle().info["categorical"] == [2]
    with pytest.raises(tunemix.InputError, match="feature 2 has words for values, as 'acme', and is not categorical"):
        tunemix.Ranker(LEARNERS, categorical=[1]).fit(frame.assign(bm25=1), y, qid=qid)
    with pytest.raises(tunemix.InputError, match="feature 2 has words for values"):
        tunemix.Ranker(LEARNERS).fit(codes, y, qid=qid).predict(frame, qid)


def test_missing_values_are_learned_from(tmp_path):
    missing = random_missing(X, 1)
    fitted = tunemix.Ranker(LEARNERS).fit(missing, y, qid=qid)
    new = random_missing(X_new, 2)
    scores = fitted.predict(new, qid_new)
    assert np.isfinite(scores).all() and fitted.score(new, y_new, qid_new) > 0.5
    assert (fitted.predict(pandas.DataFrame(new), qid_new) == scores).all()
    refusing = {"learners": LEARNERS, "data": {"missing": "refuse"}}
    with pytest.raises(tunemix.InputError, match=r"of the training data \(given\) has no value of feature \d, and data.missing"):
        tunemix.run(refusing, {"train": (missing, y, qid)}, runs=tmp_path)
    fitted.save(tmp_path / "ranker.tmx")
    write_letor(tmp_path / "new", new, y_new, qid_new)
    program("predict", "--bundle", tmp_path / "ranker.tmx", "--data", tmp_path / "new", "--out", tmp_path / "scores")
    assert (np.array((tmp_path / "scores").read_text().split(), dtype=np.float32) == scores).all()


def test_one_query_without_qid(ranker):
    assert (ranker.predict(X_new[:12]) == ranker.predict(X_new[:12], qid_new[:12])).all()


def test_rows_that_are_not_adjacent(ranker):
    mixed = np.random.default_rng(4).permutation(len(X_new))
    np.testing.assert_allclose(
        ranker.predict(X_new[mixed], qid_new[mixed]), ranker.predict(X_new, qid_new)[mixed], atol=1e-5
    )


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda r: r.fit(X, y), "qid is missing"),
        (lambda r: r.predict(X), "not fitted yet"),
        (lambda r: r.fit(X[:24], y[:24], qid=qid[:24]), "has 2 queries; expected at least 3"),
        (lambda r: r.fit(X, y, qid=qid, eval_set=(X, y)), "eval_qid is missing"),
        (lambda r: r.fit(X, y, qid=qid, eval_set=X, eval_qid=qid), r"expected \(X, y\)"),
        (lambda r: r.fit(X, 0 * y, qid=qid), "label"),
        (lambda r: r.set_params(validation_fraction=1).fit(X, y, qid=qid), "validation_fraction is 1"),
        (lambda r: r.set_params(validation_fraction="x").fit(X, y, qid=qid), "validation_fraction is 'x'"),
        (lambda r: r.set_params(threads=-1).fit(X, y, qid=qid), "threads is -1"),
        (lambda r: r.set_params(threads="2").fit(X, y, qid=qid), "threads is '2'; expected 1 to 4096"),
        (lambda r: r.set_params(seed=-1).fit(X, y, qid=qid), "seed is -1; expected a whole number"),
        (lambda r: r.set_params(seed="x").fit(X, y, qid=qid), "seed is 'x'; expected a whole number"),
        (lambda r: r.set_params(learners=[{"type": "nothing"}]).fit(X, y, qid=qid), "learners.0.type"),
        (lambda r: r.fit(X, y, qid=qid, eval_set=(X[:, :2], y), eval_qid=qid), "2 features"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=y[:5]), r"sample_weight has shape \(5,\); expected 480 weights"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=y - 0.5), r"sample_weight\[\d+\] is -0.5; expected a number from 0"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=np.where(X[:, 0] > 2, np.nan, 1)), "is nan; expected a number"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=np.full(480, np.inf)), r"sample_weight\[0\] is inf"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=np.zeros(480)), "sample_weight is 0 for every row"),
        (lambda r: r.fit(X, y, qid=qid, sample_weight=y.astype(str)), "sample_weight has type <U"),
        (lambda r: r.fit(X, y, qid=qid, eval_sample_weight=y), "eval_sample_weight is given without an eval_set"),
        (
            lambda r: r.fit(X, y, qid=qid, eval_set=(X_new, y_new), eval_qid=qid_new, eval_sample_weight=[1]),
            r"eval sample_weight has shape \(1,\)",
        ),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(tunemix.InputError, match=sentence):
        call(tunemix.Ranker(LEARNERS))
