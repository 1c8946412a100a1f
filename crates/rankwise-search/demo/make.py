"""Writes the demo's collection: a travel guide to islands that do not exist.

    python make.py          writes docs.jsonl, queries.tsv and qrels.txt beside this file

Only the standard library is used, and the random numbers are seeded, so the files are always the same.
README.md says how the judgments are made.
"""

import json
import math
import random
from pathlib import Path

from words import ASIDES, ATTRIBUTES, ISLANDS, KINDS, OVERVIEWS, ROUNDUPS, STUBS

HERE = Path(__file__).parent
FIRST_YEAR, LAST_YEAR = 1998, 2024
RELATED = [
    {"lighthouse", "coast walk", "birds"},
    {"castle", "museum", "garden"},
    {"fish restaurant", "bakery", "market"},
    {"guesthouse", "campsite"},
    {"beach", "kayak", "coast walk"},
    {"hill walk", "cycling"},
    {"ferry", "kayak"},
]
TOWNS = {town: island for island, towns in ISLANDS.items() for town in towns}


def slug(text):
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower().replace("'", "")).split())


class Guide:
    """The pages, made one after the other."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pages = []
        self.names = {}

    def fill(self, template, town, island, **more):
        """A sentence, with its names and numbers."""
        draw = self.random
        return template.format(
            town=town, island=island,
            small=draw.choice(["two", "three", "four", "five", "six"]),
            minutes=draw.choice([10, 15, 20, 25, 30, 40, 45]), hours=draw.choice(["two", "three", "four", "five"]),
            metres=draw.choice([60, 85, 110, 140, 190, 230, 310, 420]), price=draw.choice([3, 4, 5, 6, 8, 9, 12]),
            month=draw.choice(["April", "May", "June", "September", "October"]),
            day=draw.choice(["Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]),
            century=draw.choice(["fourteenth", "sixteenth", "seventeenth", "eighteenth"]), **more)

    def places(self, town, island):
        """Another town of the island, and one of another island."""
        near = [t for t, i in TOWNS.items() if i == island and t != town]
        far = [t for t, i in TOWNS.items() if i != island]
        return {"near": self.random.choice(near), "far": self.random.choice(far)}

    def name(self, kind, town):
        """The name of the thing of a kind in a town, which is that of no other."""
        if (kind, town) not in self.names:
            firsts, seconds = KINDS[kind]["names"]
            free = [f"{a} {b}" for a in firsts for b in seconds]
            taken = {name for (other, _), name in self.names.items() if other == kind}
            self.names[kind, town] = self.random.choice([name for name in free if name not in taken])
        return self.names[kind, town]

    def add(self, title, body, category, year, **facts):
        number = sum(page["title"] == title for page in self.pages)
        name = slug(title) + (f"-{number + 1}" if number else "")
        fame = self.random.lognormvariate(0, 0.8)
        self.pages.append({"id": name, "title": title, "body": body, "category": category, "year": year,
                           "facts": {"fame": fame, "stub": False, **facts}})

    def page(self, kind, town, edition):
        """A page on one thing in one town. Editions after the first are older."""
        island, words, draw = TOWNS[town], KINDS[kind], self.random
        fill = {"name": self.name(kind, town), **self.places(town, island)}
        titles = words["titles"][edition % len(words["titles"])]
        attributes = draw.sample(words["attributes"], draw.choice([0, 1, 1, 2]))
        sentences = draw.sample(words["sentences"], draw.choice([2, 3, 3, 4]))
        sentences.insert(0, draw.choice(words["openings"]))
        sentences += [draw.choice(ATTRIBUTES[attribute]["sentences"]) for attribute in attributes]
        if draw.random() < 0.75:
            sentences.append(draw.choice(ASIDES))
        other = draw.choice([k for k in KINDS if k != kind])
        body = " ".join(self.fill(s, town, island, other=KINDS[other]["noun"], **fill) for s in sentences)
        newest = draw.randint(2009, LAST_YEAR)
        year = newest if edition == 0 else draw.randint(FIRST_YEAR, 2008)
        self.add(self.fill(titles, town, island, **fill), body, words["category"], year,
                 kind=kind, town=town, island=island, attributes=attributes)

    def stub(self, kind, town):
        """A few words that lead elsewhere."""
        island, noun = TOWNS[town], KINDS[kind]["noun"]
        body = self.fill(self.random.choice(STUBS), town, island, noun=noun)
        self.add(f"{noun.capitalize()}, {town}", body, KINDS[kind]["category"],
                 self.random.randint(FIRST_YEAR, LAST_YEAR), kind=kind, town=town, island=island, attributes=[],
                 stub=True)

    def overview(self, town):
        island, draw = TOWNS[town], self.random
        kinds = draw.sample(sorted(KINDS), 3)
        sentences = draw.sample(OVERVIEWS, 4)
        nouns = [KINDS[kind]["noun"] for kind in kinds]
        fill = {**dict(zip(["first", "second", "third"], nouns)), **self.places(town, island)}
        body = " ".join(self.fill(s, town, island, **fill) for s in sentences)
        self.add(town, body, "Towns", draw.randint(2005, LAST_YEAR), kind="town", town=town, island=island,
                 attributes=[])

    def roundup(self, kind, island):
        """A page on all things of a kind on an island."""
        draw, words, towns = self.random, KINDS[kind], list(ISLANDS[island])
        draw.shuffle(towns)
        form = draw.choice(ROUNDUPS)
        fill = {**self.places(towns[0], island), "noun": words["noun"], "plural": words["plural"],
                "one": towns[0], "two": towns[1], "three": towns[2]}
        title = self.fill(form["title"], towns[0], island, **fill)
        body = " ".join(self.fill(s, towns[0], island, **fill) for s in form["body"])
        attribute = draw.choice(words["attributes"])
        body += " " + self.fill(draw.choice(ATTRIBUTES[attribute]["sentences"]), towns[0], island, **fill)
        self.add(title, body, words["category"], draw.randint(2003, LAST_YEAR), kind=kind, town=None, island=island,
                 attributes=[attribute])

    def link(self):
        """Pages refer to pages on the same town or thing, mostly to those that many visitors like."""
        for page in self.pages:
            facts = page["facts"]
            others = [p for p in self.pages if p is not page and not p["facts"]["stub"] and (
                p["facts"]["town"] == facts["town"] or
                p["facts"]["kind"] == facts["kind"] and p["facts"]["island"] == facts["island"])]
            weights = [p["facts"]["fame"] ** 2 for p in others]
            count = 1 if facts["stub"] else self.random.randint(2, 5)
            chosen = self.random.choices(others, weights, k=count)
            page["see_also"] = sorted({p["id"] for p in chosen})


def make_guide():
    guide = Guide(20261118)
    for town in TOWNS:
        guide.overview(town)
        for kind in guide.random.sample(sorted(KINDS), 15):
            guide.page(kind, town, 0)
            if guide.random.random() < 0.5:
                guide.page(kind, town, 1)
            if guide.random.random() < 0.12:
                guide.stub(kind, town)
    for island in ISLANDS:
        for kind in guide.random.sample(sorted(KINDS), 8):
            guide.roundup(kind, island)
    guide.link()
    return guide.pages


def make_queries(pages):
    """Queries with what their users want. Everything asked for exists."""
    draw, found = random.Random(7), {}
    full = [p["facts"] for p in pages if not p["facts"]["stub"] and p["facts"]["kind"] != "town"]

    def ask(text, **want):
        found.setdefault(text, want)

    for facts in draw.sample([f for f in full if f["town"]], 22):
        words = draw.choice(KINDS[facts["kind"]]["asked"])
        ask(draw.choice([f"{words} {facts['town']}", f"{facts['town']} {words}", f"{words} in {facts['town']}"]),
            kind=facts["kind"], town=facts["town"])
    for facts in draw.sample([f for f in full if f["attributes"]], 24):
        attribute = facts["attributes"][0]
        words = draw.choice(KINDS[facts["kind"]]["asked"])
        ask(draw.choice(ATTRIBUTES[attribute]["asked"]).format(words), kind=facts["kind"], attribute=attribute)
    for facts in draw.sample(full, 16):
        words = draw.choice(KINDS[facts["kind"]]["asked"])
        ask(draw.choice([f"best {words} on {facts['island']}", f"{facts['island']} {words}"]),
            kind=facts["kind"], island=facts["island"])
    items = list(found.items())[:60]
    return [(str(number), text, want) for number, (text, want) in enumerate(items, 1)]


def on_topic(want, facts):
    """How much of what is wanted a page is about, from 0 to 1."""
    kind = facts["kind"] == want["kind"]
    related = any({facts["kind"], want["kind"]} <= group for group in RELATED)
    if "town" in want:
        if facts["town"] == want["town"]:
            return 1.0 if kind else 0.5 if facts["kind"] == "town" else 0.4 if related else 0.1
        return 0.5 if kind and facts["island"] == TOWNS[want["town"]] else 0.2 if kind else 0.0
    if "attribute" in want:
        has = want["attribute"] in facts["attributes"]
        return (1.0 if kind else 0.35 if related else 0.15) if has else 0.55 if kind else 0.0
    here = facts["island"] == want["island"]
    return (1.0 if facts["town"] is None else 0.85) if kind and here else 0.35 if kind or (here and related) else 0.0


def judge(pages, queries):
    """Grades from 0 to 3 of all pages that are on topic or contain a word of the query in their title."""
    noise = random.Random(99)
    links = {}
    for page in pages:
        for target in page["see_also"]:
            links[target] = links.get(target, 0) + 1
    lines = []
    for number, text, want in queries:
        words = set(text.lower().split()) - {"in", "on", "the", "with", "for", "a", "of", "to", "at"}
        for page in pages:
            facts = page["facts"]
            topic = on_topic(want, facts)
            if topic < 0.3 and not words & set(page["title"].lower().split()):
                continue
            fresh = (page["year"] - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
            liked = min(1, math.log1p(links.get(page["id"], 0)) / math.log(12))
            value = 3.2 * topic + topic * (1.3 * (fresh - 0.55) + 1.3 * (liked - 0.45)) - 1.2 * facts["stub"]
            value += noise.gauss(0, 0.3)
            grade = sum(value >= limit for limit in (1.5, 2.5, 3.3)) if topic >= 0.3 else 0
            lines.append((number, page["id"], grade))
    return lines


def main():
    pages = make_guide()
    queries = make_queries(pages)
    judgments = judge(pages, queries)
    with open(HERE / "docs.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for page in pages:
            shown = {key: page[key] for key in ("id", "title", "body", "category", "year", "see_also")}
            file.write(json.dumps(shown, ensure_ascii=False) + "\n")
    with open(HERE / "queries.tsv", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{number}\t{text}\n" for number, text, _ in queries)
    with open(HERE / "qrels.txt", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{number} 0 {page} {grade}\n" for number, page, grade in judgments)


if __name__ == "__main__":
    main()
