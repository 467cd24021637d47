"""The ranker as scikit-learn's tools use it."""

import json
import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse
import sklearn.base
import sklearn.model_selection

import tunemix
from support import LEARNERS, make_data, tunemix as program, write_letor

X, y, qid = make_data()
X_new, y_new, qid_new = make_data(seed=1)


@pytest.fixture(scope="module")
def ranker():
    return tunemix.Ranker(LEARNERS).fit(X, y, qid=qid)


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
    program("run", tmp_path / "config.yaml", "--runs", tmp_path / "runs")
    bundle = tmp_path / "runs/same/bundle-fold1.tmx"
    program("predict", "--bundle", bundle, "--data", tmp_path / "new", "--out", tmp_path / "scores")
    expected = np.array((tmp_path / "scores").read_text().split(), dtype=np.float32)
    assert (ranker.predict(X_new, qid_new) == expected).all()


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


def test_frames_keep_their_names():
    frame = pandas.DataFrame(X, columns=["bm25", "title", "clicks", "age", "length", "rank"])
    fitted = tunemix.Ranker(LEARNERS[:1]).fit(frame, pandas.Series(y), qid=pandas.Series(qid))
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert (fitted.predict(frame, qid) == fitted.predict(X, qid)).all()
    with pytest.raises(tunemix.InputError, match="in another order, or more; expected bm25, title"):
        fitted.predict(frame[frame.columns[::-1]], qid)
    with pytest.raises(tunemix.InputError, match="it lacks title"):
        fitted.predict(frame.rename(columns={"title": "Title"}), qid)


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
        (lambda r: r.set_params(threads=-1).fit(X, y, qid=qid), "threads is -1"),
        (lambda r: r.set_params(learners=[{"type": "nothing"}]).fit(X, y, qid=qid), "learners.0.type"),
        (lambda r: r.fit(X, y, qid=qid, eval_set=(X[:, :2], y), eval_qid=qid), "2 features"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(tunemix.InputError, match=sentence):
        call(tunemix.Ranker(LEARNERS))
