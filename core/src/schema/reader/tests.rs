//! What is read here, and by `serde_json`, is the same.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::*;
use crate::schema::v1::{ContentBlock, SessionNotification, SessionUpdate};
use crate::schema::write;
use serde::Serialize;

/// A host's own type, with what serde has beyond this crate's.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Own {
    #[serde(default)]
    by_number: BTreeMap<u8, (i64, f64)>,
    #[serde(default)]
    by_choice: BTreeMap<Choice, char>,
    choice: Choice,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Choice {
    Unit,
    One(Option<u16>),
    Two(bool, i8),
    Named { of: () },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    Number(i128),
    Text(String),
    Parts(Vec<Part>),
}

fn same<'a, T: Deserialize<'a> + Serialize + Debug + PartialEq>(json: &'a str) {
    match (read::<T>(json), serde_json::from_str::<T>(json)) {
        (Ok(ours), Ok(other)) => {
            assert_eq!(ours, other, "{json}");
            assert_eq!(write(&ours).unwrap(), serde_json::to_string(&other).unwrap(), "{json}");
        }
        (Err(ours), Err(_)) => assert!(ours.line() > 0 && ours.column() <= json.len(), "{ours}"),
        (ours, other) => panic!("{json}: {ours:?} {other:?}"),
    }
}

#[test]
fn what_is_read_and_written_is_what_serde_json_would() {
    for json in [
        r#"{"choice":"Unit"}"#,
        r#"{"choice":{"One":7},"by_number":{"3":[-9,0.5],"20":[0,1e3]},"parts":["a",1,[2,["\n"]]],"x":{"y":[null]}}"#,
        r#"{ "choice" : {"Two":[true,-1]} , "by_choice" : {"Unit":"\u00e9"} }"#,
        r#"{"choice":{"Named":{"of":null}},"caf\u00e9":"\ud83d\ude42\"\\\u0007"}"#,
        r#"{"choice":"Unit","by_number":{"x":[1,2]}}"#,
        r#"{"choice":"None"}"#,
        r#"{"choice":"Unit","choice":"Unit"}"#,
        r#"{"choice":"Unit"} 7"#,
        r#"{"by_number":{}}"#,
        r#"{"choice":"Unit""#,
        "[]",
        "7",
        "",
    ] {
        same::<Own>(json);
        same::<serde_json::Value>(json);
    }
}

#[test]
fn unions_are_read_wherever_their_tag_stands() {
    let updates = [
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\nb","_meta":{"k": [ 1 ]}}}"#,
        r#"{"content":{"text":"x","type":"text"},"messageId":"m","sessionUpdate":"agent_message_chunk"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a","oldText":null,"newText":""},{"type":"_own", "x":7 }],"locations":null}"#,
        r#"{"x":"\ud800","sessionUpdate":"_own" , "y":[{}]}"#,
        r#"{"sessionUpdate":"plan_removed","id":7}"#,
        r#"{"sessionUpdate":"usage_update","used":1,"size":18446744073709551615}"#,
        r#"{"sessionUpdate":"usage_update","used":-1,"size":0}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ud800"}}"#,
        r#"{"content":{"type":"text","text":"\ud800"},"sessionUpdate":"agent_message_chunk"}"#,
        r#"{"sessionUpdate":null}"#,
        r#"{"sessionUpdate":7}"#,
        r#"{"content":{}}"#,
        "{}",
        "[1]",
        "null",
    ];
    for update in updates {
        same::<SessionUpdate<'_>>(update);
        same::<SessionNotification<'_>>(&format!(r#"{{"sessionId":"s","update":{update}}}"#));
        same::<Vec<ContentBlock<'_>>>(&format!("[{update},]"));
    }
}

#[test]
fn errors_say_where() {
    let error =
        read::<SessionUpdate<'_>>("{\"sessionUpdate\":\n \"usage_update\",\"used\":true,\"size\":1}").unwrap_err();
    assert_eq!(error.to_string(), "invalid type: boolean `true`, expected u64 at line 2 column 27");
    let deep = "[".repeat(500) + &"]".repeat(500);
    assert!(read::<serde_json::Value>(&deep).unwrap_err().to_string().starts_with("nested too deeply"));
}
