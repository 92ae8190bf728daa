//! What an approved command may write besides its workspace, and the devices that every command needs: tables and
//! look-ups.

use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;

/// Caches of builds and package managers below home: losing or spoiling one costs a download. The list has no
/// directory with settings, or with programs that are run later. So it does not have `.cache` as a whole: shells
/// source files there to start faster, and prompts run programs from it.
const CACHES: &[&str] = &[
    ".cache/JuliaPkg",
    ".cache/R",
    ".cache/babel-loader",
    ".cache/bazelisk",
    ".cache/black",
    ".cache/buildkit",
    ".cache/cabal",
    ".cache/ccache",
    ".cache/clangd",
    ".cache/composer",
    ".cache/conda",
    ".cache/coursier",
    ".cache/dart",
    ".cache/esbuild",
    ".cache/fontconfig",
    ".cache/ghcide",
    ".cache/go-mod",
    ".cache/golangci-lint",
    ".cache/gopls",
    ".cache/helm",
    ".cache/hie-bios",
    ".cache/huggingface/datasets",
    ".cache/huggingface/hub",
    ".cache/huggingface/xet",
    ".cache/jedi",
    ".cache/matplotlib",
    ".cache/mesa_shader_cache",
    ".cache/mypy",
    ".cache/nix",
    ".cache/node-gyp",
    ".cache/npm",
    ".cache/parcel",
    ".cache/parso",
    ".cache/pip-tools",
    ".cache/pkgdata",
    ".cache/prisma",
    ".cache/pylint",
    ".cache/pytest",
    ".cache/rattler",
    ".cache/rosetta",
    ".cache/ruff",
    ".cache/sccache",
    ".cache/selenium",
    ".cache/staticcheck",
    ".cache/torch",
    ".cache/turbo",
    ".cache/typescript",
    ".cache/vite",
    ".cache/webpack",
    ".bun/install/cache",
    ".bundle/cache",
    ".cabal/packages",
    ".cargo/git",
    ".cargo/registry",
    ".cargo/.global-cache",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".ccache",
    ".composer/cache",
    ".conda/pkgs",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/notifications",
    ".gradle/wrapper/dists",
    ".hex",
    ".ivy2",
    ".julia/compiled",
    ".m2/repository",
    ".node-gyp",
    ".nuget/packages",
    ".pnpm-store",
    ".pub-cache/hosted",
    ".sbt/boot",
    ".stack/pantry",
    ".stack/snapshots",
    ".yarn/berry",
    "go/pkg",
    ".local/share/pnpm/store",
    ".local/share/virtualenv",
    "Library/Caches",
];

/// More caches, with the programs that fail if they cannot create theirs: it is created for a line that names such
/// a program.
const NEEDED: &[(&str, &[&str])] = &[
    (".cache/bazel", &["bazel", "bazelisk"]),
    (".cache/bun", &["bun", "bunx"]),
    (".cache/deno", &["deno"]),
    (".cache/go-build", &["go", "make", "golangci-lint"]),
    (".cache/pdm", &["pdm"]),
    (".cache/pip", &["pip", "pip3", "python", "python3", "tox", "nox"]),
    (".cache/pnpm", &["pnpm"]),
    (".cache/pypoetry/cache", &["poetry"]),
    (".cache/uv", &["uv", "uvx"]),
    (".cache/yarn", &["yarn"]),
    (".cache/zig", &["zig"]),
    (".npm", &["npm", "npx"]),
];

/// Devices that keep nothing.
#[cfg(target_os = "linux")]
const HARMLESS: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// More devices that approved commands use: pseudo-terminals, shared memory, virtual machines, graphics.
#[cfg(target_os = "linux")]
const OTHERS: &[&str] = &["ptmx", "pts", "shm", "mqueue", "kvm", "fuse", "dri", "kfd", "net"];

/// Lists what an approved command may write besides the workspace, as far as it exists: caches, directories for
/// temporary files, and git's own directory if it lies outside (worktrees and submodules).
pub(super) fn beside(workspace: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut writable = passing(home);
    writable.extend(git_directories(workspace));
    writable.retain(|path| path.exists());
    writable
}

/// Lists caches.
pub(super) fn caches(home: Option<&Path>) -> Vec<PathBuf> {
    let names = CACHES.iter().chain(NEEDED.iter().map(|(name, _)| name));
    let caches = home.into_iter().flat_map(|home| names.clone().map(|name| home.join(name)));
    caches.filter(|path| path.exists()).collect()
}

/// Lists those of them whose content nobody misses: caches and directories for temporary files.
pub(super) fn passing(home: Option<&Path>) -> Vec<PathBuf> {
    let mut writable = caches(home);
    writable.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
    writable.retain(|path| path.exists());
    writable
}

/// Creates the caches that the programs of a line need, if home is a real directory. If that fails, the program
/// itself reports it.
pub(super) fn make_needed(line: &str, home: &Path) {
    let words: Vec<&str> = line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).collect();
    for (name, _) in NEEDED.iter().filter(|(_, programs)| programs.iter().any(|program| words.contains(program))) {
        let cache = home.join(name);
        if home.is_dir() && cache.symlink_metadata().is_err() {
            drop(std::fs::create_dir_all(cache));
        }
    }
}

