//! The fingerprint of a data set.

use super::{Dataset, Features};
use xxhash_rust::xxh3::Xxh3;

impl Dataset {
    /// A fingerprint of everything that learning looks at: features, labels, queries, their weights, and categories.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        let mut put = |bytes: &[u8]| hash.update(bytes);
        for bound in self.bounds() {
            put(&(*bound as u64).to_le_bytes());
        }
        for query in self.queries() {
            put(&query.weight().to_le_bytes());
        }
        let mut bytes = vec![0; 1 << 16];
        for values in [self.labels(), self.parts().features.values()] {
            for chunk in values.chunks(1 << 14) {
                let bytes = &mut bytes[..4 * chunk.len()];
                // A plain copy for the compiler, where collecting an iterator of bytes is not.
                bytes.as_chunks_mut::<4>().0.iter_mut().zip(chunk).for_each(|(to, x)| *to = x.to_le_bytes());
                put(bytes);
            }
        }
        if let Features::Sparse { starts, columns, .. } = &self.parts().features {
            starts.iter().for_each(|s| put(&(*s as u64).to_le_bytes()));
            columns.iter().for_each(|c| put(&c.to_le_bytes()));
        }
        if self.has_categories() {
            put(&serde_json::to_vec(&self.columns().categories).expect("categories are plain data"));
        }
        format!("xxh3:{:016x}:{}", hash.digest(), self.width())
    }
}
