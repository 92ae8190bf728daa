use serde_json::json;

use super::*;

fn origin() -> Origin {
    Origin {
        provider: "lab".into(),
        model: "m-1".into(),
        url: "http://lab".into(),
        secret: Some(Secret::new("hunter22")),
    }
}

fn classify(status: u16, body: &str) -> ProviderError {
    Complaint::read(body.as_bytes()).into_error(&origin(), status, None)
}

fn kind(error: &ProviderError) -> &'static str {
    match error {
        ProviderError::ContextOverflow { .. } => "overflow",
        ProviderError::Unauthorized { .. } => "key",
        ProviderError::NoSuchModel { .. } => "model",
        ProviderError::Status { .. } => "status",
        ProviderError::Unreachable { .. }
        | ProviderError::Broken { .. }
        | ProviderError::Timeout { .. }
        | ProviderError::Protocol { .. } => "other",
    }
}

/// Bodies as servers have sent them (recordings, and the threads named beside the tables).
#[test]
fn bodies_of_real_servers_are_classified() {
    let cases = [
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
            "overflow",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size","type":"exceed_context_size_error"}}"#,
            "overflow",
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}"#,
            "overflow",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}}"#,
            "overflow",
        ),
        (
            400,
            r#"{"object":"error","message":"your prompt contains at least 9001 input tokens","type":"BadRequestError","code":400}"#,
            "overflow",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            "overflow",
        ),
        (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#, "status"),
        (429, r#"{"message":"Too many tokens, please wait before trying again."}"#, "status"),
        (
            413,
            r#"{"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000","code":"rate_limit_exceeded"}}"#,
            "status",
        ),
        (429, r#"{"error":{"message":"Rate limited","type":"rate_limit_error"}}"#, "status"),
        (429, "", "status"),
        (401, r#"{"error":{"message":"Incorrect API key provided: hunter22"}}"#, "key"),
        (403, "<html>forbidden</html>", "key"),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
            "key",
        ),
        (
            404,
            r#"{"error":{"code":"model_not_found","message":"The model `m-1` does not exist or you do not have access to it."}}"#,
            "model",
        ),
        (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: m-1"}}"#, "model"),
        (404, r#"{"error":"model 'm-1' not found"}"#, "model"),
        (400, r#"{"error":{"message":"m-1 is not a valid model ID","code":400}}"#, "model"),
        (400, r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#, "model"),
        (404, "<html><h1>404</h1></html>", "status"),
        (404, r#"{"detail":"Not Found"}"#, "status"),
        (500, r#"{"error":{"code":500,"message":"[json.exception.parse_error.101]"}}"#, "status"),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(&classify(status, body)), expected, "{status} {body}");
    }
}

#[test]
fn messages_are_the_servers_own_sentence_without_secrets() {
    let message = |status, body: &str| match classify(status, body) {
        ProviderError::Status { message, .. } | ProviderError::Unauthorized { message, .. } => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(message(401, r#"{"error":{"message":"bad key hunter22"}}"#), "bad key [redacted]");
    assert_eq!(message(422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#), "field required");
    assert_eq!(message(500, r#"{"error":"out of\nmemory"}"#), "out of memory");
    assert_eq!(message(502, "<!DOCTYPE html><title>Bad gateway</title>"), "an HTML page instead of an answer");
    assert_eq!(message(503, ""), "service unavailable");
    assert_eq!(message(500, "plain words\nsecond line"), "plain words");
    let routed = r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"upstream busy"}},"user_id":"user_2wT5ElB"}"#;
    assert_eq!(message(429, routed), "Provider returned error: upstream busy");
}

#[test]
fn errors_inside_streams_stand_for_a_status() {
    let cases = [
        (json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), 529),
        (json!({"type": "error", "error": {"type": "rate_limit_error", "message": "m"}}), 429),
        (json!({"type": "error", "error": {"type": "api_error", "message": "m"}}), 500),
        (json!({"error": {"code": 502, "message": "m"}}), 502),
        (json!({"error": {"message": "m", "type": "invalid_request_error", "code": "tool_use_failed"}}), 400),
        (json!({"error": {"message": "m", "type": "server_error", "code": null}}), 500),
        (json!({"error": "unexpected EOF"}), 500),
        (json!({"error": {"code": 12, "message": "m"}}), 500),
    ];
    for (value, expected) in cases {
        match origin().stream_error(&value) {
            ProviderError::Status { status, .. } => assert_eq!(status, expected, "{value}"),
            other => panic!("{value}: {other:?}"),
        }
    }
}

#[test]
fn retry_after_in_all_its_forms() {
    let read = |pairs: &[(&str, &str)]| {
        let header = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        // 1994-11-06 08:49:37 UTC, the date of RFC 9110's examples.
        retry_after(&header, UNIX_EPOCH + Duration::from_secs(784_111_777))
    };
    assert_eq!(read(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(read(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
    assert_eq!(read(&[("retry-after-ms", "250"), ("retry-after", "9")]), Some(Duration::from_millis(250)));
    assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")]), Some(Duration::from_mins(1)));
    assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
    let skewed = [("retry-after", "Mon, 01 Jan 2024 00:00:30 GMT"), ("date", "Mon, 01 Jan 2024 00:00:00 GMT")];
    assert_eq!(read(&skewed), Some(Duration::from_secs(30)));
    assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
    for nonsense in
        ["", "soon", "-3", "NaN", "inf", "1e400", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"]
    {
        assert_eq!(read(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}

#[test]
fn a_wait_in_the_body_counts_when_no_header_names_one() {
    let body = r#"{"error":{"code":429,"message":"Resource exhausted","details":[{"retryDelay":"20s"}]}}"#;
    match classify(429, body) {
        ProviderError::Status { retry_after, .. } => assert_eq!(retry_after, Some(Duration::from_secs(20))),
        other => panic!("{other:?}"),
    }
}

proptest::proptest! {
    #[test]
    fn no_body_panics_or_shows_the_key(body in ".{0,80}(hunter22)?.{0,20}", status in 300_u16..600) {
        let shown = classify(status, &body).to_string();
        proptest::prop_assert!(!shown.contains("hunter22"), "{}", shown);
    }
}
