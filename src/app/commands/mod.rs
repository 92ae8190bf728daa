//! The commands that are no conversation.

mod check;
mod doctor;
mod doctor_model;
mod hook;
#[cfg(feature = "local")]
mod local;
#[cfg(not(feature = "local"))]
#[path = "no_local.rs"]
mod local;
mod login;
mod mcp;
mod mcp_found;
mod mcp_login;
mod models;
mod plain;
mod recall;
#[cfg(test)]
mod reference_tests;
mod render;
mod replay;
mod script;
mod sessions;
mod settings;
mod stand;
mod tools;
mod trial;
mod usage;

pub(super) use doctor::{doctor, doctor_text, self_check};
pub(in crate::app) use doctor_model::doctor_model;
pub(super) use hook::init;
pub(super) use local::local;
pub(super) use login::{change_key, login, login_any, logout};
pub(in crate::app) use mcp::mcp;
pub(super) use models::models;
pub(super) use plain::{completions, manual, reset_terminal};
pub(in crate::app) use recall::{recall, recalled};
pub(super) use render::render;
pub(super) use replay::replay;
pub(super) use script::script;
pub(super) use sessions::sessions;
pub(super) use settings::config;
pub(in crate::app) use stand::{DEFINITIONS, Offered, layer_probe};
pub(in crate::app) use tools::{later_search, machine, search as search_tools, tools};
pub(in crate::app) use trial::{ASKED, ASKING, agrees_to_copy, can_try, trial, why_not};
pub(in crate::app) use usage::usage;
