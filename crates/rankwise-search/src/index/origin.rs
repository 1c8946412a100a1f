//! Where the documents that were added come from, in few bytes for each.

use rankwise::error::Place;

/// Names of this many files are kept. A folder may have millions, and each of its documents is a file.
const FILES: usize = 1000;

/// Where a document comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// Its number among the documents that were added since the last commit.
    Number(u64),
    /// A line of a file.
    Line(u64, u32),
}

/// The files that documents come from.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<String>);

impl Files {
    /// The origin of the document with this number.
    pub(crate) fn origin(&mut self, place: Option<&Place>, number: u64) -> Origin {
        let Some(place) = place else { return Origin::Number(number) };
        if self.0.last() != Some(&place.file) {
            if self.0.len() == FILES {
                return Origin::Number(number);
            }
            self.0.push(place.file.clone());
        }
        Origin::Line(place.line, self.0.len() as u32 - 1)
    }

    /// The origin in words.
    pub(crate) fn shown(&self, origin: Origin) -> String {
        match origin {
            Origin::Number(number) => {
                format!("number {number} of those that were added since the last commit")
            }
            Origin::Line(line, file) => format!("at {}:{line}", self.0[file as usize]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_takes_no_more_memory_than_a_number_beside_a_key() {
        assert_eq!(size_of::<(u128, Origin)>(), size_of::<(u128, u64)>());
    }

    #[test]
    fn names_of_many_files_are_not_kept() {
        let place = |file: usize| Place { file: file.to_string(), line: 7, column: 1 };
        let mut files = Files::default();
        let origins: Vec<Origin> =
            (0..2 * FILES).map(|file| files.origin(Some(&place(file)), file as u64 + 1)).collect();
        assert_eq!(files.shown(origins[FILES - 1]), "at 999:7");
        assert!(files.shown(origins[FILES]).starts_with("number 1001 of"));
        assert_eq!(files.0.len(), FILES);
    }
}
