//! Lines of text as values: with a parser of our own, and with core's.
#![no_std]

use cursor::{Cursor, Error, Parse};
use slices::Ragged;

/// Each row as a value, given to `store` with what went wrong.
#[inline(always)]
fn each<T>(
    text: Ragged<'_, u8>,
    read: impl Fn(&[u8]) -> Result<T, Error>,
    mut store: impl FnMut(usize, T),
    codes: *mut u32,
) {
    for i in slices::mine(text.rows()) {
        let result = text.row(i).ok_or(Error::End).and_then(&read);
        let code = match result {
            Ok(value) => {
                store(i, value);
                0
            }
            Err(error) => error.code(),
        };
        // SAFETY: there is a code for every row.
        unsafe { codes.add(i).write(code) };
    }
}

/// A row that is UTF-8, trimmed, as core reads it.
#[inline(always)]
fn with_core<T: core::str::FromStr>(row: &[u8]) -> Result<T, Error> {
    let text = core::str::from_utf8(row).map_err(|_| Error::Text)?;
    text.trim().parse().map_err(|_| Error::Unexpected(0))
}

macro_rules! kernels {
    ($($name:ident: $type:ty = $read:expr;)*) => {
        $(
            /// Values and codes of rows.
            ///
            /// # Safety
            /// `offsets` points to `rows + 1` ascending numbers, `text` to as many bytes as the
            /// last says, `values` and `codes` to `rows` elements.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $name(
                offsets: *const u32,
                rows: usize,
                text: *const u8,
                values: *mut $type,
                codes: *mut u32,
            ) {
                // SAFETY: the caller vouches for the buffers.
                let text = unsafe { Ragged::new(offsets, rows, text) };
                // SAFETY: `i` is a row.
                each(text, $read, |i, value| unsafe { values.add(i).write(value) }, codes);
            }
        )*
    };
}

/// Sum and count of `[1, , -2, 3]`, with empty places.
fn list(row: &[u8]) -> Result<[i64; 2], Error> {
    let mut cursor = Cursor::new(row);
    let (mut sum, mut count) = (0, 0);
    match cursor.byte()? {
        b'[' => {}
        byte => return Err(Error::Unexpected(byte)),
    }
    loop {
        cursor.blanks();
        if let Some(value) = Option::<i32>::parse(&mut cursor)? {
            sum += i64::from(value);
            count += 1;
        }
        cursor.blanks();
        match cursor.byte()? {
            b',' => {}
            b']' => return Ok([sum, count]),
            byte => return Err(Error::Unexpected(byte)),
        }
    }
}

kernels! {
    integers: i32 = |row| Cursor::new(row).whole::<i32>();
    longs: u64 = |row| Cursor::new(row).whole::<u64>();
    pairs: [u64; 2] = |row| {
        Cursor::new(row).whole::<(u64, bool)>().map(|(number, truth)| [number, truth.into()])
    };
    lists: [i64; 2] = list;
    core_integers: i64 = with_core::<i64>;
    core_wide: i128 = with_core::<i128>;
    core_singles: f32 = with_core::<f32>;
    core_doubles: f64 = with_core::<f64>;
    core_chars: u32 = |row| {
        let text = core::str::from_utf8(row).map_err(|_| Error::Text)?;
        Ok(text.chars().flat_map(char::to_lowercase).fold(0, |sum, c| (sum * 31_u32) ^ c as u32))
    };
}
