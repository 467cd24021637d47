"""The same data in any container is the same data set, and is copied only where it has to be."""

import numpy as np
import pandas
import pytest
import scipy.sparse

import tunemix
from support import make_data
from tunemix import _arrays

X, y, qid = make_data()
PRINT = _arrays.dataset(X, y, qid).fingerprint


def frame(kind=np.float32):
    return pandas.DataFrame(X.astype(kind), columns=[f"f{j}" for j in range(X.shape[1])])


def with_gaps():
    wide = np.full((len(X), 2 * X.shape[1]), np.nan, dtype=np.float32)
    wide[:, ::2] = X
    return wide[:, ::2]


@pytest.mark.parametrize(
    "same",
    [
        X.astype(np.float64),
        np.asfortranarray(X),
        np.asfortranarray(X.astype(np.float64)),
        with_gaps(),
        X[::-1][::-1],
        X[::-1].copy()[::-1],
        X.astype(">f4"),
        X.tolist(),
        frame(),
        frame(np.float64),
        frame().astype({"f0": np.float64}),
        scipy.sparse.csr_matrix(X),
        scipy.sparse.csr_matrix(X.astype(np.float64)),
        scipy.sparse.csc_matrix(X),
        scipy.sparse.coo_matrix(X),
        scipy.sparse.csr_array(X),
    ],
)
def test_containers(same):
    assert _arrays.dataset(same, y, qid).fingerprint == PRINT


def test_wide_indices():
    matrix = scipy.sparse.csr_matrix(X)
    matrix.indptr = matrix.indptr.astype(np.int64)
    matrix.indices = matrix.indices.astype(np.int64)
    assert _arrays.dataset(matrix, y, qid).fingerprint == PRINT


def test_sparse_arrays_of_any_layout():
    matrix = scipy.sparse.csr_matrix(X)

    def with_parts(**parts):
        other = scipy.sparse.csr_matrix(X)
        for name, values in parts.items():
            setattr(other, name, values)
        return other

    def strided(values):
        wide = np.full(3 * len(values), 1, dtype=values.dtype)
        wide[::3] = values
        return wide[::3]

    def unaligned(values):
        raw = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:].view(values.dtype)
        raw[:] = values
        return raw

    cases = [
        dict(data=strided(matrix.data)),
        dict(indices=strided(matrix.indices)),
        dict(indptr=strided(matrix.indptr)),
        dict(data=matrix.data[::-1].copy()[::-1], indices=matrix.indices[::-1].copy()[::-1]),
        dict(indptr=matrix.indptr.astype(np.int64)),
        dict(indices=matrix.indices.astype(np.int64)),
        dict(indptr=matrix.indptr.astype(np.int64), indices=strided(matrix.indices)),
        dict(data=matrix.data.astype(">f4")),
        dict(data=unaligned(matrix.data)),
    ]
    for parts in cases:
        assert _arrays.dataset(with_parts(**parts), y, qid).fingerprint == PRINT, parts.keys()
    # And nothing is copied where nothing has to be.
    for part, taken in zip((matrix.indptr, matrix.indices, matrix.data), _arrays._sparse_arrays(matrix, "X")):
        assert np.shares_memory(part, taken)


def test_numbers_of_pandas():
    for labels in (pandas.Series(y, dtype="Int64"), pandas.Series(y, dtype="Float64"), y.astype(object), list(y)):
        assert _arrays.dataset(X, labels, qid).fingerprint == PRINT
    assert _arrays.dataset(frame().astype("Float32"), y, qid).fingerprint == PRINT
    assert _arrays.dataset(np.ma.masked_array(X), y, qid).fingerprint == PRINT  # with nothing masked


def test_whole_numbers_and_labels():
    whole = (10 * X).astype(np.int64)
    expected = _arrays.dataset(whole.astype(np.float32), y, qid).fingerprint
    assert _arrays.dataset(whole, y.astype(float), qid).fingerprint == expected
    assert _arrays.dataset(pandas.DataFrame(whole), pandas.Series(y), pandas.Series(qid)).fingerprint == expected
    assert _arrays.dataset(whole, y, qid.astype(object)).fingerprint == expected


def test_rows_of_floats_are_not_copied():
    data = _arrays.dataset(X, y, qid)
    assert data.address == X.ctypes.data
    assert _arrays.dataset(X[12:], y[12:], qid[12:]).address == X[12:].ctypes.data
    assert _arrays.dataset(np.asfortranarray(X), y, qid).address != X.ctypes.data


def test_minus_zero_is_zero():
    minus = np.where(X == 0, np.float32(-0.0), X)
    assert np.signbit(minus).sum() > np.signbit(X).sum()
    assert _arrays.dataset(minus, y, qid).fingerprint == PRINT
    assert _arrays.dataset(minus.astype(float), y, qid).fingerprint == PRINT


def test_missing_values_are_the_same_in_any_container():
    missing = np.random.default_rng(2).random(X.shape) < 0.2
    some = np.where(missing, np.float32(np.nan), X)
    expected = _arrays.dataset(some, y, qid).fingerprint
    assert expected != PRINT
    other_bits = some.copy()
    other_bits.view(np.uint32)[missing] = 0xFFC01234
    objects = some.astype(object)
    objects[missing] = None
    masked = pandas.DataFrame({f"f{j}": pandas.array(X[:, j].astype(float), dtype="Float64") for j in range(X.shape[1])})
    for same in (
        some.astype(np.float64),
        np.asfortranarray(some),
        -(-some),
        other_bits,
        np.asfortranarray(other_bits),
        objects,
        pandas.DataFrame(some),
        masked.mask(missing),
        scipy.sparse.csr_matrix(some),
        scipy.sparse.csr_matrix(other_bits.astype(np.float64)),
    ):
        assert _arrays.dataset(same, y, qid).fingerprint == expected


