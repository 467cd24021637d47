"""What the figures share: the two sets with their folds, runs of the program, and files of results."""
import csv
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True
from program import ROOT, tunemix  # noqa: E402

DATA = Path(os.environ["TUNEMIX_SHARED_DATA"])
WORK = Path(os.environ.get("FIGURES_WORK", ROOT / "runs/figures"))
SETS = ["MQ2008", "OHSUMED"]
FOLDS = 5


def fold_files(fold):
    """The official folds: three parts to train on, the next to validate, the one after to test."""
    part = [f"S{(fold + i) % 5 + 1}.txt" for i in range(5)]
    return {"train": part[:3], "valid": part[3:4], "test": part[4:]}


def official_folds(name):
    return [{split: [str(DATA / name / f) for f in files] for split, files in fold_files(fold).items()}
            for fold in range(FOLDS)]


def write_config(name, folds, learners=None, labels=0, **sections):
    """A config is YAML, and JSON is YAML. Labels 0: as many as the training data has. No learners: the recommended recipe."""
    WORK.mkdir(parents=True, exist_ok=True)
    if learners is not None:
        sections["learners"] = learners
    config = {"name": name, "data": {"folds": folds, "labels": labels}, **sections}
    path = WORK / f"{name}.yaml"
    path.write_text(json.dumps(config, indent=1) + "\n")
    return path


def run(config, *overrides):
    """Results of a run, as results.json has them; what is cached is not computed again."""
    return json.loads(tunemix("run", config, *overrides, "--runs", WORK / "runs", "--quiet", "--json"))


def report_data(config, *overrides):
    run(config, *overrides)
    return json.loads(tunemix("report", config, *overrides, "--runs", WORK / "runs", "--json"))


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: round(value, 6) if isinstance(value, float) else value
                          for key, value in row.items()} for row in rows)


def write_json(path, value):
    def short(item):
        if isinstance(item, float):
            return round(item, 6)
        if isinstance(item, dict):
            return {key: short(entry) for key, entry in item.items()}
        if isinstance(item, list):
            return [short(entry) for entry in item]
        return item
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(short(value), indent=1) + "\n")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def recipe(name):
    """One run that three figures look at: the recommended recipe, features and all."""
    path = write_config(f"recipe-{name}", official_folds(name))
    return path, f"name=recipe-{name}", "evaluate.tools=[yahoo, ranklib, trec, letor3, letor4, mslr]"
