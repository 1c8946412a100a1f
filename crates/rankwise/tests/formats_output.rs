//! Files are written completely or not at all.

use rankwise::data::{AtomicFile, check_writable, read_scores, temporary_path, write_scores};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_committed_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.put(b"new").unwrap();
    assert!(temporary_path(&path).exists());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    drop(file);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("old", 1));
    let mut file = AtomicFile::create(&path).unwrap();
    file.put(b"new").unwrap();
    file.commit().unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
}

#[test]
fn a_file_left_by_a_killed_process_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(temporary_path(&path), "left over and longer").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.put(b"new").unwrap();
    file.commit().unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
}

#[test]
fn the_extension_decides_the_compression() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"0.125\n".repeat(1000);
    for (name, unpack) in [
        (
            "a.gz",
            (|b| {
                let mut text = Vec::new();
                flate2::read::GzDecoder::new(&b[..]).read_to_end(&mut text).unwrap();
                text
            }) as fn(Vec<u8>) -> Vec<u8>,
        ),
        ("a.txt.ZST", |b| zstd::decode_all(&b[..]).unwrap()),
        ("a.txt", |b| b),
    ] {
        let path = folder.path().join(name);
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(&text).unwrap();
        file.flush().unwrap();
        file.commit().unwrap();
        assert_eq!(unpack(fs::read(&path).unwrap()), text, "{name}");
        assert_eq!(read_scores(&path, 1000).unwrap(), vec![0.125; 1000]);
    }
}

#[test]
fn errors_name_the_path_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |path: &Path| write_scores(path, &[1.0]).unwrap_err().to_string();
    let missing = folder.path().join("none/out.txt");
    assert_eq!(
        refusal(&missing),
        format!(
            "cannot write {}: the folder {} does not exist",
            missing.display(),
            missing.parent().unwrap().display()
        )
    );
    let here = folder.path();
    assert_eq!(refusal(here), format!("cannot write {}: it is a directory", here.display()));
    let locked = here.join("locked.txt");
    fs::write(&locked, "old").unwrap();
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).unwrap();
    assert_eq!(refusal(&locked), format!("cannot write {}: the file is read-only", locked.display()));
    assert_eq!(refusal(Path::new("")), "cannot write : the name is empty");
    assert_eq!(names(here), ["locked.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn special_files_are_written_directly() {
    write_scores(Path::new("/dev/null"), &[1.0]).unwrap();
    let error = write_scores(Path::new("/dev/full"), &[1.0]).unwrap_err();
    assert!(error.to_string().starts_with("cannot write /dev/full: No space left on device"), "{error}");
    assert_eq!(error.kind(), rankwise::ErrorKind::Io);
    let many = vec![0.1; 1 << 20];
    assert!(write_scores(Path::new("/dev/full"), &many).is_err());
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.txt"), folder.path().join("link.txt"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.txt", &link).unwrap();
    write_scores(&link, &[2.0]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "2\n");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_does_not_exist_yet_is_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let link = folder.path().join("link.txt");
    symlink("middle.txt", &link).unwrap();
    symlink("sub/real.txt", folder.path().join("middle.txt")).unwrap();
    write_scores(&link, &[2.0]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.path().join("sub/real.txt")).unwrap(), "2\n");
}

#[test]
fn what_killed_processes_left_is_removed_and_what_others_write_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [".out.txt.1.tmp", ".out.txt.99999999.tmp", ".out.txt.x.tmp", ".other.txt.7.tmp"] {
        fs::write(at(name), "left").unwrap();
    }
    let in_use = fs::File::create(at(".out.txt.2.tmp")).unwrap();
    in_use.lock().unwrap();
    write_scores(&at("out.txt"), &[1.0]).unwrap();
    assert_eq!(names(folder.path()), [".other.txt.7.tmp", ".out.txt.2.tmp", ".out.txt.x.tmp", "out.txt"]);
}

#[test]
fn a_path_can_be_checked_before_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    check_writable(&folder.path().join("m.json.zst")).unwrap();
    check_writable(Path::new("-")).unwrap();
    let refusal = |name: &str| check_writable(&folder.path().join(name)).unwrap_err().to_string();
    assert!(refusal("none/m.json").contains("does not exist"));
    assert!(refusal("m.json.bz2").contains("only .gz and .zst compress a file"));
    assert!(names(folder.path()).is_empty());
}
