//! Many short strings in one buffer.

/// A list of strings stored end to end, in two allocations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    buffer: String,
    ends: Vec<usize>,
}

impl Texts {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one string.
    pub fn push(&mut self, text: &str) {
        self.buffer.push_str(text);
        self.ends.push(self.buffer.len());
    }

    /// Appends all of `other`.
    pub fn append(&mut self, other: &Texts) {
        let offset = self.buffer.len();
        self.buffer.push_str(&other.buffer);
        self.ends.extend(other.ends.iter().map(|e| e + offset));
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `index`.
    ///
    /// # Panics
    /// If there is no such string.
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.buffer[start..self.ends[index]]
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.buffer.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut texts = Texts::new();
        for s in strings {
            texts.push(s.as_ref());
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_returned_as_they_were_added() {
        let mut texts: Texts = ["a", "", "qué"].into_iter().collect();
        texts.append(&["z", "yy"].into_iter().collect());
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "qué", "z", "yy"]);
    }
}
