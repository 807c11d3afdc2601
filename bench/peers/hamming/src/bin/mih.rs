// SPDX-License-Identifier: MIT
//! The crate mih-rs: multi-index hashing, exact.  Every key is looked for in an index of all.  Arguments: INPUT OUTPUT K.
use mih_rs::Index;

fn find(keys: &[u64], k: usize, _arguments: &[String]) -> Vec<(usize, usize)> {
    let index = Index::new(keys.to_vec()).expect("an index");
    let mut searcher = index.range_searcher();
    let mut pairs = vec![];
    for (a, &key) in keys.iter().enumerate() {
        let near = searcher.run(key, k).iter().map(|&b| b as usize).filter(|&b| a < b);
        pairs.extend(near.map(|b| (a, b)));
    }
    pairs
}

fn main() -> std::io::Result<()> {
    hamming_peers::measure(find)
}
