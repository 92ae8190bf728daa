//! Reads a model file in the GGUF format: what it says of itself, and where its tensors lie.
//!
//! The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. The file may come from anywhere: every
//! length in it is checked against the file's own before anything is made of it.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use crate::platform::os::fs::FileExt as _;

pub(crate) use crate::provider::ModelError;

/// The most metadata entries or tensors a file may claim; real ones have a few hundred.
const MOST_ENTRIES: u64 = 100_000;
/// Where tensors begin when the file does not say, in bytes.
const ALIGNMENT: u64 = 32;

/// How the numbers of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    F32,
    F16,
    /// The upper half of an `F32`.
    BF16,
    /// 32 numbers: scale, 16 × two halves.
    Q4Zero,
    /// 32 numbers: scale, minimum, 16 × two halves.
    Q4One,
    /// 32 numbers: scale, one fifth bit each, 16 × two low halves.
    Q5Zero,
    /// 32 numbers: scale, minimum, one fifth bit each, 16 × two low halves.
    Q5One,
    /// 32 numbers: scale, signed bytes.
    Q8Zero,
    /// 256 numbers of two bits, sixteen scales and minima of four.
    Q2K,
    /// 256 numbers of three bits, sixteen scales of six.
    Q3K,
    /// 256 numbers of four bits, eight scales and minima of six.
    Q4K,
    /// 256 numbers of five bits, eight scales and minima of six.
    Q5K,
    /// 256 numbers of six bits, sixteen scales of eight.
    Q6K,
}

/// What other formats are called, by their code: <https://github.com/ggml-org/llama.cpp>, `ggml.h`.
const OTHERS: &[(u32, &str)] = &[
    (9, "Q8_1"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
];

impl Format {
    /// All of them, with their codes.
    pub(crate) const ALL: [(u32, Self); 13] = [
        (0, Self::F32),
        (1, Self::F16),
        (2, Self::Q4Zero),
        (3, Self::Q4One),
        (6, Self::Q5Zero),
        (7, Self::Q5One),
        (8, Self::Q8Zero),
        (10, Self::Q2K),
        (11, Self::Q3K),
        (12, Self::Q4K),
        (13, Self::Q5K),
        (14, Self::Q6K),
        (30, Self::BF16),
    ];

    fn of(code: u32) -> Result<Self, ModelError> {
        if let Some((_, format)) = Self::ALL.iter().find(|(known, _)| *known == code) {
            return Ok(*format);
        }
        let name = OTHERS.iter().find(|(known, _)| *known == code).map(|(_, name)| *name);
        let name = name.map_or_else(|| code.to_string(), str::to_owned);
        Err(ModelError::unsupported("tensor.type", name))
    }

    /// Numbers and bytes of one block.
    pub(crate) const fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::BF16 => (1, 2),
            Self::Q4Zero => (32, 18),
            Self::Q4One => (32, 20),
            Self::Q5Zero => (32, 22),
            Self::Q5One => (32, 24),
            Self::Q8Zero => (32, 34),
            Self::Q2K => (256, 84),
            Self::Q3K => (256, 110),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }
}

/// A matrix in the file, one row after the other; a vector is one row.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    map: Arc<Mmap>,
    bytes: Range<usize>,
    pub(crate) format: Format,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl TensorPlace {
    /// Where a row lies in the file.
    pub(crate) const fn row(&self, index: usize) -> Range<usize> {
        let (numbers, bytes) = self.format.block();
        let size = self.columns / numbers * bytes;
        let start = self.bytes.start + index * size;
        start..start + size
    }
}

impl Tensor {
    const fn at(map: Arc<Mmap>, place: &TensorPlace, bytes: Range<usize>) -> Self {
        Self { map, bytes, format: place.format, columns: place.columns, rows: place.rows }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[self.bytes.clone()]
    }

    /// Bytes of one row.
    pub(crate) const fn row_bytes(&self) -> usize {
        let (numbers, bytes) = self.format.block();
        self.columns / numbers * bytes
    }

    pub(crate) fn row(&self, index: usize) -> &[u8] {
        let size = self.row_bytes();
        &self.bytes()[index * size..(index + 1) * size]
    }
}

/// One value the file says of itself.
#[derive(Debug, Clone)]
enum Value {
    Number(f64),
    Text(Range<usize>),
    Texts(Vec<Range<usize>>),
    Numbers(Vec<f64>),
}

