from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

__version__: str

class InputError(ValueError): ...
class RunError(RuntimeError): ...

class Documents:
    def __init__(
        self,
        labels: NDArray[np.int32],
        offsets: Sequence[int],
        ids: Sequence[str],
        order: NDArray[np.uint32],
        weights: NDArray[np.float32],
        feature_names: Sequence[str],
        words: Mapping[int, Sequence[str]],
    ) -> None: ...

class Dataset:
    @property
    def documents(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def queries(self) -> int: ...
    @property
    def query_ids(self) -> list[str]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def address(self) -> int: ...

class Bundle:
    @staticmethod
    def load(path: str) -> Bundle: ...
    @staticmethod
    def parse(content: bytes) -> Bundle: ...
    def content(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def predict(
        self, data: Dataset, member_scores: Mapping[str, NDArray[np.float32]], threads: int
    ) -> NDArray[np.float32]: ...

def dense_dataset(features: NDArray[Any], documents: Documents, threads: int) -> Dataset: ...
def sparse_dataset(
    indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], columns: int, documents: Documents, threads: int
) -> Dataset: ...
def labelled_documents(documents: Documents, names: Sequence[str]) -> Dataset: ...
def split_validation(data: Dataset, fraction: float, seed: int, threads: int) -> tuple[Dataset, Dataset]: ...
def preset_names() -> list[str]: ...
def policy_options() -> list[str]: ...
def evaluate(
    data: Dataset, scores: NDArray[np.float64], tools: str, k: int, overrides: Mapping[str, str], threads: int
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]: ...
def compare(
    data: Dataset,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    tool: str,
    metric: str,
    overrides: Mapping[str, str],
    threads: int,
) -> dict[str, Any]: ...
def run_text(
    text: str,
    overrides: Sequence[str],
    folds: Sequence[tuple[Dataset, Dataset, Dataset]],
    runs: str,
    threads: int,
    report: bool,
    final: bool,
    progress: Optional[Callable[..., Any]],
) -> dict[str, Any]: ...
def run_file(
    file: str,
    overrides: Sequence[str],
    runs: str,
    threads: int,
    report: bool,
    final: bool,
    progress: Optional[Callable[..., Any]],
) -> dict[str, Any]: ...
