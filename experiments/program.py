"""What the experiments share: running the program and other commands, and the documents of LETOR files."""
import json
import os
import subprocess
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("TUNEMIX", str(ROOT / "build/bin/tunemix"))

# A line: label and query as text, features as `NUMBER:VALUE` words, and what stands after the #.
Document = namedtuple("Document", "label query features comment")


def run(*command):
    """Its output; where it fails, what it said and the end of the script."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"failed ({done.returncode}): {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def tunemix(*arguments):
    return run(PROGRAM, *arguments)


def ndcg(data, scores):
    """NDCG@10 under the yahoo preset."""
    return json.loads(tunemix("eval", "--data", data, "--scores", scores, "--tool", "yahoo", "--json"))["tools"]["yahoo"]["ndcg"][9]


def documents(file):
    with open(file) as lines:
        for line in lines:
            body, _, comment = line.rstrip("\n").partition("#")
            label, query, *features = body.split()
            yield Document(label, query.removeprefix("qid:"), features, comment)


def line_of(document):
    words = [document.label, f"qid:{document.query}", *document.features]
    return " ".join(words) + (f" #{document.comment}" if document.comment else "") + "\n"


def queries_of(*files):
    """The documents of each query, in file order."""
    queries = {}
    for file in files:
        for document in documents(file):
            queries.setdefault(document.query, []).append(document)
    return list(queries.values())
