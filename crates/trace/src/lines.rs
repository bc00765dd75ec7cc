//! Lines of a plain or compressed file, read in constant memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Size of the read buffer.
const CHUNK: usize = 1 << 18;

/// Maximum length of a line.
const LONGEST: usize = 1 << 16;

/// Reads a file line by line, or record by record. Compression (gzip, zstd, bzip2) is detected by magic number.
pub struct Lines {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    start: usize,
    end: usize,
    /// Size of a record, where the file has records instead of lines.
    record: Option<usize>,
    /// Number of the current line or record, counted from one.
    pub number: u64,
}

/// A line without its newline, and whether it had one.
pub type Line<'l> = (&'l [u8], bool);

impl Lines {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !std::fs::metadata(path)?.is_file() {
            // A trace is read more than once; a pipe can be read only once.
            return Err(io::Error::other("not a regular file; save the trace to a file first"));
        }
        let mut file = File::open(path)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut file).take(4).read_to_end(&mut magic)?;
        let whole = io::Cursor::new(magic.clone()).chain(file);
        let source: Box<dyn Read + Send> = match &magic[..] {
            [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(whole)?),
            [b'B', b'Z', b'h', ..] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
            _ => Box::new(whole),
        };
        let mut lines = Self { source, buffer: vec![0; CHUNK], start: 0, end: 0, record: None, number: 0 };
        lines.skip_byte_order_mark()?;
        Ok(lines)
    }

    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        while self.end < 3 && self.fill()? > 0 {}
        self.start = if self.buffer[..self.end].starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
        Ok(())
    }

    /// Reads records of `size` bytes instead of lines; `None` for lines.
    pub fn in_records(self, size: Option<usize>) -> Self {
        // Records begin with the first byte, whatever it is.
        Self { record: size, start: if size.is_some() { 0 } else { self.start }, ..self }
    }

    /// The first bytes of the file, at most `most` and at most as many as the buffer holds.
    pub fn head(mut self, most: usize) -> io::Result<Vec<u8>> {
        self.start = 0;
        while self.end < most && self.fill()? > 0 {}
        Ok(self.buffer[..self.end.min(most)].to_vec())
    }

    /// The next line or record; `None` after the last.
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if let Some(size) = self.record {
            return self.next_record(size);
        }
        let mut looked = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start + looked..self.end]) {
                let begin = self.start;
                let end = begin + looked + at;
                self.start = end + 1;
                self.number += 1;
                return Ok(Some((&self.buffer[begin..end], true)));
            }
            looked = self.end - self.start;
            if looked > LONGEST {
                return Err(io::Error::other(format!(
                    "line {} is longer than {LONGEST} bytes: this is not a trace",
                    self.number + 1
                )));
            }
            if self.fill()? == 0 {
                return Ok(self.rest());
            }
        }
    }

    /// The next record; the last may be cut off.
    fn next_record(&mut self, size: usize) -> io::Result<Option<Line<'_>>> {
        while self.end - self.start < size {
            if self.fill()? == 0 {
                return Ok(self.rest());
            }
        }
        let begin = self.start;
        self.start += size;
        self.number += 1;
        Ok(Some((&self.buffer[begin..begin + size], true)))
    }

    /// Moves the unread part to the front of the buffer and reads more after it.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.inspect(|bytes| self.end += bytes),
            }
        }
    }

    /// A last line without a newline, or a last record that is cut off.
    fn rest(&mut self) -> Option<Line<'_>> {
        let begin = self.start;
        self.start = self.end;
        self.number += u64::from(begin < self.end);
        (begin < self.end).then(|| (&self.buffer[begin..self.end], false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines_of(bytes: &[u8], name: &str) -> Vec<(String, bool)> {
        let path = std::env::temp_dir().join(format!("headrace-lines-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let mut found = Vec::new();
        while let Some((line, ended)) = lines.next().unwrap() {
            found.push((String::from_utf8(line.to_vec()).unwrap(), ended));
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(lines.number, found.len() as u64);
        found
    }

    #[test]
    fn every_compression_gives_the_same_lines() {
        let text: String = (0..100_000).map(|i| format!("line {i}\n")).collect::<String>() + "no end";
        let plain = lines_of(text.as_bytes(), "plain");
        assert_eq!(plain.len(), 100_001);
        assert_eq!(plain[99_999], ("line 99999".to_owned(), true));
        assert_eq!(plain[100_000], ("no end".to_owned(), false));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip.write_all(text.as_bytes()).unwrap();
        assert_eq!(lines_of(&gzip.finish().unwrap(), "gz"), plain);
        assert_eq!(lines_of(&bzip.finish().unwrap(), "bz2"), plain);
        assert_eq!(lines_of(&zstd::encode_all(text.as_bytes(), 1).unwrap(), "zst"), plain);
    }

    #[test]
    fn records_begin_with_the_first_byte_and_the_last_may_be_cut_off() {
        let path = std::env::temp_dir().join(format!("headrace-records-{}", std::process::id()));
        std::fs::write(&path, [0xef, 0xbb, 0xbf, b'\n', 4, 5, 6]).unwrap();
        assert_eq!(Lines::open(&path).unwrap().head(5).unwrap(), [0xef, 0xbb, 0xbf, b'\n', 4]);
        let mut records = Lines::open(&path).unwrap().in_records(Some(4));
        assert_eq!(records.next().unwrap(), Some((&[0xef, 0xbb, 0xbf, b'\n'][..], true)));
        assert_eq!(records.next().unwrap(), Some((&[4, 5, 6][..], false)));
        assert_eq!(records.next().unwrap(), None);
        assert_eq!(records.number, 2);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_without_lines_is_refused_in_constant_memory() {
        let path = std::env::temp_dir().join(format!("headrace-lines-{}-zeros", std::process::id()));
        std::fs::write(&path, vec![0; 1 << 20]).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        assert!(lines.next().unwrap_err().to_string().contains("not a trace"));
        std::fs::remove_file(&path).unwrap();
    }
}
