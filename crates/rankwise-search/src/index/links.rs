//! What links between documents say about them.
//!
//! A writer keeps the whole graph, because any addition may turn an unknown id into a document. All sums are taken in the
//! order of ids, so results depend neither on the order of additions nor on the number of threads.

use rankwise::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Links that are followed rather than a jump to any document.
const DAMPING: f64 = 0.85;

/// PageRank stops when the sum of all changes is less.
const TOLERANCE: f64 = 1e-10;

/// The change shrinks by the damping in every round, so this is never reached.
const MOST_ROUNDS: usize = 1000;

/// What links say about a document.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinkStatistics {
    /// Number of documents that link to it.
    pub in_links: u32,
    /// Number of documents that it links to.
    pub out_links: u32,
    /// PageRank with a damping of 0.85. The PageRanks of all documents sum to 1; documents without links pass theirs on
    /// to all.
    pub page_rank: f64,
}

/// Documents and their links. Links to a document itself and repeated links do not count.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    /// By number: where a document links to; nothing for an id that is only linked to.
    targets: Vec<Option<Box<[u32]>>>,
}

impl Graph {
    pub(crate) fn insert(&mut self, id: &str, links: &[String]) {
        let source = self.number(id);
        let mut targets: Vec<u32> = links.iter().map(|link| self.number(link)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|&target| target != source);
        self.targets[source as usize] = Some(targets.into());
    }

    pub(crate) fn remove(&mut self, id: &str) {
        if let Some(&number) = self.numbers.get(id) {
            self.targets[number as usize] = None;
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("fewer than four thousand million ids");
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        self.targets.push(None);
        number
    }

    /// The numbers of all documents in the order of their ids.
    fn documents(&self) -> Vec<u32> {
        let all = 0..self.names.len() as u32;
        let mut documents: Vec<u32> = all.filter(|&number| self.targets[number as usize].is_some()).collect();
        documents.par_sort_unstable_by(|&a, &b| self.names[a as usize].cmp(&self.names[b as usize]));
        documents
    }

    /// The statistics of all documents, in the order of their ids, and the number of links to ids without a document.
    pub(crate) fn statistics(&self) -> (LinkTable, u64) {
        let documents = self.documents();
        let mut ranks = vec![u32::MAX; self.names.len()];
        for (rank, &number) in documents.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        let mut unknown = 0;
        let mut incoming = vec![Vec::new(); documents.len()];
        let mut out_links = vec![0u32; documents.len()];
        for (rank, &number) in documents.iter().enumerate() {
            for &target in self.targets_of(number) {
                match ranks[target as usize] {
                    u32::MAX => unknown += 1,
                    target => {
                        incoming[target as usize].push(rank as u32);
                        out_links[rank] += 1;
                    }
                }
            }
        }
        let page_ranks = page_ranks(&incoming, &out_links);
        let statistics = page_ranks.into_iter().zip(&incoming).zip(&out_links);
        let statistics = statistics.map(|((page_rank, incoming), &out_links)| LinkStatistics {
            in_links: incoming.len() as u32,
            out_links,
            page_rank,
        });
        let ids = documents.iter().map(|&number| self.names[number as usize].to_string()).collect();
        (LinkTable { ids, statistics: statistics.collect() }, unknown)
    }

    fn targets_of(&self, number: u32) -> &[u32] {
        self.targets[number as usize].as_deref().unwrap_or_default()
    }
}

/// PageRanks by the power method. `incoming` has the sources of links to a document in the order of ids.
fn page_ranks(incoming: &[Vec<u32>], out_links: &[u32]) -> Vec<f64> {
    let all = out_links.len() as f64;
    let mut ranks = vec![1.0 / all; out_links.len()];
    for _ in 0..MOST_ROUNDS {
        let passed: Vec<f64> =
            ranks.iter().zip(out_links).map(|(rank, &links)| rank / f64::from(links.max(1))).collect();
        let dangling: f64 =
            passed.iter().zip(out_links).filter(|&(_, &links)| links == 0).map(|(rank, _)| rank).sum();
        let base = (1.0 - DAMPING) / all + DAMPING * dangling / all;
        let next = incoming.par_iter().with_min_len(1024).map(|sources| {
            base + DAMPING * sources.iter().map(|&source| passed[source as usize]).sum::<f64>()
        });
        let next: Vec<f64> = next.collect();
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change < TOLERANCE {
            break;
        }
    }
    ranks
}

/// The statistics of all documents of a commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LinkTable {
    /// Ascending.
    pub(crate) ids: Vec<String>,
    /// One for every id.
    pub(crate) statistics: Vec<LinkStatistics>,
}

