//! One binary for all integration tests: one file a behaviour, `support/` for what they share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; the configured exception covers only functions marked as tests; a skipped test says so"
)]

mod acp;
mod acp_faults;
mod acp_registry;
mod approval;
mod approval_laws;
mod approval_rules;
mod attention;
mod beside_ripgrep;
mod child_environment;
mod consent_prompt;
mod consent_reach;
mod consent_screens;
mod consent_trust;
mod cursor_answer;
mod dependencies;
mod dev_tools;
mod dialogs;
mod discovery;
mod docs;
mod doctor;
mod drafts;
mod editor;
mod editor_history;
mod editor_menus;
mod editor_pastes;
mod ended_midway;
mod explain;
mod fallback;
mod first_run;
mod floors;
mod gateways;
mod ghost;
mod gnu_screen;
mod handoff_comma;
mod handoff_frontend;
mod handoff_history;
mod handoff_hooks;
mod handoff_inside;
mod handoff_kept;
mod handoff_keys;
mod handoff_mend;
mod handoff_odd_shells;
mod handoff_other_shells;
mod handoff_output;
mod handoff_plugins;
mod handoff_rewrite;
mod handoff_shells;
mod handoff_small;
mod handoff_state;
mod hooks;
mod instructions;
mod interrupt;
mod kept_jobs;
mod keyboard;
mod keychain;
mod killed;
#[cfg(feature = "local")]
mod local_answers;
#[cfg(feature = "local")]
mod local_model;
#[cfg(feature = "local")]
mod local_offer;
mod locales;
#[cfg(test)]
mod machine;
mod markdown;
#[cfg(test)]
mod markdown_deviations;
#[cfg(test)]
mod markdown_html;
#[cfg(test)]
mod markdown_spec;
#[cfg(test)]
mod markdown_structure;
mod mcp;
mod mcp_list;
mod mcp_login;
mod mcp_serve;
mod money;
mod network_manners;
mod outside_text;
mod own_certificates;
mod patch_tool;
mod path_tools;
mod picture;
mod pictures;
mod planted;
mod print_answer;
mod print_exit;
mod print_session;
mod print_terminal;
mod project_root;
mod promises;
mod proxies;
mod pseudo_language;
mod pty;
mod recall;
mod render;
mod repl_approval;
mod repl_ask;
mod repl_command;
mod repl_explore;
mod repl_line;
mod repl_loan;
mod repl_menus;
mod repl_modes;
mod repl_narrow;
mod repl_plain;
mod repl_plan;
mod repl_shell;
mod repl_show;
mod repl_terminal;
mod repl_turn;
mod replay;
mod resize;
mod sandbox_asks;
mod sandbox_attributes;
mod sandbox_escapes;
mod sandbox_ordinary;
mod screen;
mod search;
mod secret_files;
mod secrets_elsewhere;
mod server;
mod server_window;
mod session_replay;
mod sessions;
mod settings_broken;
mod settings_check;
mod settings_live;
mod shell_jobs;
mod shell_tool;
mod slow_line;
mod stop_anywhere;
mod stored_responses;
mod support;
mod terminal_tool;
mod tool_proof;
mod tools;
mod tools_check;
mod trial;
mod trial_bounds;
mod trial_commands;
mod trial_copy;
mod trial_foreign;
mod trial_scope;
mod trial_shell;
mod trial_turns;
mod undo;
mod undo_corpus;
mod undo_lines;
mod undo_random;
mod unmade_edits;
mod web_tool;
mod wire_doctor;
mod wires;
mod worst_bugs;
