"""A ranker in the manner of scikit-learn."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Optional, Union

import numpy as np

from . import _arrays, _core
from ._core import InputError, RunError
from .bundle import Bundle, Path
from .experiment import Progress, ProgressCallback, config_text
from .metrics import evaluate


MOST_SEED = 2**63 - 1


def _folder_of_runs() -> tempfile.TemporaryDirectory[str]:
    """For a fit that keeps nothing."""
    try:
        return tempfile.TemporaryDirectory(prefix="tunemix-")
    except OSError as error:
        raise RunError(
            f"no temporary folder to train in: {error.strerror}; set TMPDIR to a folder that you may write to, or "
            "give runs=FOLDER"
        ) from None


class Ranker:
    """An ensemble of calibrated rankers, mixed.

    learners             list of dicts as under `learners` of docs/config.md; None: the recommended recipe for the size
                         of the data
    standardize          what learners see of the features: "none", "append", "replace", "cdf" or "context"
                         (docs/algorithms.md), or a list of those for learners on each; None: as the recipe has it, or
                         "none"
    categorical          features, by name or number from 1, whose values say which and not how much; None: the columns
                         of a frame that are pandas categories
    calibrate, mix       dicts as the sections of docs/config.md
    validation_fraction  share of the queries that validation takes where fit() is given no eval_set
    seed                 of every random choice: the same seed, data and options give the same ensemble
    threads              0: all cores; the result is the same with any number
    runs                 folder of a cache that is kept, so that a second fit goes on from what the first has made;
                         None: a temporary folder
    progress             is told a tunemix.Progress now and then

    allow_overlap        fit although validation and training share queries
    final                then train the ensemble that validation has chosen once more, on all rows (those of an eval_set
                         too), as `tunemix fit` does; validation_ stays that of the first

    After fit(): bundle_ (a tunemix.Bundle), n_features_in_, feature_names_in_ (of a pandas frame), and validation_, the
    ensemble's results on the validation data, a dict with "ndcg@10", "stderr", "err", ...: what its weights were chosen
    by, so better than what to expect of new queries.
    """

    def __init__(
        self,
        learners: Optional[Sequence[Mapping[str, Any]]] = None,
        *,
        standardize: Optional[Union[str, Sequence[str]]] = None,
        categorical: Optional[Sequence[Union[int, str]]] = None,
        calibrate: Optional[Mapping[str, Any]] = None,
        mix: Optional[Mapping[str, Any]] = None,
        validation_fraction: float = 0.2,
        seed: int = 1,
        threads: int = 0,
        runs: Optional[Path] = None,
        progress: Optional[ProgressCallback] = None,
        allow_overlap: bool = False,
        final: bool = False,
    ) -> None:
        self.learners = learners
        self.standardize = standardize
        self.categorical = categorical
        self.calibrate = calibrate
        self.mix = mix
        self.validation_fraction = validation_fraction
        self.seed = seed
        self.threads = threads
        self.runs = runs
        self.progress = progress
        self.allow_overlap = allow_overlap
        self.final = final

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_sample_weight: Any = None,
    ) -> Ranker:
        """Trains on documents with labels y (whole numbers from 0) of the queries qid.

        sample_weight: how much each document counts, as FILE.weight has it (docs/formats.md): numbers from 0 to 1e9.
        eval_set: (X, y), or a list of one such pair, with its queries in eval_qid and its weights in
        eval_sample_weight: the data by which the members' weights are chosen. Without it, a part of the queries is
        split off for that, with their weights.
        """
        if qid is None:
            raise InputError("qid is missing; expected the query of each row of X")
        _arrays.expect_whole(self.seed, "seed", 0, MOST_SEED, "a whole number from 0 to 2^63 - 1")
        words: _arrays.Words = {}
        data = _arrays.dataset(X, y, qid, self.threads, sample_weight=sample_weight, words=words)
        names = _arrays.feature_names(X)
        if eval_set is not None:
            train, valid = data, self._validation(eval_set, eval_qid, eval_sample_weight, names, words)
        elif eval_sample_weight is not None:
            raise InputError("eval_sample_weight is given without an eval_set; expected both")
        else:
            train, valid = self._split(data)
        told = None if self.progress is None else lambda *values: self.progress(Progress(*values))
        with _folder_of_runs() if self.runs is None else nullcontext(str(self.runs)) as runs:
            raw = _core.run_text(
                config_text(self._config(words)), [], [(train, valid, valid)], runs, self.threads, False, self.final, told
            )
            rows = json.loads(raw["results"])["rows"]
            self.validation_ = next(row for row in rows if row["chosen"] and row["split"] == "valid")
            made = "bundle.tmx" if self.final else "bundle-fold1.tmx"
            self.bundle_ = Bundle(_core.Bundle.load(f"{raw['directory']}/{made}"))
        self.n_features_in_ = data.features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """One score for each row of X, larger for better. Scores compare the documents of one query: give all documents
        of a query together. Without qid, all rows of X are one query."""
        return self._fitted().predict(X, qid, threads=self.threads)

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """Mean NDCG@10 over queries, under the preset `yahoo`."""
        if qid is None:
            raise InputError(
                "qid is missing: without it all rows would be one query, and the score would say nothing; give "
                "score(X, y, qid). cross_val_score and GridSearchCV do not hand it on: loop over GroupKFold's splits "
                "with groups=qid instead"
            )
        result = evaluate(y, self.predict(X, qid), qid, threads=self.threads)
        return result["ndcg@10"]  # type: ignore[return-value]

    def save(self, path: Path) -> None:
        """Writes the ensemble as a bundle, for tunemix.load() and `tunemix predict --bundle`."""
        self._fitted().save(path)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Ranker:
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"'{name}' is no parameter of Ranker; expected one of: {', '.join(known)}")
            setattr(self, name, value)
        return self

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not defaults[n].default]
        return f"Ranker({', '.join(shown)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "bundle_")

    def _fitted(self) -> Bundle:
        if not hasattr(self, "bundle_"):
            raise InputError("this Ranker is not fitted yet; call fit first")
        return self.bundle_

    def _config(self, words: _arrays.Words) -> dict[str, Any]:
        config: dict[str, Any] = {
            "name": "ranker",
            "seed": self.seed,
            "data": {"allow_overlap": self.allow_overlap},
            "evaluate": {"tools": ["yahoo"]},
        }
        config["data"]["categorical"] = _arrays.numbers_of(words) if self.categorical is None else list(self.categorical)
        if self.standardize is not None:
            config["data"]["standardize"] = self.standardize
        for name in ("learners", "calibrate", "mix"):
            if getattr(self, name) is not None:
                config[name] = getattr(self, name)
        return config

    def _split(self, data: _core.Dataset) -> tuple[_core.Dataset, _core.Dataset]:
        share = self.validation_fraction
        if not isinstance(share, (int, float, np.number)) or not 0 < share < 1:
            raise InputError(f"validation_fraction is {share!r}; expected more than 0 and less than 1")
        if data.queries < 3:
            raise InputError(f"the data has {data.queries} queries; expected at least 3, or an eval_set")
        return _core.split_validation(data, self.validation_fraction, self.seed, self.threads)

    def _validation(
        self,
        eval_set: Any,
        eval_qid: Any,
        eval_sample_weight: Any,
        names: Optional[list[str]],
        words: _arrays.Words,
    ) -> _core.Dataset:
        if isinstance(eval_set, list):
            if len(eval_set) != 1:
                raise InputError(f"eval_set has {len(eval_set)} pairs; expected one")
            eval_set = eval_set[0]
            if isinstance(eval_qid, list) and len(eval_qid) == 1:
                eval_qid = eval_qid[0]
            if isinstance(eval_sample_weight, list) and len(eval_sample_weight) == 1:
                eval_sample_weight = eval_sample_weight[0]
        if not isinstance(eval_set, tuple) or len(eval_set) != 2:
            raise InputError("eval_set: expected (X, y), or a list of one such pair")
        if eval_qid is None:
            raise InputError("eval_qid is missing; expected the query of each row of eval_set")
        _arrays.expect_columns(eval_set[0], names or [], "X", "eval X")
        return _arrays.dataset(
            eval_set[0], eval_set[1], eval_qid, self.threads, "eval ", eval_sample_weight, words
        )