impl LinkTable {
    /// The statistics of a document.
    pub(crate) fn get(&self, id: &str) -> Option<LinkStatistics> {
        let at = self.ids.binary_search_by(|known| known.as_str().cmp(id)).ok()?;
        Some(self.statistics[at])
    }
}

/// The file with the statistics of a commit. It stays readable when a later commit removes it.
#[derive(Debug)]
pub(crate) struct LinkFile {
    path: PathBuf,
    file: File,
}

impl LinkFile {
    pub(crate) fn open(path: &Path) -> Result<LinkFile> {
        let file = File::open(path).map_err(|source| Error::io("open", path, source))?;
        Ok(LinkFile { path: path.to_owned(), file })
    }

    /// The statistics of all documents, and the graph.
    pub(crate) fn load(&self) -> Result<(LinkTable, Graph)> {
        let (mut file, mut bytes) = (&self.file, Vec::new());
        let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
        read.map_err(|source| Error::io("read", &self.path, source))?;
        decode(&self.path, &bytes)
    }
}

/// A file: the statistics of all documents, then the graph.
pub(crate) fn encode(graph: &Graph, table: &LinkTable) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    put(&mut bytes, table.ids.len());
    for (id, statistics) in table.ids.iter().zip(&table.statistics) {
        put_text(&mut bytes, id);
        bytes.extend(statistics.in_links.to_le_bytes());
        bytes.extend(statistics.out_links.to_le_bytes());
        bytes.extend(statistics.page_rank.to_le_bytes());
    }
    for number in graph.documents() {
        let targets = graph.targets_of(number);
        put(&mut bytes, targets.len());
        targets.iter().for_each(|&target| put_text(&mut bytes, &graph.names[target as usize]));
    }
    compress(&bytes).map_err(|source| Error::io("compress", "links", source))
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1)?;
    encoder.include_checksum(true)?;
    std::io::Write::write_all(&mut encoder, bytes)?;
    encoder.finish()
}

/// The statistics of a file, and the graph.
fn decode(path: &Path, file: &[u8]) -> Result<(LinkTable, Graph)> {
    let bytes = zstd::decode_all(file).map_err(|error| damaged(path, &error.to_string()))?;
    let mut rest = bytes.as_slice();
    read(&mut rest).ok_or_else(|| damaged(path, "it ends too early"))
}

fn damaged(path: &Path, why: &str) -> Error {
    Error::data(format!("{} is damaged: {why}; index the documents again", path.display()))
}

fn read(rest: &mut &[u8]) -> Option<(LinkTable, Graph)> {
    let count = take_number(rest)?;
    let mut table = LinkTable::default();
    for _ in 0..count {
        table.ids.push(take_text(rest)?);
        table.statistics.push(LinkStatistics {
            in_links: u32::from_le_bytes(take(rest)?),
            out_links: u32::from_le_bytes(take(rest)?),
            page_rank: f64::from_le_bytes(take(rest)?),
        });
    }
    let mut graph = Graph::default();
    for id in &table.ids {
        let targets = (0..take_number(rest)?).map(|_| take_text(rest)).collect::<Option<Vec<String>>>()?;
        graph.insert(id, &targets);
    }
    rest.is_empty().then_some((table, graph))
}

