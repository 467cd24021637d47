"""Evaluation under the conventions of the usual tools, and whether a difference is real."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _arrays, _core
from ._core import InputError


class Evaluation(Mapping[str, float]):
    """The means of all measures over queries: evaluation["ndcg@10"], "dcg@R", "p@R", "mean_ndcg", "map", "err", "mrr".

    tool             the preset
    policy           its choices, by name
    standard_error   of each mean, by measure
    per_query        array of a value for each query, by measure, in the order of query_ids
    """

    def __init__(self, raw: dict[str, Any], query_ids: list[str]) -> None:
        columns = raw["columns"]
        values = raw["per_query"].reshape(-1, len(columns))
        self.tool: str = raw["tool"]
        self.policy: dict[str, str] = raw["policy"]
        self.standard_error: dict[str, float] = dict(zip(columns, raw["standard_error"]))
        self.per_query: dict[str, np.ndarray] = {name: values[:, c] for c, name in enumerate(columns)}
        self.query_ids = query_ids
        self.queries: int = raw["queries"]
        self.empty_queries: int = raw["empty_queries"]
        self.short_queries: int = raw["short_queries"]
        self._mean: dict[str, float] = dict(zip(columns, raw["mean"]))

    def __getitem__(self, measure: str) -> float:
        return self._mean[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mean)

    def __len__(self) -> int:
        return len(self._mean)

    def __repr__(self) -> str:
        k = max(int(name[5:]) for name in self._mean if name.startswith("ndcg@"))
        shown = ", ".join(f"{name} {self[name]:.4f}" for name in (f"ndcg@{k}", "map", "err", "mrr"))
        return f"<Evaluation as {self.tool}: {shown}, {self.queries} queries>"


@dataclass(frozen=True)
class Comparison:
    """A paired t-test over queries."""

    queries: int
    mean_a: float
    mean_b: float
    difference: float  # a - b
    standard_error: float  # of the difference
    t: float
    p: float  # two-sided
    p_a_better: float  # one-sided: as large a difference in favour of a, if there were none
    wins: int  # queries on which a is better
    ties: int
    losses: int


def _overrides(policy: dict[str, Any]) -> dict[str, str]:
    known = _core.policy_options()
    result = {}
    for name, value in policy.items():
        option = name.replace("_", "-")
        if option not in known:
            choices = ", ".join(known).replace("-", "_")
            raise InputError(f"'{name}' is no option of a policy; expected one of: {choices}")
        if isinstance(value, (list, tuple, np.ndarray)):
            value = "[" + ", ".join(str(v) for v in value) + "]"
        result[option] = str(value)
    return result


def evaluate(
    y: Any,
    scores: Any,
    qid: Any = None,
    tool: Union[str, Sequence[str]] = "yahoo",
    *,
    k: int = 10,
    names: Any = None,
    threads: int = 0,
    **policy: Any,
) -> Union[Evaluation, dict[str, Evaluation]]:
    """How good a ranking is, as `tunemix eval` tells it.

    y, scores, qid   label, score and query of each document; without qid all documents are of one query
    tool             a preset of `tunemix eval` (yahoo, ranklib, trec, ...): an Evaluation; or "all", or several of them
                     (a list, or separated by commas): a dict of Evaluations, where "all" leaves out tools that do not
                     know a label of the data
    k                largest rank of ndcg@R, dcg@R and p@R
    names            of the documents, for tools that break ties by them
    policy           gain, discount, empty, short, ties, relevant_from, err_max: in place of the tool's own
    """
    if not isinstance(k, (int, np.integer)) or not 1 <= k <= 10000:
        raise InputError(f"k is {k}; expected a whole number from 1 to 10000")
    _arrays.expect_threads(threads)
    several = not isinstance(tool, str) or tool == "all" or "," in tool
    tools = tool if isinstance(tool, str) else ",".join(tool)
    data = _arrays.labelled(y, qid, names)
    values = _arrays.scores_of(scores, data.documents)
    found, _ = _core.evaluate(data, values, tools, int(k), _overrides(policy), threads)
    query_ids = data.query_ids
    result = {raw["tool"]: Evaluation(raw, query_ids) for raw in found}
    for name, evaluation in result.items():
        if np.isnan(evaluation["err"]):
            warnings.warn(f"{name}: no ERR, since a label does not fit err_max; try err_max='auto'", stacklevel=2)
    return result if several else result[tools]


def compare(
    y: Any,
    scores_a: Any,
    scores_b: Any,
    qid: Any,
    *,
    tool: str = "yahoo",
    metric: str = "ndcg@10",
    threads: int = 0,
    **policy: Any,
) -> Comparison:
    """Whether ranking a is better than b, as `tunemix compare` tells it: metric is ndcg@R, dcg@R, p@R, mean_ndcg, map,
    err or mrr under a tool and the policies of evaluate()."""
    _arrays.expect_threads(threads)
    data = _arrays.labelled(y, qid)
    a = _arrays.scores_of(scores_a, data.documents, "scores_a")
    b = _arrays.scores_of(scores_b, data.documents, "scores_b")
    return Comparison(**_core.compare(data, a, b, tool, metric, _overrides(policy), threads))
