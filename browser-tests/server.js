// A server for the tests of its page: the collection of the demo with some hostile documents, two models, tokens and logs.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const DEMO = path.resolve(import.meta.dirname, "../crates/rankwise-search/demo");
const PREPARED = path.resolve(process.env.PAGE_SAMPLES ?? "../target/page-samples");
const RANKWISE = path.resolve(process.env.RANKWISE ?? "../target/debug/rankwise");

export const ADMIN = "an-administrator-in-the-tests";
export const JUDGE = "a-judge-in-the-tests";

/** The title of a document that would run a script if it were taken for markup. */
export const HOSTILE = "<img src=x onerror=alert(1)>";

/** Documents that try what pages get wrong: markup, and characters that take two places in a string. */
const DOCUMENTS = [
  { id: "hostile", title: HOSTILE, body: "A zanzibarite <script>alert(2)</script> and \"quotes\" & more." },
  { id: "x/\"><b>y", title: "An id with signs", body: "The zanzibarite again, from <b>elsewhere</b>." },
  { id: "astral", title: "Smileys", body: "😀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 é before the word quuxite and behind it 😀." },
  { id: "long", title: "Donaudampfschifffahrtsgesellschaftskapitän".repeat(6), body: "zanzibarite ".repeat(300) },
];

const run = (...parameters) => execFileSync(RANKWISE, ["--quiet", ...parameters], { stdio: ["ignore", "ignore", "inherit"] });

/** Makes the index and the models, unless they are there. */
async function prepare() {
  const file = (name) => path.join(PREPARED, name);
  if (existsSync(file("done"))) return file;
  await rm(PREPARED, { recursive: true, force: true });
  await mkdir(PREPARED, { recursive: true });
  const demo = await readFile(path.join(DEMO, "docs.jsonl"), "utf8");
  await writeFile(file("docs.jsonl"), [demo.trim(), ...DOCUMENTS.map((document) => JSON.stringify(document))].join("\n") + "\n");
  run("index", file("docs.jsonl"), "-o", file("docs.idx"), "--links", "see_also");
  run("features", file("docs.idx"), "--queries", path.join(DEMO, "queries.tsv"), "--qrels", path.join(DEMO, "qrels.txt"),
    "--set", "small", "-o", file("train.txt"));
  run("train", "lambda-mart", "--train", file("train.txt"), "--set", "iterations=30", "-o", file("trees.json"));
  run("train", "regression", "--scorer", "linear", "--train", file("train.txt"), "-o", file("linear.json"));
  run("train", "list-net", "--scorer", "network", "--train", file("train.txt"), "--set", "epochs=3", "-o", file("network.json"));
  await writeFile(file("done"), "");
  return file;
}

/** Starts a server. Returns its address, its directory and what ends it; `extra` are further parameters, in which `{NAME}` is a prepared file. */
export async function serve(extra = []) {
  const file = await prepare();
  const directory = await mkdtemp(path.join(PREPARED, "run-"));
  const own = (name) => path.join(directory, name);
  await writeFile(own("admin"), `${ADMIN}\n`);
  await writeFile(own("judges"), `${JUDGE}\n`);
  await writeFile(own("queries.tsv"), "q1\tcoast walk in Saltergate\nq2\tlighthouse Wexholm\nq3\tmuseum exhibition in Ravensund\nq4\tzanzibarite\n");
  const parameters = ["serve", file("docs.idx"), "--model", `trees=${file("trees.json")}`, "--model", `linear=${file("linear.json")}`,
    "--log", own("clicks.jsonl"), "--judgments", own("judgments.csv"), "--queries", own("queries.tsv"), "--pool", "3",
    "--token-file", own("admin"), "--judge-token-file", own("judges"),
    // The server is built for debugging, and the machine may be busy with other tests.
    "--deadline-ms", "20000", "--listen", "127.0.0.1:0",
    ...extra.map((text) => text.replace(/\{(.*)\}/, (_, name) => file(name)))];
  const child = spawn(RANKWISE, parameters, { stdio: ["ignore", "pipe", "pipe"] });
  const address = await listening(child);
  const stop = () => new Promise((done) => { child.once("exit", done); child.kill("SIGTERM"); });
  return { address, directory, file, stop };
}

/** The address that a server prints when it listens. */
function listening(child) {
  return new Promise((done, failed) => {
    let said = "";
    const hear = (text) => {
      said += text;
      const found = /listening on (http:\/\/\S+)/.exec(said);
      if (found) done(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
  });
}
