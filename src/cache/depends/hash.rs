//! Plain data as a hash.
//!
//! Every value goes in with a tag that says what it is and with its length, so that no two different
//! values give the same bytes. It goes in by serde, so that a field that is added to an option is
//! part of the key by itself.

use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser::{
    self, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use crate::cache::key::Key;

/// Small values are gathered up to this many bytes: hashing each alone would cost more. Larger ones
/// are hashed alone, and their hash is gathered: from its beginning on, a text is hashed several
/// times as fast as from the middle of a block.
pub(super) const GATHERED: usize = 1024;

/// The fields of a key, hashed one after the other.
pub(in crate::cache) struct Fields {
    hasher: blake3::Hasher,
    gathered: Vec<u8>,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Tag {
    Field = 1,
    Bool,
    Signed,
    Unsigned,
    Float,
    Char,
    Text,
    Bytes,
    None,
    Some,
    Unit,
    Sequence,
    Map,
    Struct,
    Variant,
    End,
    /// Of bytes or text too long to be gathered.
    Hash,
}

/// Why a value could not be hashed.
#[derive(Debug)]
pub(in crate::cache) struct Unhashable(String);

impl Display for Unhashable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unhashable {}

impl ser::Error for Unhashable {
    fn custom<T: Display>(message: T) -> Self {
        Unhashable(message.to_string())
    }
}

type Done = Result<(), Unhashable>;

impl Fields {
    pub(in crate::cache) fn new() -> Self {
        Fields {
            hasher: blake3::Hasher::new(),
            gathered: Vec::with_capacity(GATHERED),
        }
    }

    /// A field by its name and its value.
    pub(in crate::cache) fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Done {
        self.named(Tag::Field, name);
        value.serialize(self)
    }

    /// A field whose value was hashed before.
    pub(in crate::cache) fn hashed(&mut self, name: &str, hash: &[u8; 32]) {
        self.named(Tag::Field, name);
        self.bytes(Tag::Bytes, hash);
    }

    pub(in crate::cache) fn finish(mut self) -> Key {
        self.hasher.update(&self.gathered);
        self.gathered.clear();
        Key::from_bytes(*self.hasher.finalize().as_bytes())
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.gathered.len() + bytes.len() > GATHERED {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
        self.gathered.extend_from_slice(bytes);
    }

    fn tag(&mut self, tag: Tag) {
        self.raw(&[tag as u8]);
    }

    /// Seven bits a byte, the last of which has the eighth clear.
    fn number(&mut self, tag: Tag, mut bits: u128) {
        self.tag(tag);
        while bits >= 0x80 {
            self.raw(&[(bits & 0x7f) as u8 | 0x80]);
            bits >>= 7;
        }
        self.raw(&[bits as u8]);
    }

    fn bytes(&mut self, tag: Tag, bytes: &[u8]) {
        self.number(tag, bytes.len() as u128);
        if bytes.len() <= GATHERED {
            self.raw(bytes);
        } else {
            self.tag(Tag::Hash);
            self.raw(blake3::hash(bytes).as_bytes());
        }
    }

    fn named(&mut self, tag: Tag, name: &str) {
        self.bytes(tag, name.as_bytes());
    }

    fn variant(&mut self, of: &str, name: &str) {
        self.named(Tag::Variant, of);
        self.named(Tag::Text, name);
    }

    fn end(&mut self) -> Done {
        self.tag(Tag::End);
        Ok(())
    }
}

impl<'a> ser::Serializer for &'a mut Fields {
    type Ok = ();
    type Error = Unhashable;
    type SerializeSeq = &'a mut Fields;
    type SerializeTuple = &'a mut Fields;
    type SerializeTupleStruct = &'a mut Fields;
    type SerializeTupleVariant = &'a mut Fields;
    type SerializeMap = &'a mut Fields;
    type SerializeStruct = &'a mut Fields;
    type SerializeStructVariant = &'a mut Fields;

    fn is_human_readable(&self) -> bool {
        // Bytes come as they are then.
        false
    }

    fn serialize_bool(self, value: bool) -> Done {
        self.number(Tag::Bool, value.into());
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i16(self, value: i16) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i32(self, value: i32) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i64(self, value: i64) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i128(self, value: i128) -> Done {
        self.number(Tag::Signed, value as u128);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u16(self, value: u16) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u32(self, value: u32) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u64(self, value: u64) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u128(self, value: u128) -> Done {
        self.number(Tag::Unsigned, value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.number(Tag::Float, value.to_bits().into());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Done {
        self.number(Tag::Char, u32::from(value).into());
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Done {
        self.bytes(Tag::Text, value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.bytes(Tag::Bytes, value);
        Ok(())
    }

    fn serialize_none(self) -> Done {
        self.tag(Tag::None);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.tag(Tag::Some);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.tag(Tag::Unit);
        Ok(())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Done {
        self.named(Tag::Unit, name);
        Ok(())
    }

    fn serialize_unit_variant(self, of: &'static str, _: u32, name: &'static str) -> Done {
        self.variant(of, name);
        self.serialize_unit()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        of: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Done {
        self.variant(of, name);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unhashable> {
        self.tag(Tag::Sequence);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unhashable> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Unhashable> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        of: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unhashable> {
        self.variant(of, name);
        self.serialize_seq(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unhashable> {
        self.tag(Tag::Map);
        Ok(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, Unhashable> {
        self.named(Tag::Struct, name);
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        of: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unhashable> {
        self.variant(of, name);
        Ok(self)
    }
}

/// What has elements ends with a mark, since it need not know how many there are.
macro_rules! elements {
    ($($of:ident $element:ident)*) => {
        $(
            impl $of for &mut Fields {
                type Ok = ();
                type Error = Unhashable;

                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                    value.serialize(&mut **self)
                }

                fn end(self) -> Done {
                    Fields::end(self)
                }
            }
        )*
    };
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! named_fields {
    ($($of:ident)*) => {
        $(
            impl $of for &mut Fields {
                type Ok = ();
                type Error = Unhashable;

                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    name: &'static str,
                    value: &T,
                ) -> Done {
                    self.named(Tag::Field, name);
                    value.serialize(&mut **self)
                }

                fn end(self) -> Done {
                    Fields::end(self)
                }
            }
        )*
    };
}

named_fields!(SerializeStruct SerializeStructVariant);

impl SerializeMap for &mut Fields {
    type Ok = ();
    type Error = Unhashable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut **self)
    }

    fn end(self) -> Done {
        Fields::end(self)
    }
}
