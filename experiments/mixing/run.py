#!/usr/bin/env python3
"""The recommended recipe with each change alone and all together, beside its best part and bagged LightGBM.

    experiments/mixing/run.py [SET ...] [--seeds 1 2 3 4 5] [--only RUN ...]      runs what is not done, and prints the table
    experiments/mixing/run.py --table                                         prints the table of what is done

SET: mq2008 ohsumed mslr-sample sparse300 (where TUNEMIX_SHARED_DATA names their folder), and mslr10k-SIZE, web2-SIZE with SIZE
10k, 40k, 150k or 700k training documents; default: all. TUNEMIX=build/bin/tunemix, WORK=runs/mixing, LIGHTGBM: that program, if there
is one. Needs numpy. Every run of a set with a seed, and every fold of LightGBM, is kept in WORK when it is
done; another version of the program needs another WORK.
"""
import argparse
import csv
import json
import os
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import run, tunemix  # noqa: E402

HERE = Path(__file__).resolve().parent
LIGHTGBM = os.environ.get("LIGHTGBM")
SHARED = os.environ.get("TUNEMIX_SHARED_DATA")
WORK = Path(os.environ.get("WORK", "runs/mixing")).resolve()

# What is compared: the config's overrides without a change and with it. A run has one of the two for each change.
CHANGES = {
    "learned weights": (["mix.families=weighted"], ["mix.families=learned"]),
    "choices by all": (["mix.choose_by=validation"], ["mix.choose_by=all"]),
    "label calibrations": ([], ["calibrate.cpc=[shift, ls, ewls, el, ell, sndcg, each.ls, matrix.ls]"]),
}
# Beside them, with all changes: every family as the plain average of its members.
PLAIN = ["mix.families=equal", "mix.c.from=0", "mix.c.to=0"]

REAL = {"mq2008": "MQ2008", "ohsumed": "OHSUMED", "mslr-sample": "MSLR-sample", "sparse300": "sparse300"}
# Training, validation and test queries by preset.
SIZES = {
    "mslr10k": {"10k": (140, 47, 3300), "40k": (520, 170, 3300), "150k": (2040, 680, 3300), "700k": (10000, 3300, 3300)},
    "web2": {"10k": (125, 42, 3000), "40k": (500, 170, 3000), "150k": (1900, 630, 3000), "700k": (9000, 3000, 3000)},
}


def variants():
    """Name of a run -> overrides: none of the changes, each alone, all; and the plain averages with all."""
    chosen = {"none": set(), **{name: {name} for name in CHANGES}, "all": set(CHANGES)}
    found = {v: [o for name, sides in CHANGES.items() for o in sides[name in on]] for v, on in chosen.items()}
    given = {o.split("=")[0] for o in PLAIN}
    return {**found, "plain": [o for o in found["all"] if o.split("=")[0] not in given] + PLAIN}


def file_of(name, variant, seed):
    """Named by the overrides: a run of other changes is another run."""
    return WORK / name / f"{zlib.crc32(json.dumps(variants()[variant]).encode()):08x}-{seed}.npz"


# --- the sets

def folds_of(name):
    """[(training, validation, test files)], made if they are generated."""
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    if name in REAL:
        source = Path(SHARED) / REAL[name]
        parts = [source / f"S{k}.txt" for k in range(1, 6)]
        if not parts[0].exists():  # all its queries in turn
            parts = [folder / f"S{k}.txt" for k in range(1, 6)]
            if not parts[4].exists():
                deal(sorted(source.glob("*.txt")), parts)
        turned = [parts[fold:] + parts[:fold] for fold in range(5)]
        return [(part[:3], part[3:4], part[4:]) for part in turned]
    preset, size = name.split("-")
    files = [folder / f"{split}.txt" for split in ("train", "valid", "test")]
    for file, queries, seed in zip(files, SIZES[preset][size], (5, 6, 7)):
        if not file.exists():
            tunemix("synth", "--preset", preset, "--queries", queries, "--seed", seed, "--out", f"{file}.part", "--quiet")
            os.rename(f"{file}.part", file)
    return [tuple([file] for file in files)]


