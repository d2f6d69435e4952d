//! A cursor over bytes, and what can be read from it.
#![no_std]

/// Why a text is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Error {
    /// It ends too early.
    End = 1,
    /// A byte that does not belong there.
    Unexpected(u8) = 2,
    /// The number has no room in its type.
    Overflow = 3,
    /// Something comes after it.
    Rest { at: u32 } = 4,
    /// It is no UTF-8.
    Text = 5,
}

impl Error {
    /// A number for each kind, with its detail.
    pub fn code(self) -> u32 {
        match self {
            Error::End => 1,
            Error::Unexpected(byte) => 2 | u32::from(byte) << 8,
            Error::Overflow => 3,
            Error::Rest { at } => 4 | at << 8,
            Error::Text => 5,
        }
    }
}

/// A place in some bytes.
#[derive(Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// The byte at the cursor.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Takes a byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.peek().ok_or(Error::End)?;
        self.at += 1;
        Ok(byte)
    }

    /// Takes a byte if it is the one.
    #[inline]
    pub fn take(&mut self, wanted: u8) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    /// Passes blanks.
    #[inline]
    pub fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Reads a value that goes to the end.
    pub fn whole<T: Parse>(mut self) -> Result<T, Error> {
        self.blanks();
        let value = T::parse(&mut self)?;
        self.blanks();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(Error::Rest { at: self.at as u32 }),
        }
    }

    /// Digits, as a number; at least one.
    pub fn digits(&mut self) -> Result<u64, Error> {
        let mut value = match self.byte()? {
            digit @ b'0'..=b'9' => u64::from(digit - b'0'),
            byte => return Err(Error::Unexpected(byte)),
        };
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            value = (value.checked_mul(10))
                .and_then(|value| value.checked_add(u64::from(digit - b'0')))
                .ok_or(Error::Overflow)?;
        }
        Ok(value)
    }
}

/// What a text can be read as.
pub trait Parse: Sized {
    /// Reads a value and moves the cursor behind it.
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error>;
}

impl Parse for i32 {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let negative = cursor.take(b'-');
        let size = cursor.digits()?;
        let value = i64::try_from(size).map_err(|_| Error::Overflow)?;
        i32::try_from(if negative { -value } else { value }).map_err(|_| Error::Overflow)
    }
}

impl Parse for u64 {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        cursor.digits()
    }
}

impl Parse for bool {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let word: &[u8] = match cursor.byte()? {
            b't' => b"rue",
            b'f' => b"alse",
            byte => return Err(Error::Unexpected(byte)),
        };
        for &wanted in word {
            match cursor.byte()? {
                byte if byte == wanted => {}
                byte => return Err(Error::Unexpected(byte)),
            }
        }
        Ok(word.len() == 3)
    }
}

impl<T: Parse> Parse for Option<T> {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        match cursor.peek() {
            None | Some(b',' | b']') => Ok(None),
            Some(_) => T::parse(cursor).map(Some),
        }
    }
}

impl<A: Parse, B: Parse> Parse for (A, B) {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let first = A::parse(cursor)?;
        cursor.blanks();
        match cursor.byte()? {
            b',' => cursor.blanks(),
            byte => return Err(Error::Unexpected(byte)),
        }
        Ok((first, B::parse(cursor)?))
    }
}
