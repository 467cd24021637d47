"""Learning to rank by tune and mix: train many rankers, calibrate them, and mix them.

    ranker = tunemix.Ranker().fit(X, y, qid=qid)
    scores = ranker.predict(X_new, qid=qid_new)
    tunemix.evaluate(y_new, scores, qid_new)["ndcg@10"]
"""

from ._core import InputError, RunError, __version__
from .bundle import Bundle, load
from .experiment import Progress, Run, run
from .metrics import Comparison, Evaluation, compare, evaluate
from .ranker import Ranker

__all__ = [
    "Bundle",
    "Comparison",
    "Evaluation",
    "InputError",
    "Progress",
    "Ranker",
    "Run",
    "RunError",
    "__version__",
    "compare",
    "evaluate",
    "load",
    "run",
]