def deal(files, parts):
    texts, last, count = [[] for _ in parts], None, 0
    for file in files:
        for line in file.open():
            if line.split()[1] != last:
                last, count = line.split()[1], count + 1
            texts[count % len(parts)].append(line)
    for part, lines in zip(parts, texts):
        part.write_text("".join(lines))


def read(files, features=True):
    """Labels, where queries begin, features."""
    labels, queries, rows = [], [], []
    for file in files:
        with open(file, "rb") as lines:
            for line in lines:
                words = line.split(b"#", 1)[0].split(None, 2)
                labels.append(int(words[0]))
                queries.append(words[1])
                if features:
                    values = np.fromstring(words[2].replace(b":", b" ") if len(words) > 2 else b"", sep=" ")
                    rows.append((values[::2].astype(np.int32), values[1::2].astype(np.float32)))
    begins = np.array([0] + [i for i in range(1, len(queries)) if queries[i] != queries[i - 1]] + [len(queries)])
    matrix = np.zeros((len(rows), max((int(at.max()) for at, _ in rows if len(at)), default=0)), np.float32)
    for row, (at, values) in zip(matrix, rows):
        row[at - 1] = values
    return np.array(labels), begins, matrix


# --- measures

DISCOUNT = 1 / np.log2(np.arange(2, 12))


def ndcg(labels, begins, scores):
    """NDCG@10 of each query, `yahoo` preset."""
    values = np.ones(len(begins) - 1)
    for q, (begin, end) in enumerate(zip(begins, begins[1:])):
        gains = 2.0 ** labels[begin:end] - 1
        best = np.sort(gains)[::-1][:10]
        order = np.argsort(-scores[begin:end], kind="stable")[:10]
        if best[0] > 0:
            values[q] = gains[order] @ DISCOUNT[:len(order)] / (best @ DISCOUNT[:len(best)])
    return values


def by_query(begins, values):
    """Each column minus its mean within the query, over its deviation there; 0 where that is 0."""
    result = np.zeros_like(values)
    for begin, end in zip(begins, begins[1:]):
        part = values[begin:end]
        deviation = part.std(0)
        result[begin:end] = np.where(deviation > 0, (part - part.mean(0)) / np.where(deviation > 0, deviation, 1), 0)
    return result


# --- TuneMix

def run_recipe(name, folds, seed, only):
    """One file for each variant of a set and seed: NDCG of every query for every row, and seconds."""
    todo = {v: o for v, o in variants().items() if (not only or v in only) and not file_of(name, v, seed).exists()}
    if not todo:
        return
    runs = WORK / name / f"runs-{seed}"
    config = WORK / name / "config.yaml"
    text = [f"    - {{train: {list(map(str, a))}, valid: {list(map(str, b))}, test: {list(map(str, c))}}}\n" for a, b, c in folds]
    config.write_text(f"name: {name}\ndata:\n  folds:\n{''.join(text)}evaluate: {{tools: [yahoo]}}\n")
    labels = [read(test, features=False)[:2] for _, _, test in folds]
    for variant, overrides in todo.items():
        if file_of(name, variant, seed).exists():  # another run has the same overrides
            continue
        settings = [config, f"seed={seed}", f"name={variant.replace(' ', '-')}", *overrides, "--runs", runs]
        results = json.loads(tunemix("run", *settings, "--quiet", "--json"))
        found = {}
        for row in (row for row in results["rows"] if row["split"] == "test"):
            values = []
            for fold, (truth, begins) in zip(row["folds"], labels):
                out = runs / "scores"
                tunemix("export", *settings, "--format", "scores", "--row", row["name"], "--fold", fold["fold"], "--out", out, "--quiet")
                values.append(ndcg(truth, begins, np.loadtxt(out)))
                if abs(values[-1].mean() - fold["ndcg@10"]) > 1e-6:
                    sys.exit(f"{name}, {variant}, {row['name']}: the scores give {values[-1].mean():.6f}, the run says {fold['ndcg@10']:.6f}")
            found[row["name"]] = np.concatenate(values)
        save(file_of(name, variant, seed), found)
        print(f"{name}, seed {seed}, {variant}: {found['ALL+EXP'].mean():.4f}", file=sys.stderr, flush=True)
    if not only:
        shutil.rmtree(runs)


