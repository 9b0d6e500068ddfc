//! JSON-RPC messages and error responses.

use serde_json::{Value, json};

use crate::api::fault::ApiError;

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// A response, which is ignored because this server sends no requests.
    Response,
}

pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INTERNAL_ERROR: i32 = -32603;
pub(super) const NOT_INITIALIZED: i32 = -32002;
pub(super) const REQUEST_FAILED: i32 = -32803;
pub(super) const REQUEST_CANCELLED: i32 = -32800;

/// Why a request has no result.
#[derive(Debug, PartialEq)]
pub(super) struct ResponseError {
    pub(super) code: i32,
    pub(super) message: String,
    /// The stable code of an error of slop, and a hint.
    pub(super) data: Option<Value>,
}

impl ResponseError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn invalid_params(error: &serde_json::Error) -> Self {
        Self::new(INVALID_PARAMS, format!("invalid params: {error}"))
    }
}

impl From<ApiError> for ResponseError {
    fn from(error: ApiError) -> Self {
        let code = match &*error.code {
            "cancelled" => REQUEST_CANCELLED,
            "bug" => INTERNAL_ERROR,
            _ => REQUEST_FAILED,
        };
        let data = Some(json!({"code": error.code, "hint": error.hint}));
        Self { code, message: error.message, data }
    }
}

/// Parses a message. The error has the id of the request, if that could be read.
pub(super) fn parse(content: &[u8]) -> Result<Message, (Value, ResponseError)> {
    let value: Value = serde_json::from_slice(content).map_err(|error| {
        (Value::Null, ResponseError::new(PARSE_ERROR, format!("message is not JSON: {error}")))
    })?;
    let Value::Object(mut fields) = value else {
        // The protocol has no batches.
        return Err((Value::Null, ResponseError::new(INVALID_REQUEST, "message is not an object")));
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("id"), fields.remove("method")) {
        (Some(id @ (Value::String(_) | Value::Number(_))), Some(Value::String(method))) => {
            Ok(Message::Request { id, method, params })
        }
        (None, Some(Value::String(method))) => Ok(Message::Notification { method, params }),
        (Some(_), None) if fields.contains_key("result") || fields.contains_key("error") => {
            Ok(Message::Response)
        }
        (id, _) => {
            let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null);
            Err((id, ResponseError::new(INVALID_REQUEST, "message is not a request or a notification")))
        }
    }
}

pub(super) fn response(id: &Value, result: Result<Value, ResponseError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(ResponseError { code, message, data }) => {
            let mut error = json!({"code": code, "message": message});
            if let Some(data) = data {
                error["data"] = data;
            }
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_messages_are_rejected_with_a_code() {
        let code = |text: &str| parse(text.as_bytes()).map_err(|(id, error)| (id, error.code));
        assert_eq!(code("{"), Err((Value::Null, PARSE_ERROR)));
        assert_eq!(code("\u{ff}"), Err((Value::Null, PARSE_ERROR)));
        assert_eq!(code(&"[".repeat(5_000)), Err((Value::Null, PARSE_ERROR)));
        assert_eq!(code("[]"), Err((Value::Null, INVALID_REQUEST)));
        assert_eq!(code(r#"{"id": 1}"#), Err((json!(1), INVALID_REQUEST)));
        assert_eq!(code(r#"{"id": {}, "method": "x"}"#), Err((Value::Null, INVALID_REQUEST)));
        assert_eq!(code(r#"{"id": 1, "result": null}"#), Ok(Message::Response));
        let params = json!({"a": 1});
        let request = Message::Request { id: json!("7"), method: "m".to_owned(), params };
        assert_eq!(code(r#"{"jsonrpc": "2.0", "id": "7", "method": "m", "params": {"a": 1}}"#), Ok(request));
    }
}
