"""Learning to rank by tune and mix: train many rankers, calibrate them, and mix them.

    ranker = tunemix.Ranker().fit(X, y, qid=qid)
    scores = ranker.predict(X_new, qid=qid_new)
    tunemix.evaluate(y_new, scores, qid_new)["ndcg@10"]
"""

import os as _os

# How long idle threads look for work before they sleep: libgomp reads it when it is loaded, if it is not yet. Its own
# default makes small loops many times slower where other programs take the cores.
_wait_is_chosen = "GOMP_SPINCOUNT" in _os.environ or "OMP_WAIT_POLICY" in _os.environ
if not _wait_is_chosen:
    _os.environ["GOMP_SPINCOUNT"] = "10000"
from . import _core as _core

if not _wait_is_chosen:
    del _os.environ["GOMP_SPINCOUNT"]
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
