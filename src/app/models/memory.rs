//! Finds out how much memory a model can have, and which model fits into it.

use std::path::Path;

use crate::provider::local::{TABLE, Weights};

/// Below this much memory, in bytes, the smallest model comes first: the default one takes 1.1 GB, and up to 0.3 GB
/// more in a long conversation, and the other programs need memory, too.
const MEMORY: u64 = 2_200_000_000;

/// Sorts the models by how well they fit: the default model first, or the smallest one if memory is short.
pub(in crate::app) fn fitting(available: Option<u64>) -> Vec<&'static Weights> {
    let mut models: Vec<&Weights> = TABLE.iter().collect();
    if available.is_some_and(|bytes| bytes < MEMORY) {
        models.sort_by_key(|weights| weights.size);
    }
    models
}

/// Returns how much memory is available without taking it from others, in bytes: what the kernel reports, or what
/// the control group of this process has left if that is less (in a container). `None` if neither is known.
pub(in crate::app) fn available() -> Option<u64> {
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| machine(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let group = own_group(&groups, Path::new("/sys/fs/cgroup"));
    machine.into_iter().chain(group).min()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Returns what the control group of this process has left. If only its own part of the tree is visible, as in a
/// container, its folder is the root.
fn own_group(groups: &str, root: &Path) -> Option<u64> {
    groups.lines().find_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        // Control groups of version 2 have one tree for all controllers, those of version 1 one for each.
        let (root, names) = match controllers {
            "" => (root.to_owned(), ["memory.max", "memory.current", "inactive_file "]),
            "memory" => {
                let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
                (root.join("memory"), names)
            }
            _ => return None,
        };
        [root.join(path.trim_start_matches('/')), root].into_iter().find_map(|folder| {
            let most = read(&folder.join(names[0]))?;
            let current = read(&folder.join(names[1]))?;
            group(&most, &current, &read(&folder.join("memory.stat"))?, names[2])
        })
    })
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn machine(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns what a control group has left; cached files count as free. `None` without a limit.
fn group(most: &str, current: &str, stat: &str, files: &str) -> Option<u64> {
    let most: u64 = most.trim().parse().ok()?;
    let current: u64 = current.trim().parse().ok()?;
    let files = stat.lines().find_map(|line| line.strip_prefix(files)?.trim().parse::<u64>().ok());
    Some(most.saturating_sub(current.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(available: Option<u64>) -> &'static str {
        fitting(available)[0].name
    }

    #[test]
    fn the_small_model_comes_first_where_memory_is_short() {
        assert_eq!(first(Some(2_000_000_000)), "qwen2.5-coder-0.5b");
        assert_eq!(first(Some(8_000_000_000)), "qwen2.5-coder-1.5b");
        assert_eq!(first(None), "qwen2.5-coder-1.5b");
        // A model that is here is used even then.
        assert_eq!(fitting(Some(0)).len(), TABLE.len());
    }

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(machine("MemTotal:  8 kB\nMemAvailable:    2048 kB\n"), Some(2_097_152));
        assert_eq!(machine("MemTotal:  8 kB\n"), None);
    }

    #[test]
    fn a_control_group_counts_where_it_leaves_less() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "2000\n");
        write("a/b/memory.current", "1500\n");
        write("a/b/memory.stat", "anon 5\ninactive_file 300\nfile 9\n");
        write("memory/memory.limit_in_bytes", "900\n");
        write("memory/memory.usage_in_bytes", "500\n");
        write("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
        assert_eq!(own_group("0::/a/b\n", root.path()), Some(800));
        assert_eq!(own_group("9:cpu:/x\n4:memory:/docker/x\n0::/\n", root.path()), Some(500));
        write("a/b/memory.max", "max\n");
        assert_eq!(own_group("0::/a/b\n", root.path()), None);
        assert_eq!(own_group("", root.path()), None);
    }
}
