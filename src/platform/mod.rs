//! What differs from system to system, outside of the sandbox and its layers: one file a system, with the same items in
//! each. Whoever is above asks here and knows no system by its name. Knows no room.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;

pub(crate) use system::{
    ADOPTS, LOOKED_UP, NOTIFIER, NOTIFIES_IN_MARKUP, OPENERS, PICTURE_PROGRAMS, adopt_orphans, asleep,
    end_with_parent, next_data, pseudo_terminal, share_content, step_back, sync_below, unnamed,
};
