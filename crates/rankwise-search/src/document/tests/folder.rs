//! Files of a file system: folders, several files, compressed and broken ones.

use super::{open, shown};
use crate::document::{DocumentFormat, DocumentOptions, DocumentSummary, Documents, OnError, read_queries};
use rankwise::{Error, ErrorKind};
use std::fs;
use std::path::Path;

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn compressed_files_are_read_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.jsonl.zst", &zstd::encode_all(&b"{\"id\": 1}\n{\"id\": 2}\n"[..], 1).unwrap());
    put(folder.path(), "b.csv", b"docno,title\n3,x\n");
    let paths = ["a.jsonl.zst", "b.csv"].map(|name| folder.path().join(name));
    let documents = Documents::open(&paths, &DocumentOptions::default()).unwrap();
    let places: Vec<_> =
        documents.map(|found| found.unwrap()).map(|f| (f.document.id, f.place.line)).collect();
    assert_eq!(places, [("1".into(), 1), ("2".into(), 2), ("3".into(), 2)]);
    let packed = fs::read(&paths[0]).unwrap();
    fs::write(&paths[0], &packed[..packed.len() - 6]).unwrap();
    let options = DocumentOptions { on_error: OnError::Skip, ..DocumentOptions::default() };
    let error = Documents::open(&paths, &options).unwrap().find_map(Result::err).unwrap();
    assert!(error.to_string().contains("is truncated zstd data"), "{error}");
}

#[test]
fn missing_files_are_named_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.jsonl", b"{\"id\": 1}\n");
    let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
    let error = Documents::open(&paths, &DocumentOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("b.jsonl: No such file"), "{error}");
    assert!(Documents::open(&[] as &[&Path], &DocumentOptions::default()).is_err());
}

fn read_folder(folder: &Path) -> (Vec<String>, DocumentSummary) {
    let mut documents = Documents::open(&[folder], &DocumentOptions::default()).unwrap();
    (documents.by_ref().map(|found| shown(&found.unwrap().document)).collect(), documents.summary().clone())
}

#[test]
fn a_folder_of_files_is_read_in_the_order_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| put(folder.path(), name, bytes);
    put("b.txt", b"\xef\xbb\xbfplain\r\ntext\n");
    put("a/z.md", b"# The *title*\n\nbody\n");
    put("a/b/page.HTML", b"<title>T &lt; U</title><p>one<p>two");
    put("a.txt", b"first?");
    put("empty.txt", b"");
    put("packed.txt.zst", &zstd::encode_all(&b"unpacked"[..], 1).unwrap());
    put("image.png", b"\x89PNG");
    put("README", b"no extension");
    put(".hidden.txt", b"no");
    put(".git/x.txt", b"no");
    let (read, summary) = read_folder(folder.path());
    let expected = [
        "a.txt title=\"a.txt\" body=\"first?\"",
        "a/b/page.HTML title=\"T < U\" body=\"one\\ntwo\"",
        "a/z.md title=\"The *title*\" body=\"# The *title*\\n\\nbody\"",
        "b.txt title=\"b.txt\" body=\"plain\\r\\ntext\"",
        "empty.txt title=\"empty.txt\"",
        "packed.txt.zst title=\"packed.txt.zst\" body=\"unpacked\"",
    ];
    assert_eq!(read, expected);
    assert_eq!((summary.other_files, summary.links), (2, 0));
    assert_eq!(summary.notes(), ["2 files were left out: they are not .txt, .md or .html"]);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(outside.path(), "secret.txt", b"secret");
    put(folder.path(), "a.txt", b"a");
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link(&outside.path().join("secret.txt"), "b.txt");
    link(outside.path(), "c");
    link(folder.path(), "loop");
    let (read, summary) = read_folder(folder.path());
    assert_eq!(read, ["a.txt title=\"a.txt\" body=\"a\""]);
    assert_eq!(summary.links, 3);
    // The folder itself may be a link.
    let (read, _) = read_folder(&folder.path().join("loop"));
    assert_eq!(read.len(), 1);
}

#[test]
fn broken_files_of_a_folder_stop_or_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.txt", b"good\nb\xffad");
    put(folder.path(), "b.txt", &[b'x'; 100]);
    put(folder.path(), "c.txt", b"c");
    let mut options = DocumentOptions { longest: 50, ..DocumentOptions::default() };
    let error = Documents::open(&[folder.path()], &options).unwrap().find_map(Result::err).unwrap();
    assert!(error.to_string().ends_with("a.txt:2:2: `\u{fffd}ad` is not UTF-8 text"), "{error}");
    options.on_error = OnError::Skip;
    let mut documents = Documents::open(&[folder.path()], &options).unwrap();
    assert_eq!(documents.by_ref().map(|found| found.unwrap().document.id).collect::<Vec<_>>(), ["c.txt"]);
    assert_eq!(documents.summary().skipped, 2);
    assert!(documents.summary().messages[1].ends_with("b.txt is longer than 50 bytes"));
}

#[test]
fn a_folder_without_texts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refusal =
        || Documents::open(&[folder.path()], &DocumentOptions::default()).unwrap().find_map(Result::err);
    assert!(refusal().unwrap().to_string().ends_with(" has no documents"));
    put(folder.path(), "x.pdf", b"%PDF");
    assert!(
        refusal().unwrap().to_string().ends_with(" has no documents; its one file is not .txt, .md or .html")
    );
    let format = Some(DocumentFormat::Folder);
    let options = DocumentOptions { format, ..DocumentOptions::default() };
    let error = open("x.txt", b"a", &options).err().unwrap().to_string();
    assert_eq!(error, "x.txt is not a folder");
}

/// Every broken file of `testdata/broken/documents` is refused with the message beside it.
#[test]
fn broken_samples() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/broken/documents");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e != "expected"));
    assert!(files.len() >= 8, "only {} broken files", files.len());
    for path in files {
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
        let error: Error = match path.file_name().unwrap().to_str().unwrap().starts_with("queries") {
            true => read_queries(&path, None).unwrap_err(),
            false => {
                Documents::open(&[&path], &DocumentOptions::default()).unwrap().find_map(Result::err).unwrap()
            }
        };
        assert_eq!(error.to_string().replace(&format!("{folder}/"), ""), expected.trim_end());
    }
}
