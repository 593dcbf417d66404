//! Measures ada and rust-url on the URLs of a file, one a line. For each line
//! on stdin it makes one pass with each library and prints the two times in
//! nanoseconds per URL, so that the caller can interleave it with other peers.

use std::io::{BufRead, Write};
use std::time::Instant;

fn main() {
    let path = std::env::args().nth(1).expect("usage: urlfold-bench-rust FILE");
    let bytes = std::fs::read(path).expect("cannot read the file");
    let text = String::from_utf8_lossy(&bytes);
    let urls: Vec<&str> = text.lines().collect();
    let stdin = std::io::stdin();
    let mut stdout = std::io::stdout();
    for line in stdin.lock().lines() {
        let passes: usize = line.expect("stdin").trim().parse().expect("a number of passes");
        let ada = time(&urls, passes, |u| ada_url::Url::parse(u, None).map_or(0, |u| u.href().len()));
        let rust = time(&urls, passes, |u| url::Url::parse(u).map_or(0, |u| u.as_str().len()));
        writeln!(stdout, "{ada} {rust}").expect("stdout");
        stdout.flush().expect("stdout");
    }
}

/// Returns the nanoseconds per URL of `job`.
fn time(urls: &[&str], passes: usize, job: impl Fn(&str) -> usize) -> f64 {
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..passes {
        for u in urls {
            sum += job(u);
        }
    }
    std::hint::black_box(sum);
    start.elapsed().as_nanos() as f64 / (passes * urls.len()) as f64
}
