//! `/score`: the scores of feature rows.

use crate::app::App;
use crate::call::{BINARY, Call, answer, json};
use crate::catalogue::{Catalogue, Served};
use crate::problem::{Answer, Problem};
use crate::rows::RowsBody;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response};
use rankwise::data::Rows;
use serde::Serialize;
use std::sync::Arc;

/// The scores of rows, in their order.
#[derive(Serialize)]
struct Scored<'a> {
    model: &'a str,
    version: u32,
    scores: &'a [f64],
}

/// How scores are written.
#[derive(Clone, Copy)]
enum Form {
    Json,
    F64,
    F32,
}

/// What a request with bytes says in its query string.
struct Asked {
    model: Option<String>,
    features: usize,
    sizes: Option<Vec<usize>>,
}

/// Scores rows that come as JSON or as little-endian f32.
pub(crate) async fn score(app: Arc<App>, mut call: Call) -> Answer<Response<Body>> {
    let form = form(call.accepts());
    let asked = match call.is_of_type(BINARY) {
        true => Some(asked(&call)?),
        false => {
            call.check_json()?;
            call.parameters()?.end()?;
            None
        }
    };
    let bytes = call.bytes().await?;
    let (catalogue, most) = (app.models.now(), app.settings.max_rows);
    app.pool.run(move || respond(&catalogue, &bytes, asked, most, form)).await
}

fn form(accept: &str) -> Form {
    match accept.split_once(';') {
        Some((BINARY, parameter)) if parameter.trim() == "type=f32" => Form::F32,
        _ if accept.starts_with(BINARY) => Form::F64,
        _ => Form::Json,
    }
}

fn asked(call: &Call) -> Answer<Asked> {
    let mut parameters = call.parameters()?;
    let model = parameters.take("model");
    let features = parameters.number("features", 0)?;
    let size = |text: &str| {
        text.parse::<usize>().map_err(|_| {
            Problem::bad_request("the parameter `sizes` must be whole numbers, separated by commas")
        })
    };
    let sizes = parameters.take("sizes").map(|text| text.split(',').map(size).collect()).transpose()?;
    parameters.end()?;
    if features == 0 {
        return Err(Problem::bad_request(
            "rows of bytes need the number of features in the query string, as in /v1/score?features=136",
        ));
    }
    Ok(Asked { model, features, sizes })
}

fn respond(
    catalogue: &Catalogue,
    bytes: &Bytes,
    asked: Option<Asked>,
    most: usize,
    form: Form,
) -> Answer<Response<Body>> {
    let body = match asked {
        None => RowsBody::from_json(bytes, most)?,
        Some(Asked { model, features, sizes }) => {
            RowsBody { model, sizes, ..RowsBody::from_binary(bytes, features, most)? }
        }
    };
    let served = match &body.model {
        Some(name) => catalogue.get(name)?,
        None => catalogue.default()?,
    };
    let scores = scores_of(&served, &body)?;
    let mut response = match form {
        Form::Json => {
            return json(&Scored { model: &served.name, version: served.version, scores: &scores });
        }
        Form::F64 => answer(BINARY, scores.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<u8>>()),
        Form::F32 => {
            answer(BINARY, scores.iter().flat_map(|score| (*score as f32).to_le_bytes()).collect::<Vec<u8>>())
        }
    };
    let model = format!("{}/{}", served.name, served.version);
    if let Ok(model) = HeaderValue::from_str(&model) {
        response.headers_mut().insert("x-model", model);
    }
    Ok(response)
}

/// The scores of rows by a model.
fn scores_of(served: &Served, body: &RowsBody) -> Answer<Vec<f64>> {
    let ranker = served.ranker()?;
    let mut scores = vec![0.0; body.len()];
    if scores.is_empty() {
        return Ok(scores);
    }
    let rows = Rows::dense(&body.values, body.width)?;
    match &body.sizes {
        Some(sizes) => ranker.score_queries(rows, sizes, &mut scores)?,
        None => ranker.score_query_rows(rows, &mut scores)?,
    }
    Ok(scores)
}
