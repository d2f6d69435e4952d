//! Structures written and read by `postcard` through `serde`.
#![no_std]

use harness::Words;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Mode {
    Off,
    On { level: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Message {
    id: u32,
    gain: f32,
    mode: Mode,
    samples: [i16; 3],
}

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let sent = Message {
        id: i * 1000,
        gain: i as f32 * 0.5,
        mode: if i.is_multiple_of(2) {
            Mode::Off
        } else {
            Mode::On { level: i as u8 }
        },
        samples: [i as i16, -3, 500],
    };
    let mut buffer = [0; 32];
    let length = postcard::to_slice(&sent, &mut buffer).unwrap().len();
    out.u32(length as u32);
    out.bytes(&buffer);
    let back: Message = postcard::from_bytes(&buffer[..length]).unwrap();
    out.u32((back == sent).into());
    // Cut short it must be refused.
    let _ = postcard::from_bytes::<Message>(&buffer[..length - 1]).unwrap_err();
}

harness::kernel!(postcard_case, 10, case);