fn put(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u32).to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len());
    bytes.extend(text.as_bytes());
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_le_bytes)
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let length = take_number(rest)? as usize;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(documents: &[(&str, &[&str])]) -> Graph {
        let mut graph = Graph::default();
        for (id, links) in documents {
            let links: Vec<String> = links.iter().map(|&link| link.to_owned()).collect();
            graph.insert(id, &links);
        }
        graph
    }

    /// By hand: of a → b, a → c, b → c, with d = .85 and n = 3. c has no links, so its rank goes to all.
    /// a = .05 + .85 c / 3; b = a + .425 a; c = a + .425 a + .85 b, and a + b + c = 1.
    /// So b = 1.425 a, c = 1.425 a + 1.21125 a = 2.63625 a, and a = 1 / 5.06125.
    #[test]
    fn a_small_graph_solved_by_hand() {
        let (table, unknown) =
            graph(&[("b", &["c"]), ("c", &[]), ("a", &["c", "b", "x", "a", "c"])]).statistics();
        assert_eq!(table.ids, ["a", "b", "c"]);
        assert_eq!(unknown, 1);
        let [a, b, c] = [0, 1, 2].map(|at| table.statistics[at]);
        assert_eq!(
            (a.in_links, a.out_links, b.in_links, b.out_links, c.in_links, c.out_links),
            (0, 2, 1, 1, 2, 0)
        );
        for (found, expected) in [(a, 1.0), (b, 1.425), (c, 2.63625)] {
            assert!((found.page_rank - expected / 5.06125).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(table.get("b"), Some(b));
        assert_eq!(table.get("x"), None);
    }

    #[test]
    fn a_removed_document_is_an_unknown_id_and_may_come_back() {
        let mut graph = graph(&[("a", &["b"]), ("b", &["a"])]);
        let (before, _) = graph.statistics();
        graph.remove("b");
        let (table, unknown) = graph.statistics();
        assert_eq!((table.ids.as_slice(), unknown), (["a".to_owned()].as_slice(), 1));
        assert_eq!(table.statistics, [LinkStatistics { in_links: 0, out_links: 0, page_rank: 1.0 }]);
        graph.insert("b", &["a".to_owned()]);
        assert_eq!(graph.statistics().0, before);
        assert_eq!(Graph::default().statistics(), (LinkTable::default(), 0));
    }

    /// The stationary distribution by repeated multiplication with the dense matrix.
    fn dense(n: usize, links: &[(usize, usize)]) -> Vec<f64> {
        let has = |from: usize, to: usize| links.contains(&(from, to)) && from != to;
        let mut ranks = vec![1.0 / n as f64; n];
        for _ in 0..400 {
            let mut next = vec![0.0; n];
            for (from, rank) in ranks.iter().enumerate() {
                let out = (0..n).filter(|&to| has(from, to)).count() as f64;
                for (to, next) in next.iter_mut().enumerate() {
                    let followed = if out == 0.0 { 1.0 / n as f64 } else { f64::from(has(from, to)) / out };
                    *next += rank * (0.15 / n as f64 + 0.85 * followed);
                }
            }
            ranks = next;
        }
        ranks
    }

    proptest! {
        #[test]
        fn it_is_the_stationary_distribution_in_any_order(
            n in 1usize..12,
            links in prop::collection::vec((0usize..12, 0usize..14), 0..40),
            rotation in 0usize..12,
        ) {
            let name = |number: usize| format!("d{number:02}");
            let build = |order: &mut dyn Iterator<Item = usize>| {
                let mut graph = Graph::default();
                for from in order {
                    let targets: Vec<String> =
                        links.iter().filter(|link| link.0 == from).map(|link| name(link.1)).collect();
                    graph.insert(&name(from), &targets);
                }
                graph
            };
            let graph = build(&mut (0..n));
            let (table, _) = graph.statistics();
            let inside: Vec<(usize, usize)> = links.iter().copied().filter(|&(a, b)| a < n && b < n).collect();
            for (found, expected) in table.statistics.iter().zip(dense(n, &inside)) {
                prop_assert!((found.page_rank - expected).abs() < 1e-9);
            }
            let other = build(&mut (0..n).rev().map(|number| (number + rotation) % n));
            prop_assert_eq!(&other.statistics().0, &table);
            let path = Path::new("links");
            let (read, same) = decode(path, &encode(&graph, &table).unwrap()).unwrap();
            prop_assert_eq!(&read, &table);
            prop_assert_eq!(same.statistics(), graph.statistics());
        }
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let graph = graph(&[("a", &["b"]), ("b", &[])]);
        let file = encode(&graph, &graph.statistics().0).unwrap();
        for length in 0..file.len() {
            let error = decode(Path::new("x/links"), &file[..length]).unwrap_err();
            assert!(error.to_string().starts_with("x/links is damaged"), "{error}");
        }
        let mut flipped = file.clone();
        flipped[file.len() / 2] ^= 1;
        assert!(decode(Path::new("x/links"), &flipped).is_err());
    }
}
