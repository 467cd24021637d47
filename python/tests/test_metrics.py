"""Numbers are the program's, to the last bit."""

import json

import numpy as np
import pytest

import tunemix
from support import make_data, tunemix as program, write_letor

TOOLS = tunemix._core.preset_names()
X, y, qid = make_data(queries=30, documents=7, seed=3)
random = np.random.default_rng(5)
a = X[:, 0] + 0.5 * random.normal(size=len(y))
b = np.round(X[:, 0].astype(float), 1)  # with ties


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    write_letor(folder / "data.txt", X, y, qid)
    for name, scores in (("a", a), ("b", b)):
        (folder / name).write_text("".join(f"{float(score)!r}\n" for score in scores))
    return folder


def of_program(files, *options):
    out = program("eval", "--data", files / "data.txt", "--scores", files / "b", "--json", *options).stdout
    return json.loads(out)["tools"]


def assert_same(evaluation, expected, k=10):
    for r in range(1, k + 1):
        assert evaluation[f"ndcg@{r}"] == expected["ndcg"][r - 1]
        assert evaluation[f"dcg@{r}"] == expected["dcg"][r - 1]
        assert evaluation[f"p@{r}"] == expected["precision"][r - 1]
        assert evaluation.standard_error[f"ndcg@{r}"] == expected["standard_errors"]["ndcg"][r - 1]
    for name in ("mean_ndcg", "map", "err", "mrr"):
        assert evaluation[name] == expected[name]
    assert evaluation.queries == expected["queries"]
    assert evaluation.policy == expected["policy"]
    assert len(evaluation) == 3 * k + 4


def test_all_tools(files):
    expected = of_program(files, "--tool", "all")
    found = tunemix.evaluate(y, b, qid, tool="all")
    assert list(found) == list(expected) == TOOLS
    for tool in TOOLS:
        assert_same(found[tool], expected[tool])
        assert_same(tunemix.evaluate(y, b, qid, tool=tool), expected[tool])
    assert list(tunemix.evaluate(y, b, qid, tool=["trec", "mslr"])) == ["trec", "mslr"]


def test_policies(files):
    expected = of_program(files, "--k", "3", "--gain", "linear", "--ties", "average", "--err-max", "auto")["yahoo"]
    assert_same(tunemix.evaluate(y, b, qid, k=3, gain="linear", ties="average", err_max="auto"), expected, 3)


def test_order_of_rows_does_not_matter_without_ties():
    mixed = random.permutation(len(y))
    one = tunemix.evaluate(y, a, qid)
    other = tunemix.evaluate(y[mixed], a[mixed], qid[mixed])
    assert one["ndcg@10"] == pytest.approx(other["ndcg@10"], abs=1e-12)
    values = dict(zip(one.query_ids, one.per_query["map"]))
    assert values == dict(zip(other.query_ids, other.per_query["map"]))


def test_means_are_of_the_queries():
    evaluation = tunemix.evaluate(y, a, qid)
    for name, values in evaluation.per_query.items():
        assert values.shape == (30,)
        assert evaluation[name] == pytest.approx(values.mean(), abs=1e-12)


def test_names_break_ties_of_trec():
    flat = np.zeros(3)
    best_first = tunemix.evaluate([0, 0, 1], flat, tool="trec", names=["a", "b", "c"])
    best_last = tunemix.evaluate([0, 0, 1], flat, tool="trec", names=["c", "b", "a"])
    assert best_first["mrr"] == 1 and best_last["mrr"] == pytest.approx(1 / 3)


def test_compare(files):
    for metric in ("ndcg@10", "err"):
        out = program("compare", "--data", files / "data.txt", "--a", files / "a", "--b", files / "b", "--metric", metric, "--json")
        expected = json.loads(out.stdout)["folds"][0]
        expected["standard_error"] = expected.pop("stderr")
        assert tunemix.compare(y, a, b, qid, metric=metric) == tunemix.Comparison(**expected)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: tunemix.evaluate(y, a, qid, tool="yaho"), "did you mean 'yahoo'"),
        (lambda: tunemix.evaluate(y, a[:4], qid), "expected 210 scores"),
        (lambda: tunemix.evaluate(y, np.where(a > 0, np.nan, a), qid), "expected a finite number"),
        (lambda: tunemix.evaluate(y, a, qid, k=0), "expected a whole number from 1 to 10000"),
        (lambda: tunemix.evaluate(y, a, qid, gains="linear"), "no option of a policy; expected one of: gain"),
        (lambda: tunemix.evaluate(y, a, qid, ties="often"), "ties"),
        (lambda: tunemix.evaluate(y + 2, a, qid, tool="letor4"), "label"),
        (lambda: tunemix.compare(y, a, b, qid, metric="ndcg@x"), "expected a rank from 1 to 10000"),
        (lambda: tunemix.compare(y, a, b, None), "two"),
        (lambda: tunemix.evaluate([], [], []), "y is empty"),
        (lambda: tunemix.evaluate(y, a, qid, threads="2"), "threads is '2'"),
        (lambda: tunemix.compare(y, a, b, qid, threads=1.5), "threads is 1.5"),
        (lambda: tunemix.evaluate(y, np.ma.masked_less(a, 0), qid), "scores has masked values"),
        (lambda: tunemix.evaluate(y, a.astype(complex), qid), "scores are not numbers"),
        (lambda: tunemix.evaluate(y, a.astype("M8[s]"), qid), "scores are not numbers"),
        (lambda: tunemix.evaluate(y, [[1], [1, 2]], qid), "scores has parts of different lengths"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(tunemix.InputError, match=sentence):
        call()


def test_sentences_are_the_programs(files):
    said = program("eval", "--data", files / "data.txt", "--scores", files / "a", "--tool", "yaho", check=False)
    with pytest.raises(tunemix.InputError) as caught:
        tunemix.evaluate(y, a, qid, tool="yaho")
    assert said.stderr == f"tunemix: {caught.value}\n"


def test_no_err_is_a_warning():
    with pytest.warns(UserWarning, match="err_max='auto'"):
        evaluation = tunemix.evaluate(y + 4, a, qid)
    assert np.isnan(evaluation["err"])
