//! Finds out how much memory a model can have, and which model fits into it and is quick enough here.

use std::path::Path;

use crate::provider::local::{TABLE, Weights};

/// The memory in bytes that counts as free where the system does not say.
pub(super) const UNTOLD: u64 = 4_000_000_000;

/// Tokens a second below which nobody waits for an answer.
const SLOWEST: u64 = 3;

/// Sorts the models by how well they would run if they are here: the largest that has its memory first, and of those
/// that have not the smallest.
pub(in crate::app) fn fitting(available: Option<u64>) -> Vec<&'static Weights> {
    let (mut fit, mut tight): (Vec<&Weights>, Vec<&Weights>) =
        TABLE.iter().partition(|weights| has_memory(weights, available));
    fit.sort_by_key(|weights| std::cmp::Reverse(weights.size));
    tight.sort_by_key(|weights| weights.size);
    fit.extend(tight);
    fit
}

/// Lists the models that are worth fetching, the one to begin with first, then larger ones: those that have their memory, and
/// write [`SLOWEST`] tokens a second on a machine that multiplies so many bytes of weights a second (`local::speed`).
pub(in crate::app) fn offered(available: Option<u64>, speed: u64) -> Vec<&'static Weights> {
    let is_worth = |weights: &&Weights| has_memory(weights, available) && speed / weights.size.max(1) >= SLOWEST;
    let mut models: Vec<&Weights> = TABLE.iter().filter(is_worth).collect();
    let least = models.first().map_or(0, |weights| weights.size);
    models.retain(|weights| weights.size >= least);
    models
}

fn has_memory(weights: &Weights, available: Option<u64>) -> bool {
    available.unwrap_or(UNTOLD) >= weights.memory
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

    const SMALL: &str = "qwen2.5-coder-0.5b";
    const USUAL: &str = "qwen2.5-coder-1.5b";
    const LARGE: &str = "qwen3-4b";

    fn names(models: &[&Weights]) -> Vec<&'static str> {
        models.iter().map(|weights| weights.name).collect()
    }

    #[test]
    fn the_largest_that_has_its_memory_is_used() {
        assert_eq!(names(&fitting(Some(2_000_000_000))), [SMALL, USUAL, LARGE]);
        assert_eq!(names(&fitting(Some(5_000_000_000))), [USUAL, SMALL, LARGE]);
        assert_eq!(names(&fitting(Some(16_000_000_000))), [LARGE, USUAL, SMALL]);
        assert_eq!(names(&fitting(None)), [USUAL, SMALL, LARGE]);
        // A model that is here is used even then.
        assert_eq!(names(&fitting(Some(0))), [SMALL, USUAL, LARGE]);
    }

    #[test]
    fn what_would_be_too_slow_or_has_no_memory_is_not_offered() {
        let fast = 100_000_000_000;
        assert_eq!(names(&offered(Some(16_000_000_000), fast)), [USUAL, LARGE]);
        assert_eq!(names(&offered(Some(5_000_000_000), fast)), [USUAL]);
        assert_eq!(names(&offered(Some(1_000_000_000), fast)), [SMALL]);
        assert_eq!(names(&offered(None, fast)), [USUAL]);
        // Four tokens a second of the usual one, and fewer than two of the large one.
        assert_eq!(names(&offered(Some(16_000_000_000), 4_480_000_000)), [USUAL]);
        // Two of the usual one, and four of the small one.
        assert_eq!(names(&offered(Some(16_000_000_000), 2_240_000_000)), [SMALL]);
        assert_eq!(names(&offered(Some(16_000_000_000), 1_400_000_000)), [] as [&str; 0]);
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
