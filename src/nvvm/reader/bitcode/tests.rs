//! Bitstreams that no LLVM writes.

use super::super::look::LookError;
use super::read;

/// Bits in the order in which a bitstream holds them.
#[derive(Default)]
struct Writer {
    bits: Vec<bool>,
}

impl Writer {
    fn file() -> Self {
        let mut writer = Writer::default();
        writer.fixed(u64::from(u32::from_le_bytes(*b"BC\xc0\xde")), 32);
        writer
    }

    fn fixed(&mut self, value: u64, width: u32) {
        self.bits
            .extend((0..width).map(|bit| value >> bit & 1 == 1));
    }

    fn variable(&mut self, mut value: u64, width: u32) {
        let more = 1 << (width - 1);
        while value >= more {
            self.fixed(value % more + more, width);
            value /= more;
        }
        self.fixed(value, width);
    }

    fn align(&mut self) {
        self.bits
            .resize(self.bits.len().next_multiple_of(32), false);
    }

    /// A block whose abbreviation numbers take four bits.
    fn block(&mut self, width: u32, id: u64, content: impl FnOnce(&mut Self)) {
        self.fixed(1, width);
        self.variable(id, 8);
        self.variable(4, 4);
        self.align();
        let length_at = self.bits.len();
        self.fixed(0, 32);
        content(self);
        self.fixed(0, 4);
        self.align();
        let words = (self.bits.len() - length_at) / 32 - 1;
        for bit in 0..32 {
            self.bits[length_at + bit] = words >> bit & 1 == 1;
        }
    }

    fn record(&mut self, code: u64, operands: &[u64]) {
        self.fixed(3, 4);
        self.variable(code, 6);
        self.variable(operands.len() as u64, 6);
        for operand in operands {
            self.variable(*operand, 6);
        }
    }

    fn bytes(mut self) -> Vec<u8> {
        self.align();
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |b, bit| b << 1 | u8::from(*bit));
        self.bits.chunks(8).map(byte).collect()
    }

    /// The start of an abbreviation of this many parts.
    fn define(&mut self, parts: u64) {
        self.fixed(2, 4);
        self.variable(parts, 5);
    }

    fn literal(&mut self, value: u64) {
        self.fixed(1, 1);
        self.variable(value, 8);
    }

    fn encoding(&mut self, encoding: u64, width: Option<u64>) {
        self.fixed(0, 1);
        self.fixed(encoding, 3);
        if let Some(width) = width {
            self.variable(width, 5);
        }
    }
}

fn module(content: impl FnOnce(&mut Writer)) -> Result<super::super::info::ModuleInfo, LookError> {
    let mut file = Writer::file();
    file.block(2, 8, content);
    read(&file.bytes())
}

fn problem(content: impl FnOnce(&mut Writer)) -> String {
    module(content).unwrap_err().problem
}

#[test]
fn a_module_of_nothing_but_a_version_is_read() {
    let info = module(|m| m.record(1, &[1])).unwrap();
    assert!(info.certain && info.symbols.is_empty() && info.producer.is_none());
}

#[test]
fn a_later_version_of_the_module_format_is_not_certain() {
    assert!(!module(|m| m.record(1, &[3])).unwrap().certain);
}

#[test]
fn blocks_may_not_nest_without_end() {
    fn nest(writer: &mut Writer, left: u32) {
        if left > 0 {
            writer.block(4, 12, |w| nest(w, left - 1));
        }
    }
    assert!(module(|m| nest(m, 20)).is_err_and(|e| !e.problem.contains("deeply")));
    assert_eq!(
        problem(|m| nest(m, 40)),
        "bitcode is damaged in a function block: blocks are nested too deeply"
    );
}

#[test]
fn a_count_that_the_file_cannot_hold_is_refused_before_anything_grows() {
    let plain = |m: &mut Writer| {
        m.fixed(3, 4);
        m.variable(1, 6);
        m.variable(u64::MAX / 8, 6);
    };
    assert_eq!(
        problem(plain),
        "bitcode ends in the middle of the module block"
    );
    let array = |m: &mut Writer| {
        m.define(3);
        m.literal(1);
        m.encoding(3, None);
        m.encoding(4, None);
        m.fixed(4, 4);
        m.variable(1 << 40, 6);
    };
    assert_eq!(
        problem(array),
        "bitcode ends in the middle of the module block"
    );
    let blob = |m: &mut Writer| {
        m.define(2);
        m.literal(1);
        m.encoding(5, None);
        m.fixed(4, 4);
        m.variable(u64::MAX, 6);
    };
    assert_eq!(
        problem(blob),
        "bitcode ends in the middle of the module block"
    );
}

#[test]
fn literals_cannot_make_work_that_the_file_does_not_pay_for() {
    let many = |m: &mut Writer| {
        m.define(2001);
        for _ in 0..2001 {
            m.literal(6);
        }
        for _ in 0..20_000 {
            m.fixed(4, 4);
        }
    };
    assert!(problem(many).contains("more than their bits can"));
}

