"""The package as it is shipped: its example, its hints, its installation."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tunemix

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples")
PACKAGE = os.path.dirname(tunemix.__file__)


def printed_by(notebook):
    """What its cells print, by cell; digits are left out, since other versions of numpy and pandas may have others."""
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    texts = ["".join(o.get("text", []) + o.get("data", {}).get("text/plain", [])) for c in cells for o in c["outputs"]]
    return [re.sub(r"[-+\d.e ]+", " ", text) for text in texts]


def test_the_notebook_runs(tmp_path):
    stored = pathlib.Path(EXAMPLES) / "quickstart.ipynb"
    again = pathlib.Path(shutil.copy(stored, tmp_path))
    done = subprocess.run(
        [sys.executable, f"{EXAMPLES}/execute.py", again, "--write"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ranker 0." in done.stdout and (tmp_path / "ranker.tmx").exists()
    assert printed_by(stored) == printed_by(again), "write its outputs again, as CONTRIBUTING.md says"


def test_hints_name_all_of_the_module():
    with open(os.path.join(PACKAGE, "_core.pyi")) as file:
        hinted = {}
        for node in ast.parse(file.read()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                hinted[node.name] = node
            elif isinstance(node, ast.AnnAssign):
                hinted[node.target.id] = node
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))
    shipped = {name for name in dir(tunemix._core) if not name.startswith("__")} | {"__version__"}
    assert set(hinted) == shipped
    for name, node in hinted.items():
        if isinstance(node, ast.FunctionDef):
            # pybind11 writes the names of the arguments into the first line of the doc.
            said = getattr(tunemix._core, name).__doc__.split("\n")[0]
            for argument in node.args.args:
                assert f"{argument.arg}: " in said, f"{name}({argument.arg})"


def test_public_functions_have_hints():
    for name in tunemix.__all__:
        what = getattr(tunemix, name)
        if callable(what) and not isinstance(what, type):
            assert "return" in what.__annotations__, name


def test_it_is_installed(tmp_path):
    build = os.environ["TUNEMIX_BUILD"]
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path], check=True, capture_output=True)
    place = tmp_path / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/dist-packages"
    assert (place / "tunemix/py.typed").exists()
    script = "import tunemix; print(tunemix.__file__, tunemix.evaluate([1, 0], [2, 1])['mrr'])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(place)},
        cwd=tmp_path,  # which comes before PYTHONPATH
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(place / "tunemix/__init__.py"), "1.0"], done.stderr


def test_sklearn_and_pandas_are_not_needed():
    script = (
        "import sys\n"
        "for name in ('sklearn', 'pandas', 'scipy'): sys.modules[name] = None\n"
        "import tunemix; tunemix.Ranker().get_params()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert importlib.util.find_spec("tunemix._core") is not None
