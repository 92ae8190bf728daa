//! A stop at any moment of any tool that starts processes leaves none of them.

use std::path::PathBuf;
use std::time::Duration;

use axi::tool::{ShellJobTool, ShellTool, TerminalTool, Tool};
use serde_json::{Value, json};

use crate::support::changes::{all_end, command_line};
use crate::support::tool_bench::ToolBench;

/// Moments of the beginning, where everything is set up, and beyond (milliseconds).
const MOMENTS: [u64; 6] = [0, 2, 7, 19, 53, 131];

/// Stops a tool at each moment; `TAG` in its input becomes a word that nothing else on this machine has.
fn stop(index: usize, tool: &dyn Tool, input: &Value) {
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let tag = format!("45{index}{number}.{}", std::process::id());
        let input: Value = serde_json::from_str(&input.to_string().replace("TAG", &tag)).unwrap();
        let mut bench = ToolBench::new();
        let output = bench.run_stopped(tool, input, Duration::from_millis(moment));
        // What was handed over before the stop belongs to the session: it ends with that, or when it is told to.
        let _ = bench.run(&ShellJobTool, json!({"action": "kill", "job": 1001}));
        drop(std::mem::take(&mut bench.memory));
        // Of commands, of what stands between them and axi, and of what left its group, session and environment.
        let what = format!("{moment} ms into {}: {output:?}", tool.spec().name);
        all_end(&what, |process| command_line(process).contains(&tag));
    }
}

#[test]
fn no_process_is_left_by_a_tool_that_is_stopped_anywhere() {
    let helper = || Some(PathBuf::from(env!("CARGO_BIN_EXE_axi")));
    // Starts one in its group and one outside of everything, and floods.
    let nasty = "(env -i setsid sleep TAG &); sleep TAG & (while :; do echo TAG; sleep 0.01; done); sleep TAG";
    let (shell, bare, terminal) = (ShellTool::new(helper()), ShellTool::new(None), TerminalTool::new(helper()));
    let tools: [(&dyn Tool, Value); 6] = [
        (&shell, json!({"command": nasty})),
        (&shell, json!({"commands": ["sleep 0.02 # TAG", "sleep 0.02 # TAG", "sleep TAG"]})),
        (&bare, json!({"command": "sleep TAG & sleep TAG"})),
        (&shell, json!({"command": nasty, "background": true})),
        (&shell, json!({"command": "(env -i setsid sleep TAG &); sleep TAG", "keep": true})),
        (&terminal, json!({"action": "start", "command": nasty, "until": "never", "wait": 60})),
    ];
    std::thread::scope(|scope| {
        for (index, (tool, input)) in tools.iter().enumerate() {
            scope.spawn(move || stop(index, *tool, input));
        }
    });
}
