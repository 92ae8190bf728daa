//! Runs tools through their public trait in a directory of their own.
#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axi::conversation::Preview;
use axi::sandbox::{Reach, Sandbox, Wanted};
use axi::tool::{Before, Person, Request, Roots, Settled, Tool, ToolContext, ToolMemory, ToolOutput};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A directory, a memory and a runtime for tools.
pub(crate) struct ToolBench {
    directory: tempfile::TempDir,
    /// Where the tools run.
    pub(crate) roots: Roots,
    /// What confines their children.
    pub(crate) sandbox: Sandbox,
    /// How far those reach; everything unless a test says otherwise.
    pub(crate) reach: Reach,
    /// What they remember.
    pub(crate) memory: ToolMemory,
    /// The turn's token.
    pub(crate) cancel: CancellationToken,
    runtime: tokio::runtime::Runtime,
}

/// A directory that is none for temporary files: `wanted`, but where the project itself lies in such a place; then the
/// home, of the environment or of this user. `/dev/shm` is none: commands may write there.
pub(crate) fn no_temporary_place(wanted: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let own = format!(":{}:", rustix::process::getuid().as_raw());
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_user = users.lines().filter(|row| row.contains(&own)).find_map(|row| row.split(':').nth(5));
    let places = [Some(wanted.to_owned()), home, of_user.map(PathBuf::from), Some("/".into())];
    let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain([std::env::temp_dir()]);
    let temporary: Vec<PathBuf> = temporary.filter_map(|place| place.canonicalize().ok()).collect();
    let is_right = |place: &PathBuf| {
        let Ok(place) = place.canonicalize() else { return false };
        !temporary.iter().any(|temporary| place.starts_with(temporary)) && tempfile::tempdir_in(place).is_ok()
    };
    places.into_iter().flatten().find(is_right).expect("a place outside of /tmp that can be written")
}

impl ToolBench {
    /// Makes an empty workspace.
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same where nothing is writable only for being temporary.
    pub(crate) fn in_no_temporary_place() -> Self {
        Self::below(&no_temporary_place(Path::new(env!("CARGO_TARGET_TMPDIR"))))
    }

    fn below(folder: &std::path::Path) -> Self {
        let directory = tempfile::tempdir_in(folder).unwrap();
        let root = directory.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        Self {
            roots: Roots { cwd: root.clone(), workspace: root, home: None },
            sandbox: Sandbox::new(Wanted::On, None, Vec::new(), Vec::new(), std::env::temp_dir()),
            reach: Reach::Full,
            directory,
            memory: ToolMemory::default(),
            cancel: CancellationToken::new(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.roots.cwd.join(name)
    }

    /// Where whole outputs are kept.
    pub(crate) fn output_dir(&self) -> PathBuf {
        self.directory.path().join("outputs")
    }

    /// Writes a file, with its directories.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file back.
    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Checks a call, as is done before a person is asked.
    pub(crate) fn check(&self, tool: &dyn Tool, input: &Value) -> Result<Preview, String> {
        let (roots, memory, output_dir) = (&self.roots, &self.memory, &self.output_dir());
        self.settled(tool, input).check(&Before { roots, memory, output_dir, can_lend: false })
    }

    /// The call that is judged, checked and run.
    fn settled(&self, tool: &dyn Tool, input: &Value) -> Arc<dyn Request> {
        let read = tool.read(input, &self.roots);
        match read.settle(&self.roots, &self.memory) {
            Settled::Instead { request, .. } => request,
            Settled::AsIs | Settled::Answer(_) => read,
        }
    }

    /// Runs a tool to its end.
    #[expect(clippy::needless_pass_by_value, reason = "most callers make it where they call")]
    pub(crate) fn run(&self, tool: &dyn Tool, input: Value) -> ToolOutput {
        self.watched(self.settled(tool, &input)).0
    }

    /// Runs a tool to its end and collects what it told on its way.
    #[expect(clippy::needless_pass_by_value, reason = "most callers make it where they call")]
    pub(crate) fn run_watched(&self, tool: &dyn Tool, input: Value) -> (ToolOutput, Vec<String>) {
        self.watched(tool.read(&input, &self.roots))
    }

    fn watched(&self, request: Arc<dyn Request>) -> (ToolOutput, Vec<String>) {
        let (sender, mut receiver) = mpsc::channel(1000);
        let output = self.runtime.block_on(request.run(self.context(sender, &self.output_dir())));
        let mut told = Vec::new();
        while let Ok(line) = receiver.try_recv() {
            told.push(line);
        }
        (output, told)
    }

    /// Runs a tool and cancels the turn as soon as it has told a line.
    #[expect(clippy::needless_pass_by_value, reason = "most callers make it where they call")]
    pub(crate) fn run_cancelled(&self, tool: &dyn Tool, input: Value) -> ToolOutput {
        let (sender, mut receiver) = mpsc::channel(1000);
        self.runtime.block_on(async {
            let output_dir = self.output_dir();
            let run = tool.read(&input, &self.roots).run(self.context(sender, &output_dir));
            let cancel = async {
                receiver.recv().await;
                self.cancel.cancel();
                // Whoever sends must not find the channel closed.
                receiver
            };
            tokio::join!(run, cancel).0
        })
    }

    /// Runs a tool and cancels the turn at a moment.
    #[expect(clippy::needless_pass_by_value, reason = "most callers make it where they call")]
    pub(crate) fn run_stopped(&self, tool: &dyn Tool, input: Value, moment: Duration) -> ToolOutput {
        let (sender, _receiver) = mpsc::channel(1000);
        self.runtime.block_on(async {
            let output_dir = self.output_dir();
            let run = tool.read(&input, &self.roots).run(self.context(sender, &output_dir));
            let stop = async {
                tokio::time::sleep(moment).await;
                self.cancel.cancel();
            };
            tokio::join!(run, stop).0
        })
    }

    /// Runs a tool and drops its future as soon as it has told a line.
    #[expect(clippy::needless_pass_by_value, reason = "most callers make it where they call")]
    pub(crate) fn run_dropped(&self, tool: &dyn Tool, input: Value) {
        let (sender, mut receiver) = mpsc::channel(1000);
        self.runtime.block_on(async {
            let output_dir = self.output_dir();
            tokio::select! {
                _ = tool.read(&input, &self.roots).run(self.context(sender, &output_dir)) => panic!("it ended by itself"),
                _ = receiver.recv() => {}
            }
        });
    }

    fn context<'a>(&'a self, progress: mpsc::Sender<String>, output_dir: &'a Path) -> ToolContext<'a> {
        ToolContext {
            roots: &self.roots,
            cancel: &self.cancel,
            progress,
            output_dir,
            memory: &self.memory,
            person: Person::nobody(),
            sandbox: &self.sandbox,
            reach: &self.reach,
            trash: None,
            trial: None,
            redact: &|text| text.replace("hunter2-hunter2", "[redacted]"),
        }
    }
}
