"""Runs the code cells of a notebook, without Jupyter: execute.py NOTEBOOK [--write].

Prints what they print; with --write it becomes the notebook's outputs.
"""

import ast
import contextlib
import io
import json
import sys


def run_cell(source, names):
    """What the cell prints, and the value of its last line, as Jupyter shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None
    return printed.getvalue(), value


def execute(notebook):
    names = {"__name__": "__main__"}
    for number, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        text, value = run_cell("".join(cell["source"]), names)
        cell["execution_count"] = number
        cell["outputs"] = []
        if text:
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text.splitlines(True)})
        if value is not None:
            data = {"text/plain": repr(value).splitlines(True)}
            cell["outputs"].append(
                {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}
            )
        print(text, end="" if value is None else f"{value!r}\n")


if __name__ == "__main__":
    path = sys.argv[1]
    with open(path) as file:
        content = json.load(file)
    execute(content)
    if "--write" in sys.argv[2:]:
        with open(path, "w") as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")
