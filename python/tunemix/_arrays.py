"""What users give (numpy, pandas, scipy) as data sets of the library, with as few copies as it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from . import _core
from ._core import InputError

MOST_LABEL = 31
MOST_WEIGHT = 1e9
MOST_THREADS = 4096


def expect_whole(value: Any, name: str, least: int, most: int, expected: str) -> None:
    """Refuses what is no whole number from least to most."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; expected {expected}")


def expect_threads(threads: Any) -> None:
    expect_whole(threads, "threads", 0, MOST_THREADS, f"1 to {MOST_THREADS}, or 0 for all cores")


def _array(values: Any, name: str) -> np.ndarray:
    """As a numpy array, with pandas' own numbers (Int64, Float64, boolean) as floats, missing ones as NaN."""
    if np.ma.is_masked(values):
        raise InputError(f"{name} has masked values; expected a value in every place: fill them in first")
    kind = getattr(values, "dtype", None)
    if hasattr(values, "to_numpy") and not isinstance(kind, np.dtype) and getattr(kind, "kind", "O") in "iubf":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError(f"{name} has parts of different lengths; expected an array") from None


def _numbers(values: Any, name: str) -> np.ndarray:
    """The same, with objects that are numbers as floats."""
    array = _array(values, name)
    if array.dtype.kind == "O" and all(isinstance(value, (int, float, np.number)) for value in array.flat):
        return array.astype(np.float64)
    return array


def _missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither
        return True


def group_rows(qid: Any, rows: int, name: str = "qid") -> tuple[list[int], list[str], np.ndarray]:
    """The offsets and ids of the queries, in order of first appearance, and the row of each document where the
    rows of a query are not adjacent (empty where they are). Without qid all rows are one query."""
    in_order = np.empty(0, dtype=np.uint32)
    if qid is None:
        return [0, rows], ["1"], in_order
    ids = _array(qid, name)
    if ids.ndim != 1 or len(ids) != rows:
        raise InputError(f"{name} has shape {ids.shape}; expected {rows} values, one for each row of X")
    if ids.dtype.kind not in "iubfUSOMm":
        raise InputError(f"{name} has type {ids.dtype}; expected numbers or words")
    if ids.dtype.kind in "fOMm":
        missing = np.array([_missing(value) for value in ids]) if ids.dtype.kind == "O" else ids != ids
        if missing.any():
            raise InputError(f"{name}[{int(np.argmax(missing))}] is missing; expected a query for every row")
    if rows == 0:
        raise InputError("X has no rows; expected at least one")
    starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))
    numbers: dict[Any, int] = {}
    try:
        segments = [numbers.setdefault(value, len(numbers)) for value in ids[starts].tolist()]
    except TypeError:
        raise InputError(f"{name} has values that are neither numbers nor words; expected one id a row") from None
    lengths = np.diff(np.append(starts, rows))
    sizes = np.bincount(segments, weights=lengths, minlength=len(numbers)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes))).tolist()
    names = [_id_text(value, name) for value in numbers]
    if len(numbers) == len(segments):
        return offsets, names, in_order
    order = np.argsort(np.repeat(segments, lengths), kind="stable").astype(np.uint32)
    return offsets, names, order


def _id_text(value: Any, name: str) -> str:
    if isinstance(value, float) and math.isinf(value):  # several large ids may have become one
        raise InputError(f"{name} has the id {value}; expected finite numbers, or words")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
        text.encode()
    except UnicodeError:
        raise InputError(f"{name} has the id {value!r}, which is no UTF-8 text; expected numbers or words") from None
    return text