def save(path, values):
    np.savez_compressed(f"{path}.part.npz", **values)
    os.rename(f"{path}.part.npz", path)


# --- LightGBM

def run_lightgbm(name, folds):
    """Lambdarank at rate .05; leaves and rounds by validation; bags of four seeds on half of the features and four fifths of the
    queries, raw and with the features that are standardised within the query beside them."""
    folder = WORK / name / "lightgbm"
    for number, splits in enumerate(folds, 1):
        target = WORK / name / f"lightgbm-fold{number}.npz"
        if target.exists():
            continue
        folder.mkdir(exist_ok=True)
        data = [read(split) for split in splits]
        width = max(features.shape[1] for _, _, features in data)
        for (labels, begins, features), split in zip(data, ("train", "valid", "test")):
            raw = np.pad(features, ((0, 0), (0, width - features.shape[1])))
            for view, matrix in (("raw", raw), ("plus", np.hstack([raw, by_query(begins, raw)]))):
                np.savetxt(folder / f"{view}.{split}", np.column_stack([labels, matrix]), fmt="%.7g", delimiter="\t")
                np.savetxt(folder / f"{view}.{split}.query", np.diff(begins), fmt="%d")
        documents = len(data[0][0])
        labels, begins, _ = data[1]
        single = {leaves: lightgbm(folder, "raw", leaves, 1, documents) for leaves in (8, 16, 32, 64)}
        leaves = max(single, key=lambda k: ndcg(labels, begins, single[k][0]).mean())
        labels, begins, _ = data[2]
        found = {"one": ndcg(labels, begins, single[leaves][1])}
        part = ["feature_fraction=0.5", "bagging_fraction=0.8", "bagging_freq=1", "bagging_by_query=true"]
        for view, bag in (("raw", "bag"), ("plus", "bag+")):
            scores = sum(by_query(begins, lightgbm(folder, view, leaves, seed, documents, *part)[1]) for seed in (1, 2, 3, 4))
            found[bag] = ndcg(labels, begins, scores)
        save(target, found)
        shutil.rmtree(folder)
        print(f"{name}, fold {number}, LightGBM: {found['bag'].mean():.4f} {found['bag+'].mean():.4f}", file=sys.stderr, flush=True)


def lightgbm(folder, view, leaves, seed, documents, *more):
    """Scores of the validation and the test documents."""
    model = folder / "model"
    run(LIGHTGBM, "task=train", "objective=lambdarank", f"num_leaves={leaves}", "learning_rate=0.05", "num_trees=1500",
        "early_stopping_round=100", "metric=ndcg", "eval_at=10", f"data={folder}/{view}.train", f"valid={folder}/{view}.valid",
        "num_threads=2", "verbosity=-1", f"output_model={model}", f"seed={seed}", f"min_data_in_leaf={100 if documents > 50000 else 20}", *more)
    scores = []
    for split in ("valid", "test"):
        run(LIGHTGBM, "task=predict", f"data={folder}/{view}.{split}", f"input_model={model}", f"output_result={model}.scores", "verbosity=-1")
        scores.append(np.loadtxt(f"{model}.scores"))
    return scores


# --- the table

def mean_over_seeds(name, variant):
    """Row -> NDCG of every query, averaged over the seeds that are done; and how many."""
    done = [np.load(file) for file in sorted((WORK / name).glob(file_of(name, variant, "*").name))]
    return {row: np.mean([seed[row] for seed in done], axis=0) for row in (done[0].files if done else [])}, len(done)


