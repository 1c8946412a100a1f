"""Trains LightGBM, XGBoost and CatBoost on the five folds of our experiments and writes their test scores.

Fold f trains on parts f, f+1, f+2, validates on part f+3 and tests on part f+4, wrapping after 5. Each peer is
trained with three tree sizes, with early stopping by its own NDCG@10 on the validation part. The size is then chosen by
one NDCG@10 for all peers, also on the validation part. The test part is only scored.

Writes OUT/DATA/PEER.foldF.txt, one score per line in the order of the test file, and OUT/DATA/times.csv.
"""

import argparse
import csv
import dataclasses
import io
import os
import pathlib
import time

import catboost
import lightgbm
import numpy
import sklearn.datasets
import xgboost
import zstandard

HERE = pathlib.Path(__file__).resolve().parent
# docs/data.md says how to put the data there.
DATA = HERE.parents[1] / "data"
PARTS = 5
CUTOFF = 10
SEED = 1
THREADS = 2
RATE = 0.05
ROUNDS = 1000
PATIENCE = 100
TIMES = ("system", "fold", "search_seconds", "train_seconds")


@dataclasses.dataclass
class Part:
    """Documents in file order; those of a query are adjacent."""

    features: numpy.ndarray
    grades: numpy.ndarray
    sizes: numpy.ndarray

    @staticmethod
    def joined(parts):
        """Several parts as one."""
        fields = (field.name for field in dataclasses.fields(Part))
        return Part(*(numpy.concatenate([getattr(part, name) for part in parts]) for name in fields))

    def query_numbers(self):
        """For every document the number of its query, from 0."""
        return numpy.repeat(numpy.arange(len(self.sizes)), self.sizes)


def read_parts(folder):
    """The parts S1 to S5 of a data set, all with the same number of features."""
    paths = [folder / f"S{number}.txt.zst" for number in range(1, PARTS + 1)]
    # Decompressed in memory: scikit-learn reads lines, which zstandard's reader does not provide.
    files = [io.BytesIO(zstandard.open(path, "rb").read()) for path in paths]
    arrays = sklearn.datasets.load_svmlight_files(files, dtype=numpy.float32, zero_based=False, query_id=True)
    parts = []
    for features, grades, queries in zip(*[iter(arrays)] * 3):
        starts = numpy.flatnonzero(numpy.diff(queries, prepend=queries[0] - 1))
        if len(starts) != len(numpy.unique(queries)):
            raise ValueError(f"{folder}: the documents of a query are not adjacent.")
        parts.append(Part(features.toarray(), grades, numpy.diff(starts, append=len(queries))))
    return parts


def ndcg(part, scores):
    """Mean NDCG@10 with gain 2^r − 1 and discount 1/log2(1 + rank); ties keep the order of the file, and a
    query without relevant documents counts 0."""

    def dcg(grades):
        top = grades[:CUTOFF]
        return numpy.sum((2.0**top - 1) / numpy.log2(2 + numpy.arange(len(top))))

    values = []
    for query in range(len(part.sizes)):
        start = part.sizes[:query].sum()
        here = slice(start, start + part.sizes[query])
        grades = part.grades[here]
        ideal = dcg(-numpy.sort(-grades))
        order = numpy.argsort(-scores[here], kind="stable")
        values.append(dcg(grades[order]) / ideal if ideal > 0 else 0.0)
    return numpy.mean(values)


def train_lightgbm(leaves, train, valid):
    parameters = {
        "objective": "lambdarank", "metric": "ndcg", "eval_at": [CUTOFF], "num_leaves": leaves,
        "learning_rate": RATE, "num_threads": THREADS, "seed": SEED, "deterministic": True,
        "force_col_wise": True, "verbosity": -1,
    }
    seen = lightgbm.Dataset(train.features, train.grades, group=train.sizes)
    watched = lightgbm.Dataset(valid.features, valid.grades, group=valid.sizes, reference=seen)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    model = lightgbm.train(parameters, seen, ROUNDS, valid_sets=[watched], callbacks=[stop])
    return model.best_iteration, lambda features: model.predict(features, num_iteration=model.best_iteration)


