"""Finished ensembles: what a run or a Ranker has made, for scoring new documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np

from . import _arrays, _core
from ._core import InputError

Path = Union[str, "os.PathLike[str]"]


class Bundle:
    """An ensemble from a file `*.tmx` of the program or of Ranker.save()."""

    def __init__(self, core: _core.Bundle) -> None:
        self._core = core

    @property
    def info(self) -> dict[str, Any]:
        """What the ensemble is: name, row, features, labels, members, feature_names (None for a feature without one; no
        list entries where none has one), categorical (numbers from 1), ...; trained_on: a dict of files, queries and documents; expected: a dict of
        measure, value, stderr and on, what to expect of it by data that it was not trained on."""
        return self._core.info()

    def predict(
        self,
        X: Any,
        qid: Any = None,
        *,
        member_scores: Optional[Mapping[str, Any]] = None,
        threads: int = 0,
    ) -> np.ndarray:
        """One score for each row of X, larger for better: the same numbers as `tunemix predict` gives.

        Scores compare the documents of one query, and members are standardised within it: give all documents of a
        query together. Without qid, all rows of X are one query. A frame whose columns are words has to have the
        features' names, in their order, where the ensemble knows them.
        member_scores: scores of these rows by rankers outside the ensemble that it mixes, by name.
        """
        info = self.info
        _arrays.expect_columns(X, info["feature_names"], "the data that the ensemble was trained on")
        data = _arrays.dataset(X, None, qid, threads)
        return self._core.predict(data, _member_scores(member_scores or {}, data.documents, info), threads)

    def save(self, path: Path) -> None:
        self._core.save(os.fspath(path))

    def __repr__(self) -> str:
        info = self.info
        return f"<Bundle {info['name']} {info['row']}: {info['members']} members, {info['features']} features>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self._core.content(),)


def _from_bytes(content: bytes) -> Bundle:
    return Bundle(_core.Bundle.parse(content))


def _member_scores(given: Mapping[str, Any], rows: int, info: dict[str, Any]) -> dict[str, np.ndarray]:
    result = {}
    for name, scores in given.items():
        if name not in info["external_scores"]:
            wanted = ", ".join(info["external_scores"]) or "none"
            raise InputError(f"member_scores: the ensemble has no member '{name}'; it asks for: {wanted}")
        try:
            values = np.asarray(scores, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError(f"member_scores: '{name}' are not numbers; expected {rows} rows of them") from None
        if values.ndim == 1:
            values = values[:, np.newaxis]
        if values.ndim != 2 or len(values) != rows or not np.isfinite(values).all():
            raise InputError(f"member_scores: '{name}' has shape {values.shape}; expected {rows} rows of finite scores")
        result[name] = values
    return result


def load(bundle: Path) -> Bundle:
    """The ensemble of a file: bundle-foldN.tmx of a run, or what Ranker.save() wrote."""
    return Bundle(_core.Bundle.load(os.fspath(bundle)))
