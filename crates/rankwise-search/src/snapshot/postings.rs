//! Reading postings in order, a window of documents at a time.

use tantivy::TERMINATED;
use tantivy::postings::BlockSegmentPostings;

/// Documents in a window: the accumulators of one stay in the first-level cache.
pub(crate) const WINDOW: u32 = 4096;

/// The postings of a term in one segment: those of one field, or of several fields as if they were one.
pub(crate) struct TermCursor {
    fields: Vec<FieldCursor>,
}

/// The postings of a term in one field, and what an occurrence there counts.
pub(crate) struct FieldCursor {
    postings: BlockSegmentPostings,
    /// The place in the current block.
    at: usize,
    weight: f64,
}

/// The documents of a term in a window and its weighted frequency in each, ascending.
#[derive(Default)]
pub(crate) struct TermWindow {
    pub(crate) documents: Vec<u32>,
    pub(crate) frequencies: Vec<f64>,
    /// Sums of fields by document of the window; all 0 between calls.
    sums: Vec<f64>,
    seen: Bits,
}

impl FieldCursor {
    pub(crate) fn new(postings: BlockSegmentPostings, weight: f64) -> FieldCursor {
        FieldCursor { postings, at: 0, weight }
    }

    /// The document it stands at, or [`TERMINATED`].
    fn document(&self) -> u32 {
        if self.postings.block_len() == 0 { TERMINATED } else { self.postings.doc(self.at) }
    }

    /// Calls `take` with the documents before `end` and their frequencies.
    fn drain(&mut self, end: u32, mut take: impl FnMut(u32, f64)) {
        loop {
            let documents = &self.postings.docs()[self.at..];
            let inside = match documents.last() {
                None => return,
                Some(&last) if last < end => documents.len(),
                Some(_) => documents.partition_point(|&document| document < end),
            };
            let frequencies = &self.postings.freqs()[self.at..];
            for (&document, &frequency) in documents[..inside].iter().zip(frequencies) {
                take(document, self.weight * f64::from(frequency));
            }
            self.at += inside;
            if self.at < self.postings.block_len() {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }

    fn seek(&mut self, document: u32) {
        if self.document() < document {
            self.at = self.postings.seek(document);
            if self.at >= self.postings.block_len() && self.postings.block_len() > 0 {
                self.postings.advance();
                self.at = 0;
            }
        }
    }
}

impl TermCursor {
    pub(crate) fn new(fields: Vec<FieldCursor>) -> TermCursor {
        TermCursor { fields }
    }

    /// The next document, or [`TERMINATED`].
    pub(crate) fn document(&self) -> u32 {
        self.fields.iter().map(FieldCursor::document).min().unwrap_or(TERMINATED)
    }

    /// Moves to the first document that is not before this one.
    pub(crate) fn seek(&mut self, document: u32) {
        self.fields.iter_mut().for_each(|field| field.seek(document));
    }

    /// Fills the window with the documents from `start` to before `end`, which are at most [`WINDOW`].
    pub(crate) fn drain(&mut self, start: u32, end: u32, window: &mut TermWindow) {
        window.documents.clear();
        window.frequencies.clear();
        match &mut self.fields[..] {
            [field] => field.drain(end, |document, frequency| {
                window.documents.push(document);
                window.frequencies.push(frequency);
            }),
            fields => {
                window.sums.resize(WINDOW as usize, 0.0);
                for field in fields {
                    field.drain(end, |document, frequency| {
                        window.sums[(document - start) as usize] += frequency;
                        window.seen.insert(document - start);
                    });
                }
                window.collect(start);
            }
        }
    }
}

impl TermWindow {
    /// Moves the sums of fields to the lists.
    fn collect(&mut self, start: u32) {
        let TermWindow { documents, frequencies, sums, seen } = self;
        seen.drain(|place| {
            documents.push(start + place);
            frequencies.push(std::mem::take(&mut sums[place as usize]));
        });
    }
}

/// A set of places in a window.
pub(crate) struct Bits([u64; (WINDOW / 64) as usize]);

impl Default for Bits {
    fn default() -> Self {
        Bits([0; (WINDOW / 64) as usize])
    }
}

impl Bits {
    pub(crate) fn insert(&mut self, place: u32) {
        self.0[(place / 64) as usize] |= 1 << (place % 64);
    }

    /// Calls `take` with every place, ascending, and empties the set.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(u32)) {
        for (word, first) in self.0.iter_mut().zip((0u32..).step_by(64)) {
            while *word != 0 {
                take(first + word.trailing_zeros());
                *word &= *word - 1;
            }
        }
    }
}
