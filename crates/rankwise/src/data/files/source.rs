//! Input bytes: a file or standard input, plain or compressed. The compression is recognised by the first bytes.

use crate::error::{Error, Place, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// Size of the read buffer.
const FETCH_BYTES: usize = 1 << 17;

/// An open source of decompressed bytes. It is slow for small reads: read 64 KiB or more at a time, or wrap it.
pub struct Source {
    origin: Origin,
    reader: Box<dyn Read + Send>,
}

/// The name and compression of a [`Source`], for messages.
#[derive(Debug, Clone)]
pub struct Origin {
    name: Arc<str>,
    packing: Packing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Source {
    /// Opens the file at `path`; `-` is standard input.
    pub fn open(path: &Path) -> Result<Source> {
        if path.as_os_str() == "-" {
            return Source::new("<stdin>", io::stdin());
        }
        if path.is_dir() {
            let refusal = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            return Err(Error::io("read", path, refusal));
        }
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        Source::new(&path.display().to_string(), file)
    }

    /// A source that decompresses `reader` if it is compressed.
    pub fn new(name: &str, reader: impl Read + Send + 'static) -> Result<Source> {
        let mut reader = BufReader::with_capacity(FETCH_BYTES, reader);
        let mut origin = Origin { name: name.into(), packing: Packing::Plain };
        let (start, packing) = first_bytes(&mut reader).map_err(|e| origin.read_error(e))?;
        if let Some(what) = unreadable(&start) {
            return Err(Error::malformed(format!("{name} is {what}")));
        }
        origin.packing = packing;
        let whole = io::Cursor::new(start).chain(reader);
        let reader: Box<dyn Read + Send> = match packing {
            Packing::Plain => Box::new(whole),
            Packing::Gzip => Box::new(GzipMembers::new(whole)),
            Packing::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(whole);
                Box::new(decoder.map_err(|e| origin.read_error(e))?)
            }
        };
        Ok(Source { origin, reader })
    }

    /// The first `length` bytes, or all if there are fewer, and the same source, which still begins with them.
    pub fn peek(mut self, length: u64) -> Result<(Vec<u8>, Source)> {
        let mut head = Vec::new();
        self.reader.by_ref().take(length).read_to_end(&mut head).map_err(|e| self.origin.read_error(e))?;
        let reader = Box::new(io::Cursor::new(head.clone()).chain(self.reader));
        Ok((head, Source { origin: self.origin, reader }))
    }

    /// The name and compression of this source.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Origin {
    /// The file as the user named it, or `<stdin>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A place in this source.
    pub(super) fn place(&self, line: u64, column: usize) -> Place {
        Place { file: self.name.to_string(), line, column: column as u64 }
    }

    /// The error for a failed read: an error of the operating system, or compressed data that is truncated or damaged.
    pub fn read_error(&self, error: io::Error) -> Error {
        let packing = match self.packing {
            _ if error.raw_os_error().is_some() => return Error::io("read", self.name(), error),
            Packing::Plain => return Error::io("read", self.name(), error),
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        let name = &self.name;
        if error.get_ref().is_some_and(|inner| inner.is::<TrailingBytes>()) {
            return Error::malformed(format!(
                "{name} has other bytes after its {packing} data; remove them, or compress the file again"
            ));
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Error::malformed(format!(
                "{name} is truncated {packing} data; it may not have been copied or written completely"
            ));
        }
        Error::malformed(format!("{name} is damaged {packing} data: {error}"))
    }
}

/// The first bytes, at most 4, which must be read again, and the compression they indicate.
fn first_bytes(reader: &mut impl BufRead) -> io::Result<(Vec<u8>, Packing)> {
    let mut start = Vec::new();
    reader.take(4).read_to_end(&mut start)?;
    let packing = match start[..] {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
        // A skippable frame may come before the data.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Packing::Zstd,
        _ => Packing::Plain,
    };
    Ok((start, packing))
}

/// What a file is that cannot be read, and the way out, if its first bytes show it.
fn unreadable(start: &[u8]) -> Option<&'static str> {
    let is_text = |b: u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    match *start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16 text; save it as UTF-8"),
        [a, 0, b, 0] | [0, a, 0, b] if is_text(a) && is_text(b) => Some("UTF-16 text; save it as UTF-8"),
        [b'B', b'Z', b'h', b'1'..=b'9'] => {
            Some("compressed with bzip2; compress it with gzip or zstd instead")
        }
        [0xfd, b'7', b'z', b'X'] => Some("compressed with xz; compress it with gzip or zstd instead"),
        [b'P', b'K', 3, 4] => Some("a zip archive or a spreadsheet; extract it, or save the table as CSV"),
        _ => None,
    }
}