/// Where a tensor lies in the file, and its size.
#[derive(Debug, Clone)]
pub(crate) struct TensorPlace {
    pub(crate) bytes: Range<usize>,
    pub(crate) format: Format,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// A model file, mapped into memory, or the tables of one that still arrives.
#[derive(Debug)]
pub(crate) struct Gguf {
    map: Arc<Mmap>,
    values: HashMap<String, Value>,
    places: HashMap<String, TensorPlace>,
    /// Of a file that still arrives: the tensors that were read, each in memory of its own. `None` where all of them are
    /// in the map.
    read: Option<HashMap<String, Tensor>>,
}

impl Gguf {
    /// Maps a file and reads its tables; the weights are read by whoever uses them.
    ///
    /// # Errors
    /// [`ModelError`].
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let file = File::open(path)?;
        // SAFETY: a mapped file must not be shortened by others while it is in use. Weights are written once under
        // another name and renamed, nobody shortens them; if somebody does, the process gets SIGBUS and no memory
        // of another is read.
        #[expect(unsafe_code, reason = "mapping a file is unsafe in every library")]
        let map = Arc::new(unsafe { Mmap::map(&file)? });
        let size = map.len();
        Self::parse(map, size, None)
    }

    /// Reads the tables at the front of a file that still arrives and will have `size` bytes. What lies behind them is
    /// not looked at: [`Gguf::bring`] reads tensors that have arrived.
    ///
    /// # Errors
    /// [`ModelError::Short`] when the tables go on behind `front`.
    pub(crate) fn arriving(front: Mmap, size: usize) -> Result<Self, ModelError> {
        Self::parse(Arc::new(front), size, Some(HashMap::new()))
    }

    fn parse(map: Arc<Mmap>, all: usize, read: Option<HashMap<String, Tensor>>) -> Result<Self, ModelError> {
        let mut reader = Reader { bytes: &map, at: 0 };
        if reader.take(4)? != b"GGUF" {
            return Err(ModelError::NoModel);
        }
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(ModelError::unsupported("gguf.version", version.to_string()));
        }
        let (tensor_count, value_count) = (reader.u64()?, reader.u64()?);
        if tensor_count > MOST_ENTRIES || value_count > MOST_ENTRIES {
            return Err(ModelError::Unfit("tensor_count".into()));
        }
        let mut values = HashMap::new();
        for _ in 0..value_count {
            let name = reader.text()?;
            let name = String::from_utf8_lossy(&map[name]).into_owned();
            let kind = reader.u32()?;
            let value = reader.value(kind)?.ok_or_else(|| ModelError::Unfit(name.clone()))?;
            values.insert(name, value);
        }
        let mut found = Vec::new();
        for _ in 0..tensor_count {
            let name = reader.text()?;
            let dimensions = reader.u32()?;
            if dimensions > 4 {
                return Err(ModelError::Unfit(String::from_utf8_lossy(&map[name]).into_owned()));
            }
            let mut sizes = [1_u64; 4];
            for size in sizes.iter_mut().take(dimensions as usize) {
                *size = reader.u64()?;
            }
            let code = reader.u32()?;
            let offset = reader.u64()?;
            found.push((String::from_utf8_lossy(&map[name]).into_owned(), sizes, code, offset));
        }
        let alignment = match values.get("general.alignment") {
            Some(Value::Number(number)) if *number >= 1.0 && *number <= 65536.0 => *number as u64,
            _ => ALIGNMENT,
        };
        let begin = (reader.at as u64).next_multiple_of(alignment);
        let mut places = HashMap::new();
        for (name, sizes, code, offset) in found {
            let format = Format::of(code)?;
            let (numbers, size) = format.block();
            let columns = usize::try_from(sizes[0]).unwrap_or(usize::MAX);
            let rows = sizes[1].checked_mul(sizes[2]).and_then(|rows| rows.checked_mul(sizes[3]));
            let rows = rows.and_then(|rows| usize::try_from(rows).ok());
            let Some(rows) = rows.filter(|_| columns % numbers == 0) else { return Err(ModelError::Unfit(name)) };
            let length = (columns / numbers).checked_mul(size).and_then(|row| row.checked_mul(rows));
            let start = begin.checked_add(offset).and_then(|start| usize::try_from(start).ok());
            let range = start.zip(length).and_then(|(start, length)| Some(start..start.checked_add(length)?));
            let bytes = range.filter(|range| range.end <= all).ok_or(ModelError::Short)?;
            places.insert(name, TensorPlace { bytes, format, columns, rows });
        }
        Ok(Self { map, values, places, read })
    }

    /// Finds a tensor.
    pub(crate) fn tensor(&self, name: &str) -> Result<Tensor, ModelError> {
        self.optional(name).ok_or_else(|| ModelError::Missing(name.to_owned()))
    }

    /// Finds a tensor that a model may be without.
    pub(crate) fn optional(&self, name: &str) -> Option<Tensor> {
        match &self.read {
            Some(read) => read.get(name).cloned(),
            None => {
                self.places.get(name).map(|place| Tensor::at(Arc::clone(&self.map), place, place.bytes.clone()))
            }
        }
    }

    /// Tells where a tensor lies, whether it was read or not.
    pub(crate) fn place(&self, name: &str) -> Result<&TensorPlace, ModelError> {
        self.places.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))
    }

    /// Lists where the tensors lie whose names begin so.
    pub(crate) fn places<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a TensorPlace> {
        self.places.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(_, place)| place)
    }

    /// Reads the tensors whose names begin so from the file that still arrives, and forgets those read before. Their
    /// bytes must be there.
    ///
    /// # Errors
    /// The file cannot be read, or what it says of these tensors cannot be.
    pub(crate) fn bring(&mut self, prefix: &str, file: &File) -> Result<(), ModelError> {
        let mut room = self.places.values().map(|place| place.bytes.end).max().unwrap_or(0);
        let mut read = HashMap::new();
        for (name, place) in self.places.iter().filter(|(name, _)| name.starts_with(prefix)) {
            // Tensors that lie over one another could have more bytes than the file.
            let length = place.bytes.len();
            room = room.checked_sub(length).ok_or_else(|| ModelError::Unfit(name.clone()))?;
            let bytes = bytes_at(file, place.bytes.start as u64, length)?;
            read.insert(name.clone(), Tensor::at(Arc::new(bytes), place, 0..length));
        }
        self.read = Some(read);
        Ok(())
    }

    /// Finds a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Text(_) | Value::Texts(_) | Value::Numbers(_) => None,
        }
    }

    /// Finds a text.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        match self.values.get(name)? {
            Value::Text(range) => Some(String::from_utf8_lossy(&self.map[range.clone()]).into_owned()),
            Value::Number(_) | Value::Texts(_) | Value::Numbers(_) => None,
        }
    }

    /// Lists the texts of an array.
    pub(crate) fn texts(&self, name: &str) -> Vec<&[u8]> {
        match self.values.get(name) {
            Some(Value::Texts(ranges)) => ranges.iter().map(|range| &self.map[range.clone()]).collect(),
            _ => Vec::new(),
        }
    }

    /// Lists the numbers of an array.
    pub(crate) fn numbers(&self, name: &str) -> &[f64] {
        match self.values.get(name) {
            Some(Value::Numbers(numbers)) => numbers,
            _ => &[],
        }
    }
}

