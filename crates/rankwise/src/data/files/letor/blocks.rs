//! Text in blocks of whole lines.

use crate::data::files::source::Source;
use crate::error::{Error, Result};
use std::io::Read;

/// The longest line: room for every feature allowed, but not for endless decompressed data without line ends.
const LONGEST_LINE: usize = 1 << 29;

/// The first block is small, because many files are.
const FIRST_BLOCK_BYTES: usize = 1 << 14;

/// Some editors write it at the start of UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Splits the text of one source into blocks.
pub(super) struct Blocks {
    source: Source,
    block_bytes: usize,
    /// The start of a line that continues in the next block.
    carry: Vec<u8>,
    started: bool,
    ended: bool,
    /// The error that ended reading; it is reported after the lines before it.
    failure: Option<Error>,
}

/// A buffer that keeps its memory: `bytes[..used]` is the text.
#[derive(Debug, Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    used: usize,
}

impl Block {
    /// The lines with their line feeds; the last line of a file may have none.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

impl Blocks {
    /// Blocks of about `block_bytes`; larger ones only for long lines.
    pub(super) fn new(source: Source, block_bytes: usize) -> Self {
        Blocks {
            source,
            // Longer than the byte order mark, which is removed from the first block.
            block_bytes: block_bytes.max(8),
            carry: Vec::new(),
            started: false,
            ended: false,
            failure: None,
        }
    }

    /// The file's name, for messages.
    pub(super) fn name(&self) -> &str {
        self.source.origin().name()
    }

    /// Fills `block` with the next lines; `false` if there are none.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<bool> {
        block.used = 0;
        if self.ended {
            return self.failure.take().map_or(Ok(false), Err);
        }
        let wanted = if self.started { self.block_bytes } else { self.block_bytes.min(FIRST_BLOCK_BYTES) };
        block.bytes.resize(wanted.max(self.carry.len() + 1), 0);
        block.bytes[..self.carry.len()].copy_from_slice(&self.carry);
        block.used = self.carry.len();
        self.carry.clear();
        loop {
            let searched = block.used;
            self.fill(block);
            if !std::mem::replace(&mut self.started, true) && block.text().starts_with(BYTE_ORDER_MARK) {
                block.bytes.drain(..BYTE_ORDER_MARK.len());
                block.used -= BYTE_ORDER_MARK.len();
            }
            if self.ended && self.failure.is_none() {
                return Ok(block.used > 0);
            }
            if let Some(last) = memchr::memrchr(b'\n', &block.bytes[searched..block.used]) {
                let end = searched + last + 1;
                self.carry.extend_from_slice(&block.bytes[end..block.used]);
                block.used = end;
                return Ok(true);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if block.used >= LONGEST_LINE {
                return Err(self.line_too_long());
            }
            block.bytes.resize(2 * block.bytes.len(), 0);
        }
    }

    /// Reads until the buffer is full or the source has ended.
    fn fill(&mut self, block: &mut Block) {
        while block.used < block.bytes.len() && !self.ended {
            match self.source.read(&mut block.bytes[block.used..]) {
                Ok(0) => self.ended = true,
                Ok(n) => block.used += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.ended = true;
                    self.failure = Some(self.source.origin().read_error(e));
                }
            }
        }
    }

    fn line_too_long(&self) -> Error {
        let megabytes = LONGEST_LINE >> 20;
        Error::malformed(format!(
            "{} has a line of more than {megabytes} MiB, so it is not LETOR text",
            self.name()
        ))
    }
}
