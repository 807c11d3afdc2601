// SPDX-License-Identifier: MIT
//! The crate jieba-rs: UTF-8 text into words, by the same dictionary as pagededup's.  Arguments: INPUT OUTPUT [hmm].
//! Writes the number of words to OUTPUT.  Without `hmm` words are those of the dictionary, as pagededup's are.
use jieba_rs::Jieba;

extern "C" {
    fn clock() -> std::ffi::c_long; // user and system of all threads, in millionths of a second on POSIX systems
}

const PASSES: u32 = 20;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&arguments[0])?;
    let hmm = arguments.get(2).is_some();
    let jieba = Jieba::new();
    let started = unsafe { clock() };
    let mut words = 0;
    for _ in 0..PASSES {
        words = jieba.cut(&text, hmm).len();
    }
    let seconds = unsafe { clock() - started } as f64 / 1e6 / PASSES as f64;
    std::fs::write(&arguments[1], format!("{words} words\n"))?;
    println!("{{\"cpu_seconds\": {seconds:.6}}}");
    Ok(())
}