/// The error of bytes that follow compressed data and belong to nothing.
#[derive(Debug)]
struct TrailingBytes;

impl std::fmt::Display for TrailingBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bytes after the end of the compressed data")
    }
}

impl std::error::Error for TrailingBytes {}

/// The members of a gzip file, one after the other. Zeros after the last are padding.
struct GzipMembers<R: BufRead>(Option<flate2::bufread::GzDecoder<R>>);

impl<R: BufRead> GzipMembers<R> {
    fn new(reader: R) -> Self {
        GzipMembers(Some(flate2::bufread::GzDecoder::new(reader)))
    }

    /// Starts the next member, if there is one.
    fn advance(&mut self) -> io::Result<()> {
        let Some(decoder) = self.0.take() else { return Ok(()) };
        let mut reader = decoder.into_inner();
        match reader.fill_buf()?.first() {
            None => {}
            Some(0x1f) => *self = GzipMembers::new(reader),
            Some(0) => skip_zeros(reader)?,
            Some(_) => return Err(io::Error::other(TrailingBytes)),
        }
        Ok(())
    }
}

fn skip_zeros(mut reader: impl BufRead) -> io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        match (bytes.len(), bytes.iter().all(|&b| b == 0)) {
            (0, _) => return Ok(()),
            (length, true) => reader.consume(length),
            (_, false) => return Err(io::Error::other(TrailingBytes)),
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.0 {
            match decoder.read(buffer)? {
                0 if !buffer.is_empty() => self.advance()?,
                n => return Ok(n),
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).unwrap()
    }

    fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>> {
        let mut source = Source::new("x", io::Cursor::new(bytes))?;
        let mut out = Vec::new();
        source.read_to_end(&mut out).map_err(|e| source.origin().read_error(e))?;
        Ok(out)
    }

    #[test]
    fn compression_is_recognised_and_members_are_joined() {
        for text in [&b""[..], b"1", b"0 qid:1 1:2\n"] {
            assert_eq!(unpacked(text.to_vec()).unwrap(), text);
            assert_eq!(unpacked(gzip(text)).unwrap(), text);
            assert_eq!(unpacked(zstd(text)).unwrap(), text);
        }
        assert_eq!(unpacked([gzip(b"ab"), gzip(b"cd")].concat()).unwrap(), b"abcd");
        assert_eq!(unpacked([zstd(b"ab"), zstd(b"cd")].concat()).unwrap(), b"abcd");
        let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(b"ab")].concat();
        assert_eq!(unpacked(skippable).unwrap(), b"ab");
    }

    #[test]
    fn truncated_and_damaged_data_have_different_messages() {
        let text: Vec<u8> =
            (0..10_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstd, "zstd")] {
            let packed = pack(&text);
            let short = unpacked(packed[..packed.len() / 2].to_vec()).unwrap_err().to_string();
            assert!(short.starts_with(&format!("x is truncated {name} data")), "{short}");
            let mut damaged = packed;
            damaged[4..40].fill(0xff);
            let damaged = unpacked(damaged).unwrap_err().to_string();
            assert!(damaged.starts_with(&format!("x is damaged {name} data")), "{damaged}");
        }
    }

    #[test]
    fn bytes_after_gzip_data_are_named_and_zeros_are_padding() {
        let followed = |bytes: &[u8]| unpacked([&gzip(b"ab"), bytes].concat());
        for junk in [&b"x"[..], b"trailing", b"\0\0x"] {
            let error = followed(junk).unwrap_err().to_string();
            assert!(error.starts_with("x has other bytes after its gzip data"), "{error}");
        }
        assert_eq!(followed(&[0; 100]).unwrap(), b"ab");
    }

    #[test]
    fn files_that_cannot_be_read_are_named_with_a_way_out() {
        let utf16 = |mark: &[u8], text: &str| {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            mark.iter().copied().chain(units).collect::<Vec<u8>>()
        };
        for (bytes, expected) in [
            (utf16(b"\xff\xfe", "1 qid:1 1:2\n"), "x is UTF-16 text; save it as UTF-8"),
            (utf16(b"", "label,qid,a\n"), "x is UTF-16 text; save it as UTF-8"),
            (b"BZh91AY&SY".to_vec(), "x is compressed with bzip2"),
            (b"\xfd7zXZ\0".to_vec(), "x is compressed with xz"),
            (b"PK\x03\x04\x14".to_vec(), "x is a zip archive or a spreadsheet"),
        ] {
            let error = unpacked(bytes).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Source::open(Path::new("no/such/file.txt")).err().unwrap();
        assert!(error.to_string().starts_with("cannot open no/such/file.txt: "));
    }
}
