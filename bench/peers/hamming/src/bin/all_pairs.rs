// SPDX-License-Identifier: MIT
//! The crate all-pairs-hamming: sketch sorting, exact.  Arguments: INPUT OUTPUT K CHUNK, chunks of CHUNK bits.
use all_pairs_hamming::sketch::Sketch;
use all_pairs_hamming::ChunkedJoiner;

fn join<S: Sketch>(keys: &[u64], k: usize, cut: impl Fn(u64) -> Vec<S>) -> Vec<(usize, usize)> {
    let mut joiner = ChunkedJoiner::<S>::new(cut(0).len());
    for &key in keys {
        joiner.add(cut(key)).expect("as many chunks as were asked for");
    }
    joiner.similar_pairs(k as f64 / 64.0).into_iter().map(|(a, b, _)| (a, b)).collect()
}

fn find(keys: &[u64], k: usize, arguments: &[String]) -> Vec<(usize, usize)> {
    match arguments[0].as_str() {
        "16" => join(keys, k, |key| (0..4).map(|i| (key >> (16 * i)) as u16).collect()),
        "32" => join(keys, k, |key| vec![key as u32, (key >> 32) as u32]),
        _ => join(keys, k, |key| vec![key]),
    }
}

fn main() -> std::io::Result<()> {
    hamming_peers::measure(find)
}
