// SPDX-License-Identifier: MIT
//! What the drivers share: fp rows with fingerprints of 64 bits in, rows of id, id, distance out, CPU seconds counted
//! from after the reading to after the writing.
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

extern "C" {
    fn clock() -> std::ffi::c_long; // user and system of all threads, in millionths of a second on POSIX systems
}

fn cpu_seconds() -> f64 {
    unsafe { clock() as f64 / 1e6 }
}

pub struct Rows {
    pub keys: Vec<u64>,
    pub ids: Vec<String>,
}

fn read(path: &str) -> std::io::Result<Rows> {
    let mut rows = Rows { keys: vec![], ids: vec![] };
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        if line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let key = columns.next().and_then(|c| u64::from_str_radix(c, 16).ok()).expect("a fingerprint of 64 bits");
        rows.keys.push(key);
        rows.ids.push(columns.next().expect("an id").to_string());
    }
    Ok(rows)
}

fn write(path: &str, rows: &Rows, pairs: &[(usize, usize)]) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for &(a, b) in pairs {
        let distance = (rows.keys[a] ^ rows.keys[b]).count_ones();
        writeln!(out, "{}\t{}\t{}", rows.ids[a], rows.ids[b], distance)?;
    }
    out.flush()
}

/// Runs `find` on the rows of the command line, INPUT OUTPUT K [ARGUMENT…], and prints what it took.
pub fn measure(find: fn(&[u64], usize, &[String]) -> Vec<(usize, usize)>) -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = read(&arguments[0])?;
    let started = cpu_seconds();
    let pairs = find(&rows.keys, arguments[2].parse().expect("a distance"), &arguments[3..]);
    write(&arguments[1], &rows, &pairs)?;
    println!("{{\"cpu_seconds\": {:.4}, \"pairs\": {}}}", cpu_seconds() - started, pairs.len());
    Ok(())
}