def test_borrowed_rows_stay_alive():
    rows = X.copy()
    data = _arrays.dataset(rows, y, qid)
    del rows
    train, valid = tunemix._core.split_validation(data, 0.5, 1, 2)
    del data
    assert train.documents + valid.documents == len(X)


def test_rows_that_are_not_adjacent_are_grouped():
    mixed = np.random.default_rng(1).permutation(len(X))
    back = np.argsort(mixed, kind="stable")
    for container in (X, X.astype(np.float64), scipy.sparse.csr_matrix(X)):
        data = _arrays.dataset(container[mixed], y[mixed], qid[mixed])
        # By hand: queries in the order of their first row, rows in theirs.
        first = {query: row for row, query in reversed(list(enumerate(qid[mixed])))}
        order = sorted(range(len(X)), key=lambda row: (first[qid[mixed][row]], row))
        assert data.fingerprint == _arrays.dataset(X[mixed][order], y[mixed][order], qid[mixed][order]).fingerprint
    assert (X[mixed][back] == X).all()


@pytest.mark.parametrize("ids", [np.repeat(np.arange(40), 12), np.repeat(np.arange(40.0), 12)])
def test_ids_are_written_as_in_files(ids):
    assert _arrays.dataset(X, y, ids).query_ids == [str(q) for q in range(40)]


def changed(array, place, value):
    result = np.array(array, copy=True)
    result[place] = value
    return result


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ((changed(X, (3, 2), -np.inf), y, qid), r"X\[3, 2\] is -inf; expected a finite number, or NaN for a missing one"),
        ((changed(X.astype(float), (5, 1), 1e39), y, qid), r"X\[5, 1\] is 1e\+39, which overflows"),
        ((np.asfortranarray(changed(X, (400, 2), np.inf)), y, qid), r"X\[400, 2\] is inf"),
        ((scipy.sparse.csr_matrix(changed(X, (3, 2), np.inf)), y, qid), r"X\[3, 2\] is inf"),
        ((frame().assign(f1="word"), y, qid), "X has columns that are not numbers: f1"),
        ((X[0], y, qid), "X has 1 dimensions; expected 2"),
        ((X[:0], y[:0], qid[:0]), "expected at least one document"),
        ((np.array([["a"]]), [0], ["q"]), "X has type <U1; expected numbers"),
        ((X, y[:5], qid), r"y has shape \(5,\); expected 480 labels"),
        ((X, y - 1, qid), r"y\[\d+\] is -1; expected a whole number from 0 to 31"),
        ((X, y + 0.5, qid), r"y\[0\] is \d\.5; expected a whole number"),
        ((X, changed(y.astype(float), 7, np.nan), qid), r"y\[7\] is nan"),
        ((X, y.astype(str), qid), "y has type <U"),
        ((X, y, qid[:5]), r"qid has shape \(5,\); expected 480 values"),
        ((X, y, changed(np.zeros(len(X)), 9, np.nan)), r"qid\[9\] is missing"),
        ((X, y, changed(np.zeros(len(X)), 9, np.inf)), "qid has the id inf; expected finite numbers, or words"),
        ((X, y, changed(qid.astype(object), 9, -np.inf)), "qid has the id -inf"),
        ((X, y, changed(qid.astype(object), 9, None)), r"qid\[9\] is missing"),
        ((X, y, changed(qid.astype(object), 9, pandas.NA)), r"qid\[9\] is missing"),
        ((X, y, pandas.Series([1] * 9 + [None] + [2] * 470, dtype="Int64")), r"qid\[9\] is missing"),
        ((X, y, np.array(["2020-01-01"] * 9 + ["NaT"] + ["2020-01-02"] * 470, dtype="M8[D]")), r"qid\[9\] is missing"),
        ((X, y, changed(qid.astype(object), 9, b"\xff")), r"qid has the id b'\\xff', which is no UTF-8 text"),
        ((X, y, changed(qid.astype(object), 9, {})), "qid has values that are neither numbers nor words"),
        ((X, y, [[1], [1, 2]]), "qid has parts of different lengths"),
        ((X, changed(pandas.Series(y, dtype="Int64"), 7, np.nan), qid), r"y\[7\] is nan"),
        ((X, pandas.Series(y, dtype="Int64").mask(np.arange(480) == 7), qid), r"y\[7\] is nan"),
        ((X, y.astype("M8[s]"), qid), "y has type datetime64"),
        ((X, y.astype(complex), qid), "y has type complex128"),
        ((X, np.ma.masked_equal(y, 1), qid), "y has masked values"),
        ((X, [[0], [1, 2]], qid), "y has parts of different lengths"),
        ((np.ma.masked_less(X, 0), y, qid), "X has masked values"),
        (([[1.0], [1.0, 2.0]], [0, 1], [1, 1]), "X has parts of different lengths"),
        ((X.astype(complex), y, qid), "X has type complex128"),
        ((X.astype("M8[s]"), y, qid), "X has type datetime64"),
        ((frame().assign(f1=np.datetime64("2020-01-01")), y, qid), "X has columns that are not numbers: f1"),
        ((frame().assign(f1=1j), y, qid), "X has columns that are not numbers: f1"),
        ((scipy.sparse.csr_matrix(X.astype(complex)), y, qid), "X has type complex128"),
    ],
)
def test_what_is_refused(arguments, sentence):
    with pytest.raises(tunemix.InputError, match=sentence) as caught:
        _arrays.dataset(*arguments)
    assert isinstance(caught.value, ValueError)