#[test]
fn strings_in_a_blob_stay_inside_of_it() {
    let strings = |count: u64, offset: u64| {
        problem(move |m| {
            m.block(4, 15, |w| {
                w.define(4);
                w.literal(35);
                w.encoding(2, Some(6));
                w.encoding(2, Some(6));
                w.encoding(5, None);
                w.fixed(4, 4);
                w.variable(count, 6);
                w.variable(offset, 6);
                w.variable(8, 6);
                w.align();
                // One length of five characters, and five characters behind three more bytes.
                w.fixed(5, 32);
                w.fixed(0x6565_6565, 32);
            });
        })
    };
    let short = "bitcode is damaged in a metadata block: its strings are cut short";
    assert_eq!(strings(1, 4), short);
    assert_eq!(strings(100, 4), short);
    assert_eq!(strings(1, 9), short);
    assert_eq!(strings(u64::MAX, u64::MAX), short);
}

#[test]
fn abbreviations_that_make_no_sense_are_refused() {
    let array_first = |m: &mut Writer| {
        m.define(2);
        m.encoding(3, None);
        m.encoding(4, None);
    };
    let array_of_nothing = |m: &mut Writer| {
        m.define(3);
        m.literal(1);
        m.encoding(3, None);
        m.encoding(1, Some(0));
    };
    let blob_in_the_middle = |m: &mut Writer| {
        m.define(3);
        m.literal(1);
        m.encoding(5, None);
        m.encoding(4, None);
    };
    let empty = |m: &mut Writer| m.define(0);
    let ill_formed = "bitcode is damaged in the module block: an abbreviation is ill-formed";
    assert_eq!(problem(array_first), ill_formed);
    assert_eq!(problem(array_of_nothing), ill_formed);
    assert_eq!(problem(blob_in_the_middle), ill_formed);
    assert_eq!(problem(empty), ill_formed);
    let too_wide = |m: &mut Writer| {
        m.define(1);
        m.encoding(1, Some(33));
    };
    assert!(problem(too_wide).ends_with("an impossible width"));
    let undefined = |m: &mut Writer| m.fixed(4, 4);
    assert!(problem(undefined).ends_with("an abbreviation that is not defined"));
    let for_nothing = |m: &mut Writer| {
        m.block(4, 0, |w| {
            w.define(1);
            w.literal(1);
        });
    };
    assert!(problem(for_nothing).ends_with("an abbreviation is for no block"));
}

#[test]
fn a_function_without_its_body_is_refused() {
    let function = |proto: u64| move |m: &mut Writer| m.record(8, &[0, 0, proto, 0]);
    assert!(module(function(1)).is_ok());
    assert!(problem(function(0)).contains("one body for each function"));
}

#[test]
fn names_that_outgrow_the_file_are_refused() {
    let mut file = Writer::file();
    file.block(2, 8, |m| {
        m.record(1, &[2]);
        for _ in 0..100 {
            m.record(8, &[0, 4000, 0, 0, 1, 0]);
        }
    });
    file.block(2, 23, |s| {
        s.define(2);
        s.literal(1);
        s.encoding(5, None);
        s.fixed(4, 4);
        s.variable(4000, 6);
        s.align();
        for _ in 0..1000 {
            s.fixed(0x6161_6161, 32);
        }
    });
    let problem = read(&file.bytes()).unwrap_err().problem;
    assert_eq!(
        problem,
        "bitcode is damaged in the string table: its names overlap"
    );
}

#[test]
fn nodes_of_old_pairs_of_type_and_value_name_kernels_too() {
    let info = module(|m| {
        m.record(1, &[1]);
        m.block(4, 17, |w| {
            w.record(7, &[32]);
            w.record(16, &[]);
            w.record(2, &[]);
        });
        m.record(8, &[0, 0, 1, 0]);
        m.block(4, 11, |w| {
            w.record(1, &[0]);
            w.record(4, &[2]);
        });
        m.block(4, 15, |w| {
            let characters: Vec<_> = b"kernel".iter().map(|b| u64::from(*b)).collect();
            w.record(1, &characters);
            // The function of type 0 and value 0, the string 0, the constant of value 1.
            w.record(8, &[0, 0, 1, 0, 0, 1]);
            let name: Vec<_> = b"nvvm.annotations".iter().map(|b| u64::from(*b)).collect();
            w.record(4, &name);
            w.record(10, &[1]);
        });
        m.block(4, 14, |w| w.record(1, &[0, u64::from(b'k')]));
    })
    .unwrap();
    let kernels: Vec<_> = info.kernels().map(|k| k.name_lossy()).collect();
    assert_eq!(kernels, ["k"]);
    assert!(info.certain);
}