def number(value):
    return f"{value:.4f}".replace("0.", ".", 1)


def against(ours, other):
    """The paired difference and its standard error."""
    difference = ours - other
    return f"{difference.mean():+.4f} ({difference.std(ddof=1) / len(difference) ** 0.5:.4f})".replace("0.", ".")


def table():
    rivals = ["best single row", "plain average", "LightGBM, bag", "LightGBM, bag+"]
    print("| set | seeds | queries | none | " + " | ".join(CHANGES) + " | all | over " + " | over ".join(rivals) + " |")
    print("|---" * (5 + len(CHANGES) + len(rivals)) + "|")
    lines, ahead = [], {rival: {} for rival in rivals}
    for name in all_sets(True):
        none, _ = mean_over_seeds(name, "none")
        full, seeds = mean_over_seeds(name, "all")
        if not none or not full:
            continue
        ours, before = full["ALL+EXP"], none["ALL+EXP"]
        cells = [name, str(seeds), str(len(ours)), number(before.mean())]
        cells += [against(found["ALL+EXP"], before) if found else "" for found, _ in (mean_over_seeds(name, c) for c in CHANGES)]
        cells.append(number(ours.mean()))
        plain, _ = mean_over_seeds(name, "plain")
        others = {"best single row": best(full, lambda row: not row.startswith("ALL")),
                  "plain average": best(plain, lambda row: row.endswith("+EXP") and not row.startswith("ALL"))}
        peers = [np.load(file) for file in sorted((WORK / name).glob("lightgbm-fold*.npz"))]
        if sum(len(peer["bag"]) for peer in peers) == len(ours):
            for bag in ("bag", "bag+"):
                others[f"LightGBM, {bag}"] = ("", np.concatenate([peer[bag] for peer in peers]))
        for rival in rivals:
            row, values = others.get(rival, ("", None))
            cells.append("" if values is None else f"{row} {number(values.mean())}: {against(ours, values)}".strip())
            if values is not None:
                ahead[rival][name] = (ours - values).mean()
        print("| " + " | ".join(cells) + " |")
        systems = {"none": before, **{c: mean_over_seeds(name, c)[0].get("ALL+EXP") for c in CHANGES}, "all": ours, **{r: v for r, (_, v) in others.items()}}
        lines += [[name, seeds, len(ours), system, f"{v.mean():.5f}", f"{v.mean() - ours.mean():+.5f}"] for system, v in systems.items() if v is not None]
    for rival, found in ahead.items():
        for kind, names in (("real", REAL), ("generated", set(found) - set(REAL))):
            if values := [found[name] for name in names if name in found]:
                print(f"\nover {rival}, {len(values)} {kind} sets: mean {np.mean(values):+.4f}, smallest {min(values):+.4f}")
    with (HERE / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["set", "seeds", "test_queries", "system", "ndcg@10", "minus_all"], *lines])


def best(rows, takes):
    """The row that is best on test by its mean over seeds, the hardest rival that a mixture can have, and its values."""
    names = [row for row in rows if takes(row)]
    if not names:
        return "", None
    row = max(names, key=lambda name: rows[name].mean())
    return row, rows[row]


def all_sets(shared=SHARED):
    return [*(REAL if shared else []), *(f"{preset}-{size}" for size in SIZES["web2"] for preset in SIZES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--only", nargs="+", choices=variants(), help="these runs only; their training is kept for others")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.sets) - set(all_sets(True)):
        parser.error(f"no set {', '.join(unknown)}; expected some of {', '.join(all_sets())}")
    if not arguments.table:
        for name in arguments.sets or all_sets():
            folds = folds_of(name)
            for seed in arguments.seeds:
                run_recipe(name, folds, seed, arguments.only)
            if LIGHTGBM:
                run_lightgbm(name, folds)
        if not LIGHTGBM:
            print("LIGHTGBM names no program: no figures of it are made", file=sys.stderr)
    table()


if __name__ == "__main__":
    main()
