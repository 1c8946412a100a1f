//! The part of ONNX's messages that models need, as Protocol Buffers; numbers are those of `onnx.proto`.

use prost::Message;

/// The types of a tensor's elements: single and double precision.
pub(super) const FLOAT: i32 = 1;
pub(super) const DOUBLE: i32 = 11;

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Operation>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Operation {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Which of the fields counts: 2 `i`, 3 `s`, 6 `floats`, 7 `ints`, 8 `strings`.
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A length, or the name of one that is open.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}

impl Attribute {
    pub(super) fn integer(name: &str, i: i64) -> Attribute {
        Attribute { name: name.into(), i: Some(i), kind: 2, ..Attribute::default() }
    }

    pub(super) fn text(name: &str, text: &str) -> Attribute {
        Attribute { name: name.into(), s: Some(text.into()), kind: 3, ..Attribute::default() }
    }

    pub(super) fn floats(name: &str, floats: Vec<f32>) -> Attribute {
        Attribute { name: name.into(), floats, kind: 6, ..Attribute::default() }
    }

    pub(super) fn integers(name: &str, ints: Vec<i64>) -> Attribute {
        Attribute { name: name.into(), ints, kind: 7, ..Attribute::default() }
    }

    pub(super) fn texts(name: &str, texts: &[&str]) -> Attribute {
        let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Attribute { name: name.into(), strings, kind: 8, ..Attribute::default() }
    }
}

impl Tensor {
    /// Numbers in single precision, row by row.
    pub(super) fn floats(name: &str, dims: &[usize], values: impl IntoIterator<Item = f32>) -> Tensor {
        let float_data = values.into_iter().collect();
        Tensor { float_data, data_type: FLOAT, ..Tensor::named(name, dims) }
    }

    /// Numbers in double precision, row by row.
    pub(super) fn doubles(name: &str, dims: &[usize], values: impl IntoIterator<Item = f64>) -> Tensor {
        let double_data = values.into_iter().collect();
        Tensor { double_data, data_type: DOUBLE, ..Tensor::named(name, dims) }
    }

    fn named(name: &str, dims: &[usize]) -> Tensor {
        let dims = dims.iter().map(|&length| length as i64).collect();
        Tensor { name: name.into(), dims, ..Tensor::default() }
    }
}

impl ValueInfo {
    /// A matrix of any number of rows with `width` columns.
    pub(super) fn rows(name: &str, width: usize) -> ValueInfo {
        let open = Dimension { dim_value: None, dim_param: Some("documents".into()) };
        let fixed = Dimension { dim_value: Some(width as i64), dim_param: None };
        let shape = Some(TensorShape { dim: vec![open, fixed] });
        let tensor_type = Some(TensorType { elem_type: FLOAT, shape });
        ValueInfo { name: name.into(), r#type: Some(Type { tensor_type }) }
    }
}