/// Returns the repository's own directories, if `.git` is a file that names them; see `gitrepository-layout(5)`.
pub(super) fn git_directories(workspace: &Path) -> Vec<PathBuf> {
    let Ok(text) = std::fs::read_to_string(workspace.join(".git")) else { return Vec::new() };
    let Some(named) = text.trim_end().strip_prefix("gitdir: ") else { return Vec::new() };
    let Ok(directory) = workspace.join(named).real_path() else { return Vec::new() };
    // A file in the workspace must not open any directory it names: git's directory has to point back to the
    // workspace.
    if !directory.join("HEAD").is_file() || !leads_back(&directory, workspace) {
        return Vec::new();
    }
    let common = match std::fs::read_to_string(directory.join("commondir")) {
        Ok(common) => directory.join(common.trim_end()),
        Err(_) => directory.clone(),
    };
    // What the worktrees of a repository share contains the worktree's own directory.
    let Some(common) = common.real_path().ok().filter(|common| directory.starts_with(common)) else {
        return Vec::new();
    };
    let both = [directory, common];
    both.into_iter().filter(|path| path.components().any(|part| part.as_os_str() == ".git")).collect()
}

/// Tells whether git's directory names the workspace: a worktree's in its file `gitdir`, a submodule's in a
/// setting.
fn leads_back(directory: &Path, workspace: &Path) -> bool {
    let same = |one: &Path, other: &Path| {
        one.real_path().is_ok_and(|one| other.real_path().is_ok_and(|other| one == other))
    };
    if let Ok(file) = std::fs::read_to_string(directory.join("gitdir")) {
        return same(&directory.join(file.trim_end()), &workspace.join(".git"));
    }
    let settings = std::fs::read_to_string(directory.join("config")).unwrap_or_default();
    let mut lines = settings.lines().filter_map(|line| line.trim().strip_prefix("worktree"));
    let mut places = lines.by_ref().filter_map(|rest| rest.trim_start().strip_prefix('='));
    places.any(|place| same(&directory.join(place.trim().trim_matches('"')), workspace))
}

/// Lists the devices that a child may open for writing.
#[cfg(target_os = "linux")]
pub(super) fn devices(read_only: bool, root: bool) -> Vec<PathBuf> {
    let names = HARMLESS.iter().chain(if read_only { &[][..] } else { OTHERS });
    let mut devices: Vec<PathBuf> = names.map(|name| Path::new("/dev").join(name)).collect();
    if !read_only {
        let graphics = Path::new("/dev").read_dir().into_iter().flatten().flatten();
        let graphics = graphics.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"nvidia"));
        devices.extend(graphics.map(|entry| entry.path()));
        // Programs change their own settings in /proc; for root it would open the whole kernel.
        if !root {
            devices.push(PathBuf::from("/proc"));
        }
    }
    devices.retain(|path| path.exists());
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_caches_of_builds_are_writable_and_one_that_is_needed_is_made() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for name in
            [".cache/p10k-dump", ".cache/axi", ".cache/gitstatus", ".cache/zsh", ".cache/pip", ".cache/go-mod"]
        {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        make_needed("cd x && GOFLAGS=-v /usr/local/bin/go build ./... # uvx", &home);
        let mut found = beside(&home.join("nowhere"), Some(&home));
        found.retain(|path| path.starts_with(&home));
        found.sort();
        let names = [".cache/go-build", ".cache/go-mod", ".cache/pip", ".cache/uv"].map(|name| home.join(name));
        assert_eq!(found, names);
    }

    #[test]
    fn a_worktree_may_write_its_repository_and_a_planted_file_opens_nothing() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let own = root.join("main/.git/worktrees/side");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        let side = root.join("side");
        std::fs::create_dir(&side).unwrap();
        std::fs::write(side.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(git_directories(&side), Vec::<PathBuf>::new(), "nothing there says that it is this worktree's");
        std::fs::write(own.join("gitdir"), format!("{}\n", side.join(".git").display())).unwrap();
        assert_eq!(git_directories(&side), [own.clone(), root.join("main/.git")]);

        // Another repository's worktree, and a worktree of our own that would share another's repository.
        let planted = root.join("thief");
        std::fs::create_dir_all(planted.join("mine/.git")).unwrap();
        std::fs::write(planted.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(git_directories(&planted), Vec::<PathBuf>::new());
        std::fs::write(planted.join(".git"), "gitdir: mine/.git\n").unwrap();
        for (name, text) in [("HEAD", "x"), ("gitdir", "../../.git"), ("commondir", "../../../main/.git")] {
            std::fs::write(planted.join("mine/.git").join(name), text).unwrap();
        }
        assert_eq!(git_directories(&planted), Vec::<PathBuf>::new());
        std::fs::remove_file(planted.join("mine/.git/commondir")).unwrap();
        assert_eq!(git_directories(&planted), [planted.join("mine/.git"), planted.join("mine/.git")]);

        let module = root.join("main/.git/modules/part");
        let part = root.join("main/part");
        std::fs::create_dir_all(&module).unwrap();
        std::fs::create_dir(&part).unwrap();
        std::fs::write(module.join("HEAD"), "x").unwrap();
        std::fs::write(part.join(".git"), "gitdir: ../.git/modules/part\n").unwrap();
        assert_eq!(git_directories(&part), Vec::<PathBuf>::new());
        std::fs::write(module.join("config"), "[core]\n\tbare = false\n\tworktree = ../../../part\n").unwrap();
        assert_eq!(git_directories(&part), [module.clone(), module]);

        let planted = root.join("planted");
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir(&planted).unwrap();
        std::fs::write(root.join("home/HEAD"), "x").unwrap();
        std::fs::write(planted.join(".git"), format!("gitdir: {}\n", root.join("home").display())).unwrap();
        assert_eq!(git_directories(&planted), Vec::<PathBuf>::new());
    }
}