def labels_of(y: Any, rows: int, name: str = "y") -> np.ndarray:
    """Grades as whole numbers; None stands for unknown ones (0)."""
    if y is None:
        return np.zeros(rows, dtype=np.int32)
    values = _numbers(y, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != rows:
        raise InputError(f"{name} has shape {values.shape}; expected {rows} labels, one for each row of X")
    if values.dtype.kind not in "iubf":
        raise InputError(f"{name} has type {values.dtype}; expected whole numbers from 0 to {MOST_LABEL}")
    bad = ~((values >= 0) & (values <= MOST_LABEL))
    if values.dtype.kind == "f":
        bad |= values != np.floor(values)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{name}[{at}] is {values[at]}; expected a whole number from 0 to {MOST_LABEL}")
    return values.astype(np.int32)


def weights_of(weights: Any, rows: int, name: str = "sample_weight") -> np.ndarray:
    """How much each document counts, as FILE.weight says it; None: 1 each, told by no values."""
    if weights is None:
        return np.empty(0, dtype=np.float32)
    values = _numbers(weights, name)
    if values.ndim != 1 or len(values) != rows:
        raise InputError(f"{name} has shape {values.shape}; expected {rows} weights, one for each row of X")
    if values.dtype.kind not in "iubf":
        raise InputError(f"{name} has type {values.dtype}; expected numbers from 0 to 1e9")
    bad = ~((values >= 0) & (values <= MOST_WEIGHT))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{name}[{at}] is {values[at]}; expected a number from 0 to 1e9")
    values = values.astype(np.float32)
    if not values.any():
        raise InputError(f"{name} is 0 for every row; expected at least one weight above 0")
    return values


def scores_of(scores: Any, rows: int, name: str = "scores") -> np.ndarray:
    values = _numbers(scores, name)
    if values.dtype.kind not in "iubf":
        raise InputError(f"{name} are not numbers; expected {rows} of them, one for each document")
    values = values.astype(np.float64, copy=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != rows:
        raise InputError(f"{name} has shape {values.shape}; expected {rows} scores, one for each document")
    bad = ~np.isfinite(values)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{name}[{at}] is {values[at]}; expected a finite number")
    return np.ascontiguousarray(values)


def feature_names(X: Any) -> Optional[list[str]]:
    """The column names of a frame, if all are words."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "to_numpy"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def expect_columns(X: Any, expected: Sequence[Optional[str]], whose: str, name: str = "X") -> None:
    """Refuses a frame with other columns, or the same in another order; whose: whose columns are expected. None among
    them stands for any. What has no names, on either side, is taken by its place."""
    names = feature_names(X)
    if names is None or not any(expected):
        return
    for at in range(max(len(names), len(expected))):
        if at >= len(expected):
            raise InputError(f"{name} has a column {at + 1}, '{names[at]}'; {whose} has {len(expected)}: leave it out")
        if at >= len(names):
            raise InputError(f"{name} has no column {at + 1}; expected '{expected[at] or at + 1}', as {whose} has it")
        if expected[at] not in (None, names[at]):
            raise InputError(
                f"column {at + 1} of {name} is '{names[at]}'; expected '{expected[at]}', as {whose} has it: "
                "give the same columns in the same order"
            )


def row_count(X: Any, name: str = "X") -> int:
    shape = getattr(X, "shape", None)
    if shape is None:
        shape = _array(X, name).shape
    if len(shape) != 2:
        raise InputError(f"{name} has {len(shape)} dimensions; expected 2: documents x features")
    if shape[0] == 0 or shape[1] == 0:
        raise InputError(f"{name} has shape {tuple(shape)}; expected at least one document and one feature")
    return int(shape[0])


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


# Of each column of words: the number of every word.
Words = dict[int, dict[str, int]]


def numbers_of(words: Words) -> list[int]:
    """Of the columns of words, from 1."""
    return sorted(at + 1 for at in words)


def _numbered_words(X: Any, words: Words) -> Any:
    """A frame whose pandas categories are numbers, by `words`, which get those that are new."""
    numbered = X.copy(deep=False)
    for at, kind in enumerate(X.dtypes):
        if str(kind) != "category":
            continue
        known = words.setdefault(at, {})
        column = X.iloc[:, at].cat
        numbers = [known.setdefault(_id_text(word, "X"), len(known)) for word in column.categories]
        numbered.isetitem(at, np.array([*numbers, np.nan])[column.codes.to_numpy()])  # of a missing one the code is -1
    return numbered


def _frame_values(X: Any, name: str) -> np.ndarray:
    kinds = {np.dtype(kind) if isinstance(kind, np.dtype) else None for kind in X.dtypes}
    if kinds == {np.dtype(np.float32)} or kinds == {np.dtype(np.float64)}:
        return X.to_numpy()
    wrong = [str(column) for column, kind in zip(X.columns, X.dtypes) if getattr(kind, "kind", "O") not in "iubf"]
    refusal = InputError(f"{name} has columns that are not numbers: {', '.join(wrong)}")
    if any(getattr(kind, "kind", "O") not in "iubfO" for kind in X.dtypes):  # dates would become numbers
        raise refusal
    try:
        return X.to_numpy(dtype=np.float32, na_value=np.nan)
    except (TypeError, ValueError):
        raise refusal from None


def _dense_values(X: Any, name: str) -> np.ndarray:
    values = _frame_values(X, name) if hasattr(X, "columns") and hasattr(X, "dtypes") else _array(X, name)
    if values.dtype not in (np.float32, np.float64) or not values.dtype.isnative or not values.flags.aligned:
        if values.dtype.kind not in "iubfO":
            raise InputError(f"{name} has type {values.dtype}; expected numbers")
        try:
            values = values.astype(np.float64 if values.dtype.kind in "fO" else np.float32)
        except (TypeError, ValueError):
            raise InputError(f"{name} has values that are not numbers") from None
    return values


def _sparse_arrays(X: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and data of the rows: contiguous, indices of one type. Copied only where they are not."""
    rows_first = X.tocsr()
    if rows_first.dtype.kind not in "iubf":
        raise InputError(f"{name} has type {rows_first.dtype}; expected numbers")
    indices = (rows_first.indptr, rows_first.indices)
    index = np.int32 if all(part.dtype == np.int32 for part in indices) else np.int64
    value = rows_first.dtype if rows_first.dtype in (np.float32, np.float64) else np.float32
    kinds = (index, index, np.dtype(value).newbyteorder("="))
    first, column, values = (np.require(part, kind, ["C", "A"]) for part, kind in zip((*indices, rows_first.data), kinds))
    return first, column, values


def _documents(
    labels: np.ndarray,
    qid: Any,
    weights: np.ndarray,
    names: Optional[list[str]],
    words: Words,
    qid_name: str = "qid",
) -> _core.Documents:
    offsets, ids, order = group_rows(qid, len(labels), qid_name)
    if len(order):
        labels = labels[order]
        weights = weights[order] if len(weights) else weights
    texts = {at: list(known) for at, known in words.items()}
    return _core.Documents(labels, offsets, ids, order, weights, names or [], texts)


def dataset(
    X: Any,
    y: Any,
    qid: Any,
    threads: int = 0,
    prefix: str = "",
    sample_weight: Any = None,
    words: Optional[Words] = None,
) -> _core.Dataset:
    """A data set of the library. Rows of a query that are not adjacent are brought together; what is computed of
    them comes back in the order of X. prefix: what the arguments' names begin with in messages. words: shared by the
    data sets of a run."""
    expect_threads(threads)
    rows = row_count(X, prefix + "X")
    labels = labels_of(y, rows, prefix + "y")
    weights = weights_of(sample_weight, rows, prefix + "sample_weight")
    words = {} if words is None else words
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        X = _numbered_words(X, words)
    documents = _documents(labels, qid, weights, feature_names(X), words, prefix + "qid")
    if _is_sparse(X):
        return _core.sparse_dataset(*_sparse_arrays(X, prefix + "X"), int(X.shape[1]), documents, threads)
    return _core.dense_dataset(_dense_values(X, prefix + "X"), documents, threads)


def labelled(y: Any, qid: Any, names: Any = None) -> _core.Dataset:
    """Labels and queries alone."""
    labels = _array(y, "y")
    rows = len(labels) if labels.ndim else 0
    if rows == 0:
        raise InputError("y is empty; expected a label for each document")
    values = labels_of(y, rows)
    texts = [] if names is None else [str(name) for name in names]
    if texts and len(texts) != rows:
        raise InputError(f"names has {len(texts)} values; expected {rows}, one for each document")
    return _core.labelled_documents(_documents(values, qid, weights_of(None, rows), None, {}), texts)
