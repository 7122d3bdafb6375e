// SPDX-License-Identifier: MIT
// The samples of a recording for fixtures/check.py, by the crate linux-perf-data: of Debian's librust-linux-perf-data-dev, or another.
use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};

fn put(line: &mut String, name: &str, value: Option<impl ToString>) {
    if let Some(value) = value {
        line.push_str(&format!(", \"{name}\": {}", value.to_string()));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read-samples FILE")?;
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file)?;
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        let EventRecord::Sample(s) = record.parse()? else { continue };
        let mut line = String::from("{\"type\": \"SAMPLE\"");
        put(&mut line, "ip", s.ip);
        put(&mut line, "pid", s.pid);
        put(&mut line, "tid", s.tid);
        put(&mut line, "time", s.timestamp);
        put(&mut line, "cpu", s.cpu);
        put(&mut line, "period", s.period);
        put(&mut line, "addr", s.addr);
        put(&mut line, "id", s.id);
        println!("{line}}}");
    }
    Ok(())
}
