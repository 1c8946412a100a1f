"""From clicks to a better ranker every night, end to end: `rankwise serve` with simulated users by day, training at night.

By day, users search the demo collection on a running server and click: they look at rank r with probability 1/r and, of what they see, click documents by
their grades. Lists are interleaved from the model and BM25, so documents move between ranks. At night, propensities are estimated from the log,
a model is trained on the clicks and sent to the server with PUT, as the next version. The table shows NDCG@10 on queries that no user asks.

    experiments/serving_loop.py RANKWISE [--nights N] [--sessions N] [-o DIRECTORY]

`docs/serving-clicks.md` explains the steps. Only Python's standard library is needed.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import urllib.parse
import urllib.request

SHOWN = 10
# The probability of a click on a document of grade 0, 1, 2, 3 that is looked at.
CLICK = (0.05, 0.3, 0.6, 0.95)


class Server:
    """A server of the collection, its log and its models."""

    def __init__(self, rankwise, directory):
        command = [rankwise, "serve", "docs.idx", "--model", "prod=model-0.json", "--interleave", "prod,bm25"]
        command += ["--log", "clicks.jsonl", "--token-file", "token", "--listen", "127.0.0.1:0", "--fsync", "none"]
        self.process = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://\S+", line):
                self.address = found.group()
                break
        else:
            sys.exit("the server did not start")
        self.token = (directory / "token").read_text().strip()

    def ask(self, method, path, body=None, kind="application/json"):
        headers = {"authorization": f"Bearer {self.token}", "content-type": kind}
        request = urllib.request.Request(f"{self.address}/v1/{path}", body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def search(self, query, user):
        answer = self.ask("GET", f"search?{urllib.parse.urlencode({'q': query, 'k': SHOWN, 'user': user, 'fields': 'title'})}")
        return answer["session"], [hit["id"] for hit in answer["hits"]]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def day(server, queries, grades, sessions, numbers, first_user):
    """Users search and click."""
    for user in range(first_user, first_user + sessions):
        query, text = numbers.choice(queries)
        session, shown = server.search(text, f"user {user}")
        looked_at = (document for rank, document in enumerate(shown, 1) if numbers.random() < 1 / rank)
        clicked = [document for document in looked_at if numbers.random() < CLICK[grades.get((query, document), 0)]]
        if clicked:
            body = {"session": session, "clicks": [{"doc": document} for document in clicked]}
            server.ask("POST", "feedback", json.dumps(body).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rankwise", type=pathlib.Path)
    parser.add_argument("--nights", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=2000, help="sessions of a day")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("results/serving-loop"))
    arguments = parser.parse_args()
    directory = arguments.output
    directory.mkdir(parents=True)
    rankwise = arguments.rankwise.resolve()

    def run(*words):
        done = subprocess.run([rankwise, *map(str, words)], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    # The collection, its queries and grades, which only the simulated users know.
    run("demo", "search", "-o", "demo")
    (directory / "demo" / "docs.idx").rename(directory / "docs.idx")
    collection = pathlib.Path(__file__).resolve().parent.parent / "crates/rankwise-search/demo"
    queries = [tuple(line.split("\t")) for line in (collection / "queries.tsv").read_text().splitlines()]
    qrels = [line.split() for line in (collection / "qrels.txt").read_text().splitlines()]
    grades = {(query, document): int(grade) for query, _, document, grade in qrels}
    asked, kept = queries[::2], queries[1::2]
    (directory / "kept.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in kept))
    # The log names queries by their text.
    (directory / "asked.tsv").write_text("".join(f"{text}\t{text}\n" for _, text in asked))
    named = set(query for query, _ in kept)
    (directory / "kept.qrels").write_text("".join(" ".join(line) + "\n" for line in qrels if line[0] in named))
    run("features", "docs.idx", "--queries", "asked.tsv", "-o", "features.csv")
    # The model of the first day: what BM25 of the title says, a poor ranker.
    few = [line for line in qrels if line[0] == asked[0][0]]
    (directory / "first.tsv").write_text("\t".join(asked[0]) + "\n")
    (directory / "first.qrels").write_text("".join(" ".join(line) + "\n" for line in few))
    run("features", "docs.idx", "--queries", "first.tsv", "--qrels", "first.qrels", "-o", "first.csv")
    run("train", "list-net", "--train", "first.csv", "-o", "model-0.json")

    def quality(model):
        chosen = ["--model", model] if model else []
        run("search", "docs.idx", "--queries", "kept.tsv", *chosen, "-k", 100, "-o", "kept.run")
        return json.loads(run("eval", "kept.run", "kept.qrels", "--metrics", "ndcg@10", "--json"))["means"]["ndcg@10"]

    numbers = random.Random(arguments.seed)
    server = Server(rankwise, directory)
    try:
        print(f"BM25: {quality(None):.4f}\n\n| night | sessions | clicks | NDCG@10 on queries that nobody asked |\n|---|---|---|---|")
        print(f"| 0 | 0 | 0 | {quality('model-0.json'):.4f} |", flush=True)
        for night in range(1, arguments.nights + 1):
            day(server, asked, grades, arguments.sessions, numbers, night * arguments.sessions)
            run("clicks", "propensity", "clicks.jsonl", "-o", "theta.json")
            model = f"model-{night}.json"
            run("train", "list-net", "--train", "features.csv", "--clicks", "clicks.jsonl", "--propensity", "theta.json", "-o", model)
            server.ask("PUT", "models/prod", (directory / model).read_bytes(), "application/octet-stream")
            live = server.ask("GET", "live")["rankers"][0]
            print(f"| {night} | {live['sessions']} | {live['clicks']} | {quality(model):.4f} |", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