def train_xgboost(depth, train, valid):
    parameters = {
        "objective": "rank:ndcg", "eval_metric": f"ndcg@{CUTOFF}", "tree_method": "hist", "max_depth": depth,
        "learning_rate": RATE, "nthread": THREADS, "seed": SEED,
    }
    seen = xgboost.QuantileDMatrix(train.features, train.grades, group=train.sizes)
    watched = xgboost.QuantileDMatrix(valid.features, valid.grades, group=valid.sizes, ref=seen)
    stop = xgboost.callback.EarlyStopping(rounds=PATIENCE, maximize=True, save_best=True)
    model = xgboost.train(
        parameters, seen, ROUNDS, evals=[(watched, "valid")], callbacks=[stop], verbose_eval=False
    )
    return model.num_boosted_rounds(), lambda features: model.predict(xgboost.DMatrix(features))


def train_catboost(depth, train, valid):
    model = catboost.CatBoost({
        "loss_function": "YetiRank", "eval_metric": f"NDCG:top={CUTOFF};type=Exp", "depth": depth,
        "learning_rate": RATE, "iterations": ROUNDS, "od_type": "Iter", "od_wait": PATIENCE,
        "use_best_model": True, "thread_count": THREADS, "random_seed": SEED,
        "allow_writing_files": False, "logging_level": "Silent",
    })
    seen, watched = (
        catboost.Pool(part.features, part.grades, group_id=part.query_numbers()) for part in (train, valid)
    )
    model.fit(seen, eval_set=watched)
    return model.tree_count_, model.predict


# Each peer: its training function, the name of its size parameter, and the three sizes.
PEERS = {
    "lightgbm": (train_lightgbm, "leaves", (8, 16, 31)),
    "xgboost": (train_xgboost, "depth", (3, 4, 6)),
    "catboost": (train_catboost, "depth", (3, 4, 6)),
}


def chosen_scores(peer, train, valid, test):
    """Test scores of the size that is best on the validation part, seconds of the whole search, and seconds of training
    the chosen size."""
    fit, size_name, sizes = PEERS[peer]
    begin = time.perf_counter()
    best = None
    for size in sizes:
        start = time.perf_counter()
        rounds, predict = fit(size, train, valid)
        seconds = time.perf_counter() - start
        value = ndcg(valid, predict(valid.features))
        print(f"  {size_name} {size}: {rounds} rounds, validation NDCG@10 {value:.4f}, {seconds:.1f} s", flush=True)
        if best is None or value > best[0]:
            best = value, predict, seconds
    search_seconds = time.perf_counter() - begin
    _, predict, train_seconds = best
    return predict(test.features), search_seconds, train_seconds


def write_whole(path, write):
    """Writes to a temporary name first, so that a file that exists is complete."""
    unfinished = path.with_name(path.name + ".tmp")
    with open(unfinished, "w", newline="") as file:
        write(file)
    os.replace(unfinished, path)


def note_time(path, row):
    """Adds a row to the table of times, replacing an earlier one of the same peer and fold."""
    rows = []
    if path.exists():
        with open(path, newline="") as file:
            rows = list(csv.reader(file))[1:]
    row = [str(cell) for cell in row]
    rows = [other for other in rows if other[:2] != row[:2]] + [row]
    rows.sort(key=lambda row: (list(PEERS).index(row[0]), int(row[1])))
    write_whole(path, lambda file: csv.writer(file, lineterminator="\n").writerows([TIMES, *rows]))


def run(data, out, again):
    """All peers on all folds of one data set."""
    out.mkdir(parents=True, exist_ok=True)
    parts = read_parts(DATA / data)
    for fold in range(1, PARTS + 1):
        part = lambda ahead: parts[(fold - 1 + ahead) % PARTS]
        train, valid, test = Part.joined([part(0), part(1), part(2)]), part(3), part(4)
        for peer in PEERS:
            path = out / f"{peer}.fold{fold}.txt"
            if path.exists() and not again:
                print(f"{data}, fold {fold}, {peer}: {path} exists already")
                continue
            print(f"{data}, fold {fold}, {peer}", flush=True)
            scores, search, training = chosen_scores(peer, train, valid, test)
            # The time first: a score file that exists is skipped by the next run.
            note_time(out / "times.csv", (peer, fold, f"{search:.3f}", f"{training:.3f}"))
            write_whole(path, lambda file: file.writelines(f"{score!r}\n" for score in map(float, scores)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="ohsumed,clueweb09", help="data sets in data/, separated by commas")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "scores", help="directory for the scores")
    parser.add_argument("--again", action="store_true", help="train again even if scores exist")
    arguments = parser.parse_args()
    for data in arguments.data.split(","):
        run(data, arguments.out / data, arguments.again)


if __name__ == "__main__":
    main()
