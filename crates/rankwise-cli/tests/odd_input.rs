//! Data, arguments and file names as strangers have them: tables of pandas, mistakes and hostile files.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_rankwise");

/// A directory for one test, and commands that run in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    /// A place with `data.txt`, 12 small queries.
    fn with_data() -> Self {
        let place = Place::new();
        place.ok(&[
            "synth",
            "--shape",
            "ohsumed",
            "--queries",
            "12",
            "--documents",
            "8",
            "--features",
            "4",
            "-o",
            "data.txt",
        ]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output and standard error of a command that must succeed.
    fn both(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        assert!(output.status.success(), "rankwise {arguments:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    }

    fn ok(&self, arguments: &[&str]) -> String {
        self.both(arguments).0
    }

    /// Standard error of a command that must fail with exit code 2.
    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "rankwise {arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What `DataFrame.to_csv` writes of a table with a date, a text, truth values and a weight per document.
const PANDAS: &str = "\
,label,qid,date,in_title,weight,bm25,url
0,1,7,2024-03-01,True,2.5,13.25,https://a.example/1
1,0,7,2024-03-02,False,0.5,,https://a.example/2
2,2,8,2024-03-02,True,1.0,4.0,https://a.example/3
";

#[test]
fn a_table_of_pandas_is_read_with_its_columns_named() {
    let place = Place::new();
    place.write("p.csv", PANDAS);
    let refused = place.fails(&["stats", "p.csv"]);
    assert!(refused.contains("p.csv:2:7: expected a number or nothing in column `date`"), "{refused}");
    assert!(refused.contains("use --ignore date,url"), "{refused}");
    let weight = place.fails(&["stats", "p.csv", "--ignore", "date,url"]);
    assert!(
        weight.contains("query `7` has the weight 0.5 here but 2.5") && weight.contains("--weight ''"),
        "{weight}"
    );
    let roles = ["--ignore", "date", "--weight", "", "--docid", "url"];
    let (_, notes) = place.both(&[&["convert", "p.csv", "p.tsv"], &roles[..]].concat());
    assert!(notes.contains("the first column has no name"), "{notes}");
    let expected = "label\tqid\tdocid\tin_title\tweight\tbm25\n\
        1\t7\thttps://a.example/1\t1\t2.5\t13.25\n0\t7\thttps://a.example/2\t0\t0.5\t\n2\t8\thttps://a.example/3\t1\t1\t4\n";
    assert!(notes.contains("the feature `weight` has the name of a column that is not a feature"), "{notes}");
    assert_eq!(place.read("p.tsv"), expected);
    let only = ["convert", "p.csv", "only.csv", "--only", "bm25,in_title", "--weight", ""];
    place.ok(&only);
    assert_eq!(place.read("only.csv"), "label,qid,in_title,bm25\n1,7,1,13.25\n0,7,0,\n2,8,1,4\n");
    let wrong = place.fails(&["stats", "p.csv", "--only", "bm26"]);
    assert!(wrong.contains("no column `bm26` for a feature; did you mean `bm25`?"), "{wrong}");
}
