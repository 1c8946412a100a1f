//! Writes sample reports for `browser-tests/run`: `sample_report DIRECTORY`.

mod sample;

use rankwise::experiment::report;
use sample::Sample;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: sample_report DIRECTORY")?;
    std::fs::create_dir_all(&directory)?;
    let samples = [
        ("usual", Sample::usual()),
        ("hostile", Sample::hostile()),
        ("large", Sample::large()),
        ("failed", Sample::failed()),
        ("empty", Sample::empty()),
    ];
    for (name, sample) in samples {
        let page = report::html(&sample.findings(), &sample.times());
        std::fs::write(format!("{directory}/{name}.html"), page)?;
    }
    Ok(())
}
