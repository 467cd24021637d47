"""Whole experiments, as `tunemix run` runs them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _arrays, _core
from ._core import InputError
from .bundle import Bundle, Path, load


class Progress(NamedTuple):
    """How far a run is."""

    stage: str  # data, train, calibrate, mix, evaluate, report, final
    done: int  # of its jobs
    jobs: int
    share: float  # of the stage's work, from 0 to 1
    rest: str  # "about 2 min to go"; empty where nobody can say
    model: str  # what is trained just now


ProgressCallback = Callable[[Progress], Any]


class Run:
    """A finished run.

    directory   its folder, with results.md, report.html and the bundles
    results     results.json: rows, timing, ...
    folds       how many
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self.directory: str = raw["directory"]
        self.results: dict[str, Any] = json.loads(raw["results"])
        self._scores: list[dict[str, np.ndarray]] = raw["scores"]
        self._final: bool = raw["final"]

    @property
    def folds(self) -> int:
        return len(self._scores)

    def scores(self, fold: int = 1, split: str = "test") -> np.ndarray:
        """The scores of the marked row (the full mixture) on the documents of a split, in their order."""
        if split not in ("test", "valid"):
            raise InputError(f"split is '{split}'; expected test or valid")
        return self._scores[self._index(fold)][split]

    def bundle_path(self, fold: int = 1) -> str:
        return os.path.join(self.directory, f"bundle-fold{self._index(fold) + 1}.tmx")

    def bundle(self, fold: int = 1) -> Bundle:
        return load(self.bundle_path(fold))

    def final_path(self) -> str:
        """bundle.tmx: what the folds have chosen, trained on all the data. Of a run with final=True."""
        if not self._final:
            raise InputError("the run has no final model; give final=True to run()")
        return os.path.join(self.directory, "bundle.tmx")

    def final(self) -> Bundle:
        return load(self.final_path())

    def _index(self, fold: int) -> int:
        if not 1 <= fold <= self.folds:
            raise InputError(f"fold is {fold}; the experiment has folds 1 to {self.folds}")
        return fold - 1

    def __repr__(self) -> str:
        return f"<Run {self.results['name']}: {self.folds} folds, in {self.directory}>"


VALID_SHARE, VALID_SEED = 0.2, 1  # of `valid: {from: train}`

Split = Union[tuple[Any, Any, Any], tuple[Any, Any, Any, Any]]


def run(
    config: Union[Mapping[str, Any], Path],
    data: Union[Mapping[str, Split], Sequence[Mapping[str, Split]], None] = None,
    *,
    overrides: Sequence[str] = (),
    runs: Path = "runs",
    threads: int = 0,
    report: bool = True,
    final: bool = False,
    progress: Optional[ProgressCallback] = None,
) -> Run:
    """Runs an experiment; what is in the cache of `runs` is taken from it.

    config     the keys of docs/config.md as a dict, or a YAML file. A dict without `name` is called "python".
    data       in memory, in place of `data.folds`: {"train": (X, y, qid), "valid": (X, y, qid), "test": (X, y, qid)},
               or a list of these, one for each fold. With weights of the documents: (X, y, qid, sample_weight). Without
               valid, a fifth of the training queries is taken for it; without test, results are those on valid. Pandas
               categories are `data.categorical`, unless the config has that.
    overrides  "key.path=value", as on the command line
    report     whether to write report.html
    final      whether then to train on all the data what the folds have chosen, as `tunemix fit` does: Run.final()
    progress   is told a Progress now and then, by any of the working threads, one call at a time; what it raises
               ends the run, and so does Ctrl-C: KeyboardInterrupt. Everything finished so far stays in the cache.
    """
    _arrays.expect_threads(threads)
    told = None if progress is None else lambda *values: progress(Progress(*values))
    words: _arrays.Words = {}
    folds = [] if data is None else _folds(data, threads, words)
    if isinstance(config, Mapping):
        if words:
            config = {**config, "data": {"categorical": _arrays.numbers_of(words), **config.get("data", {})}}
        text = config_text({"name": "python", **config})
        raw = _core.run_text(text, list(overrides), folds, os.fspath(runs), threads, report, final, told)
    elif folds:
        raise InputError("data in memory needs a config that is a dict and names no files")
    else:
        raw = _core.run_file(os.fspath(config), list(overrides), os.fspath(runs), threads, report, final, told)
    return Run(raw)


def config_text(config: Mapping[str, Any]) -> str:
    """The config as JSON, which is YAML."""
    try:
        return json.dumps(config, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError as error:
        raise InputError(f"config: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise InputError(f"config: {value!r} is no value of a config; expected words, numbers, lists and dicts")


def _folds(data: Any, threads: int, words: _arrays.Words) -> list[Any]:
    folds = []
    several = not isinstance(data, Mapping)
    known = ("train", "valid", "test")
    for number, fold in enumerate(data if several else [data]):
        place = f"data[{number}]" if several else "data"
        if not isinstance(fold, Mapping) or "train" not in fold or not set(fold) <= set(known):
            raise InputError(f"{place}: expected a dict of train, valid and test, of which train is needed")
        splits = {}
        for name in known:
            if name not in fold:
                continue
            parts = tuple(fold[name])
            if len(parts) not in (3, 4):
                raise InputError(
                    f"{place}['{name}'] has {len(parts)} parts; expected (X, y, qid) or (X, y, qid, sample_weight)"
                )
            X, y, qid = parts[:3]
            if name == "train":
                columns = _arrays.feature_names(X) or []
            _arrays.expect_columns(X, columns, "train X", f"{name} X")
            weights = parts[3] if len(parts) == 4 else None
            splits[name] = _arrays.dataset(X, y, qid, threads, f"{name} ", weights, words)
        if "valid" not in splits:
            splits["train"], splits["valid"] = _core.split_validation(splits["train"], VALID_SHARE, VALID_SEED, threads)
        folds.append((splits["train"], splits["valid"], splits.get("test", splits["valid"])))
    if not folds:
        raise InputError("data is empty; expected a dict of train, valid and test, or a list of them")
    if any((test is valid) != (folds[0][2] is folds[0][1]) for _, valid, test in folds):
        raise InputError("data: some folds have test data and others have none; expected the same of all")
    return folds