/// Reads so many bytes of a file into memory of their own. Nothing of the file is mapped, so that it may be shortened
/// meanwhile: then that is an error.
pub(crate) fn bytes_at(file: &File, start: u64, length: usize) -> std::io::Result<Mmap> {
    let mut bytes = MmapMut::map_anon(length)?;
    file.read_exact_at(&mut bytes, start)?;
    bytes.make_read_only()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ModelError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(ModelError::Short)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.take(N)?.first_chunk().copied().ok_or(ModelError::Short)
    }

    fn u32(&mut self) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, ModelError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<Range<usize>, ModelError> {
        let length = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        let start = self.at;
        self.take(length)?;
        Ok(start..self.at)
    }

    /// A number of a kind; `None` where there is no such kind.
    fn number(&mut self, kind: u32) -> Result<Option<f64>, ModelError> {
        Ok(Some(match kind {
            0 | 7 => f64::from(self.array::<1>()?[0]),
            1 => f64::from(i8::from_le_bytes(self.array()?)),
            2 => f64::from(u16::from_le_bytes(self.array()?)),
            3 => f64::from(i16::from_le_bytes(self.array()?)),
            4 => f64::from(self.u32()?),
            5 => f64::from(i32::from_le_bytes(self.array()?)),
            6 => f64::from(f32::from_le_bytes(self.array()?)),
            10 => self.u64()? as f64,
            11 => i64::from_le_bytes(self.array()?) as f64,
            12 => f64::from_le_bytes(self.array()?),
            _ => return Ok(None),
        }))
    }

    /// A value of a kind; `None` where there is no such kind.
    fn value(&mut self, kind: u32) -> Result<Option<Value>, ModelError> {
        match kind {
            8 => Ok(Some(Value::Text(self.text()?))),
            9 => {
                let kind = self.u32()?;
                let count = self.u64()?;
                // Every element takes at least a byte, so that a lie about the count ends before memory does.
                if count > (self.bytes.len() - self.at) as u64 {
                    return Err(ModelError::Short);
                }
                if kind == 8 {
                    let texts = (0..count).map(|_| self.text()).collect::<Result<_, _>>()?;
                    return Ok(Some(Value::Texts(texts)));
                }
                let numbers: Option<Vec<f64>> = (0..count).map(|_| self.number(kind)).collect::<Result<_, _>>()?;
                Ok(numbers.map(Value::Numbers))
            }
            number => Ok(self.number(number)?.map(Value::Number)),
        }
    }
}
