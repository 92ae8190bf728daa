//! Landlock: limits which files and processes a child reaches (`landlock(7)`).

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};

use super::{Confinement, SandboxError, hidden, writable};

/// The ABI versions that axi distinguishes, newest first.
const VERSIONS: &[(u8, ABI)] =
    &[(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];

/// Returns the newest of these versions that the kernel has; `None` without Landlock.
pub(super) fn abi() -> Option<u8> {
    let made = |abi: ABI| {
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset = ruleset.handle_access(AccessFs::from_all(abi)).ok()?;
        if abi == ABI::V4 {
            ruleset = ruleset.handle_access(landlock::AccessNet::from_all(abi)).ok()?;
        }
        if abi == ABI::V6 {
            ruleset = ruleset.scope(Scope::from_all(abi)).ok()?;
        }
        // Creates a rule set and drops it: it confines nobody before it is applied.
        ruleset.create().ok()
    };
    VERSIONS.iter().find(|(_, abi)| made(*abi).is_some()).map(|(number, _)| *number)
}

fn newest() -> ABI {
    let number = abi();
    VERSIONS.iter().find(|(known, _)| Some(*known) == number).map_or(ABI::Unsupported, |(_, abi)| *abi)
}

/// Limits the files and processes of this process, and of all it starts, to those of the confinement.
///
/// # Errors
/// [`SandboxError::Files`]: the process must then not go on.
pub(super) fn restrict(confinement: &Confinement, root: bool) -> Result<(), SandboxError> {
    let abi = newest();
    let failed = |error: landlock::RulesetError| SandboxError::Files(error.to_string());
    let write = AccessFs::from_write(abi);
    // An approved command may use devices and sockets as their permissions allow.
    let left_alone = if confinement.read_only { BitFlags::EMPTY } else { AccessFs::IoctlDev.into() };
    let handled = if confinement.read_only { AccessFs::from_all(abi) } else { write & !left_alone };
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    ruleset = ruleset.handle_access(handled).map_err(failed)?;
    if abi == ABI::V6 && (confinement.read_only || confinement.apart) {
        let scope = if confinement.read_only { Scope::from_all(abi) } else { Scope::Signal.into() };
        ruleset = ruleset.scope(scope).map_err(failed)?;
    }
    let mut rules = Rules { ruleset: ruleset.create().map_err(failed)?, handled };
    if confinement.read_only {
        let hidden = hidden::all(confinement.home.as_deref(), &confinement.hidden, root);
        let read = AccessFs::from_read(abi);
        // Landlock allows listing only for a whole tree. That is acceptable: names are no secret here, contents
        // are.
        rules.add(Path::new("/"), AccessFs::ReadDir.into())?;
        for path in hidden::readable(&hidden).iter().chain(&confinement.readable) {
            rules.add(path, read)?;
        }
    }
    for device in writable::devices(confinement.read_only, root) {
        rules.add(&device, handled)?;
    }
    for path in &confinement.writable {
        rules.add(path, handled)?;
    }
    let status = rules.ruleset.restrict_self().map_err(failed)?;
    match status.landlock {
        LandlockStatus::Available { .. } => Ok(()),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => {
            Err(SandboxError::Files("it is not there any more".to_owned()))
        }
    }
}

struct Rules {
    ruleset: RulesetCreated,
    handled: BitFlags<AccessFs>,
}

impl Rules {
    /// Allows an access below a path; a path that cannot be opened is not allowed.
    fn add(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), SandboxError> {
        let Ok(file) = PathFd::new(path) else { return Ok(()) };
        let access = access & self.handled;
        // The kernel rejects rights of directories on a file.
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V6) };
        let rule = PathBeneath::new(file, access);
        let added = (&mut self.ruleset).add_rule(rule);
        added.map(|_| ()).map_err(|error| SandboxError::Files(error.to_string()))
    }
}
