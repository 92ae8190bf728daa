//! The developer tools that are looked for: one row a tool. Data only.

use serde_json::{Map, Value};

use super::template::{self, Parameter, TemplateError};
use crate::conversation::Effect;

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Version control, and the services around it.
    Versions,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Python.
    Python,
    /// Java and its relatives.
    Java,
    /// .NET.
    DotNet,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Builds of any language.
    Build,
    /// Containers and clusters.
    Containers,
    /// Databases.
    Databases,
    /// Text and data.
    Text,
    /// Editors and shells.
    Editors,
}

impl Category {
    /// Every category with its word in JSON, in the order they are shown.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Versions, "versions"),
        (Self::JavaScript, "javascript"),
        (Self::Python, "python"),
        (Self::Java, "java"),
        (Self::DotNet, "dotnet"),
        (Self::Rust, "rust"),
        (Self::Go, "go"),
        (Self::Build, "build"),
        (Self::Containers, "containers"),
        (Self::Databases, "databases"),
        (Self::Text, "text"),
        (Self::Editors, "editors"),
    ];

    /// Returns the word of JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(category, _)| *category == self).map_or("", |(_, word)| word)
    }
}

/// A developer tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DevTool {
    /// Its name here, unique.
    pub id: &'static str,
    /// What it is for.
    pub category: Category,
    /// The programs it may be, the first that is found; `~/…` is a file below the home.
    pub programs: &'static [&'static str],
    /// What makes it say its version; nothing where asking would open a window.
    pub version: &'static str,
    /// What installs it: the name of its package where most package managers agree, or an address.
    pub package: &'static str,
    /// Where managers have another name for it: manager and package.
    pub packages: &'static [(&'static str, &'static str)],
    /// Files of a project that speak for it.
    pub markers: &'static [&'static str],
    /// What it can be asked.
    pub actions: &'static [Action],
}

/// Something a tool can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Its name, unique among the tool's.
    pub name: &'static str,
    /// What it would touch.
    pub effect: Effect,
    /// What runs; see the room's `template`.
    pub runs: &'static str,
}

impl Action {
    /// Returns its parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        template::parameters(self.runs)
    }

    /// Shows what runs, its parameters in capitals.
    #[must_use]
    pub fn shown(&self) -> String {
        template::shown(self.runs)
    }

    /// Makes the program and its arguments.
    ///
    /// # Errors
    /// What of the values does not fit.
    pub fn arguments(&self, given: &Map<String, Value>) -> Result<Vec<String>, TemplateError> {
        template::arguments(self.runs, given)
    }
}

const fn reads(name: &'static str, runs: &'static str) -> Action {
    Action { name, effect: Effect::Read, runs }
}

const fn runs(name: &'static str, runs: &'static str) -> Action {
    Action { name, effect: Effect::Execute, runs }
}

const fn fetches(name: &'static str, runs: &'static str) -> Action {
    Action { name, effect: Effect::Network, runs }
}

const fn tool(
    id: &'static str,
    category: Category,
    version: &'static str,
    package: &'static str,
    markers: &'static [&'static str],
    actions: &'static [Action],
) -> DevTool {
    DevTool { id, category, programs: &[], version, package, packages: &[], markers, actions }
}

impl DevTool {
    const fn named(self, programs: &'static [&'static str]) -> Self {
        Self { programs, ..self }
    }

    const fn packaged(self, packages: &'static [(&'static str, &'static str)]) -> Self {
        Self { packages, ..self }
    }

    /// Returns the programs it may be.
    pub fn candidates(&self) -> impl Iterator<Item = &'static str> {
        let own = self.programs.is_empty().then_some(self.id);
        own.into_iter().chain(self.programs.iter().copied())
    }

    /// Says how this system would install it: a command, or an address.
    #[must_use]
    pub fn install(&self, manager: Option<&str>) -> String {
        if self.package.contains('.') {
            return format!("https://{}", self.package);
        }
        let Some(manager) = manager else { return format!("https://repology.org/project/{}", self.package) };
        let own = self.packages.iter().find(|(name, _)| *name == manager);
        let package = own.map_or(self.package, |(_, package)| package);
        match manager {
            "pacman" => format!("pacman -S {package}"),
            "apk" => format!("apk add {package}"),
            other => format!("{other} install {package}"),
        }
    }
}

use Category::{Build, Containers, Databases, DotNet, Editors, Go, Java, JavaScript, Python, Rust, Text, Versions};

const PACKAGE_JSON: &[&str] = &["package.json"];
const PYPROJECT: &[&str] = &["pyproject.toml", "setup.py", "requirements.txt"];

/// Every tool that is looked for.
pub const TABLE: &[DevTool] = &[
    tool(
        "git",
        Versions,
        "--version",
        "git",
        &[".git"],
        &[
            reads("status", "git status --short --branch"),
            reads("diff", "git diff [--staged {staged:boolean}] [-- {path:file}]"),
            reads("log", "git log --oneline -n {count:number=20} [-- {path:file}]"),
            reads("show", "git show --stat {revision:text=HEAD}"),
            reads("blame", "git blame -- {path:file}"),
        ],
    ),
    tool(
        "gh",
        Versions,
        "--version",
        "gh",
        &[".github"],
        &[
            fetches("issues", "gh issue list --limit {count:number=20}"),
            fetches("pull_requests", "gh pr list --limit {count:number=20}"),
            fetches("checks", "gh pr checks"),
        ],
    )
    .packaged(&[("pacman", "github-cli"), ("apk", "github-cli")]),
    tool("node", JavaScript, "--version", "nodejs", PACKAGE_JSON, &[runs("run", "node {file:file}")])
        .named(&["node", "nodejs"])
        .packaged(&[("brew", "node")]),
    tool(
        "npm",
        JavaScript,
        "--version",
        "npm",
        &["package-lock.json", "package.json"],
        &[
            runs("script", "npm run {script:text}"),
            runs("test", "npm test"),
            runs("install", "npm install"),
            fetches("outdated", "npm outdated"),
        ],
    )
    .packaged(&[("brew", "node"), ("dnf", "nodejs-npm")]),
    tool(
        "pnpm",
        JavaScript,
        "--version",
        "pnpm.io/installation",
        &["pnpm-lock.yaml", "pnpm-workspace.yaml"],
        &[runs("script", "pnpm run {script:text}"), runs("install", "pnpm install")],
    ),
    tool(
        "yarn",
        JavaScript,
        "--version",
        "yarnpkg.com/getting-started/install",
        &["yarn.lock"],
        &[runs("script", "yarn run {script:text}"), runs("install", "yarn install")],
    ),
    tool(
        "bun",
        JavaScript,
        "--version",
        "bun.sh",
        &["bun.lock", "bun.lockb"],
        &[runs("script", "bun run {script:text}"), runs("test", "bun test"), runs("install", "bun install")],
    ),
    // A function of the shell: what is found is the file it comes from.
    tool("nvm", JavaScript, "", "github.com/nvm-sh/nvm", &[".nvmrc"], &[]).named(&["~/.nvm/nvm.sh"]),
    tool(
        "python",
        Python,
        "--version",
        "python3",
        PYPROJECT,
        &[runs("run", "python3 {file:file}"), runs("module", "python3 -m {module:text}")],
    )
    .named(&["python3", "python"])
    .packaged(&[("pacman", "python"), ("brew", "python")]),
    tool(
        "pip",
        Python,
        "--version",
        "python3-pip",
        &["requirements.txt"],
        &[runs("list", "pip list"), runs("install", "pip install {package:text}")],
    )
    .named(&["pip3", "pip"])
    .packaged(&[("pacman", "python-pip"), ("apk", "py3-pip"), ("brew", "python")]),
    tool(
        "uv",
        Python,
        "--version",
        "docs.astral.sh/uv",
        &["uv.lock"],
        &[runs("run", "uv run {script:text}"), runs("sync", "uv sync"), runs("add", "uv add {package:text}")],
    ),
    tool(
        "poetry",
        Python,
        "--version",
        "python-poetry.org",
        &["poetry.lock"],
        &[runs("run", "poetry run {script:text}"), runs("install", "poetry install")],
    ),
    tool("java", Java, "-version", "default-jdk", &["pom.xml", "build.gradle", "build.gradle.kts"], &[]).packaged(
        &[("dnf", "java-latest-openjdk"), ("pacman", "jdk-openjdk"), ("apk", "openjdk21"), ("brew", "openjdk")],
    ),
    tool(
        "maven",
        Java,
        "--version",
        "maven",
        &["pom.xml"],
        &[
            runs("compile", "mvn --quiet compile"),
            runs("test", "mvn --quiet test"),
            runs("package", "mvn --quiet package"),
        ],
    )
    .named(&["mvn"]),
    tool(
        "gradle",
        Java,
        "--version",
        "gradle",
        &["build.gradle", "build.gradle.kts", "settings.gradle"],
        &[runs("build", "gradle build"), runs("test", "gradle test"), runs("task", "gradle {task:text}")],
    ),
    tool(
        "dotnet",
        DotNet,
        "--version",
        "dot.net",
        &["global.json", "Directory.Build.props"],
        &[
            runs("build", "dotnet build"),
            runs("test", "dotnet test"),
            runs("run", "dotnet run [--project {project:file}]"),
        ],
    ),
    tool("msbuild", DotNet, "-version", "mono-project.com", &[], &[runs("build", "msbuild {project:file}")]),
    tool(
        "rustup",
        Rust,
        "--version",
        "rustup.rs",
        &["rust-toolchain", "rust-toolchain.toml"],
        &[reads("toolchains", "rustup toolchain list")],
    ),
    tool(
        "cargo",
        Rust,
        "--version",
        "rustup.rs",
        &["Cargo.toml"],
        &[
            runs("check", "cargo check [--package {package:text}]"),
            runs("test", "cargo test [--package {package:text}] [{filter:text}]"),
            runs("build", "cargo build [--release {release:boolean}]"),
            runs("clippy", "cargo clippy [--all-targets {all_targets:boolean}]"),
            runs("fmt", "cargo fmt"),
            runs("tree", "cargo tree [--depth {depth:number}]"),
        ],
    ),
    tool(
        "go",
        Go,
        "version",
        "golang-go",
        &["go.mod", "go.work"],
        &[
            runs("build", "go build {packages:text=./...}"),
            runs("test", "go test {packages:text=./...}"),
            runs("vet", "go vet {packages:text=./...}"),
        ],
    )
    .packaged(&[("dnf", "golang"), ("pacman", "go"), ("apk", "go"), ("brew", "go")]),
    tool(
        "make",
        Build,
        "--version",
        "make",
        &["Makefile", "makefile", "GNUmakefile"],
        &[runs("target", "make {target:text}")],
    ),
    tool(
        "cmake",
        Build,
        "--version",
        "cmake",
        &["CMakeLists.txt"],
        &[
            runs("configure", "cmake -S {source:directory=.} -B {build:directory=build}"),
            runs("build", "cmake --build {build:directory=build}"),
        ],
    ),
    tool("ninja", Build, "--version", "ninja-build", &["build.ninja"], &[runs("build", "ninja [{target:text}]")])
        .packaged(&[("pacman", "ninja"), ("brew", "ninja"), ("apk", "ninja")]),
    tool(
        "just",
        Build,
        "--version",
        "just",
        &["justfile", "Justfile", ".justfile"],
        &[runs("recipe", "just {recipe:text}")],
    ),
    tool(
        "docker",
        Containers,
        "--version",
        "docker",
        &["Dockerfile", ".dockerignore"],
        &[
            runs("containers", "docker ps"),
            runs("images", "docker images"),
            runs("logs", "docker logs --tail {lines:number=100} {container:text}"),
        ],
    )
    .packaged(&[("apt-get", "docker.io"), ("dnf", "docker-cli"), ("apk", "docker-cli")]),
    tool(
        "compose",
        Containers,
        "version",
        "docker-compose",
        &["compose.yaml", "compose.yml", "docker-compose.yml"],
        &[
            runs("services", "docker-compose ps"),
            runs("logs", "docker-compose logs --tail {lines:number=100} [{service:text}]"),
        ],
    )
    .named(&["docker-compose"]),
    tool("podman", Containers, "--version", "podman", &["Containerfile"], &[runs("containers", "podman ps")]),
    tool(
        "kubectl",
        Containers,
        "version --client",
        "kubernetes.io/docs/tasks/tools",
        &["kustomization.yaml"],
        &[
            fetches("get", "kubectl get {kind:text} [--namespace {namespace:text}]"),
            fetches("logs", "kubectl logs --tail {lines:number=100} {pod:text}"),
        ],
    ),
    tool("mysql", Databases, "--version", "default-mysql-client", &[], &[]).packaged(&[
        ("dnf", "mysql"),
        ("pacman", "mariadb-clients"),
        ("apk", "mysql-client"),
        ("brew", "mysql-client"),
    ]),
    tool("psql", Databases, "--version", "postgresql-client", &[], &[]).packaged(&[
        ("dnf", "postgresql"),
        ("pacman", "postgresql-libs"),
        ("brew", "libpq"),
    ]),
    tool(
        "sqlite",
        Databases,
        "--version",
        "sqlite3",
        &[],
        &[runs("query", "sqlite3 -readonly {database:file} {query:text}")],
    )
    .named(&["sqlite3"])
    .packaged(&[("dnf", "sqlite"), ("pacman", "sqlite"), ("apk", "sqlite"), ("brew", "sqlite")]),
    tool("jq", Text, "--version", "jq", &[], &[reads("query", "jq {filter:text} {file:file}")]),
    tool(
        "ripgrep",
        Text,
        "--version",
        "ripgrep",
        &[],
        &[reads("search", "rg --line-number -e {pattern:text} [-- {path:file}]")],
    )
    .named(&["rg"]),
    tool("powershell", Editors, "--version", "learn.microsoft.com/powershell", &[], &[])
        .named(&["pwsh", "powershell"]),
    tool("vscode", Editors, "--version", "code.visualstudio.com", &[".vscode"], &[]).named(&["code", "codium"]),
    tool("visualstudio", Editors, "", "visualstudio.microsoft.com", &[], &[]).named(&["devenv"]),
    tool("beyondcompare", Editors, "", "www.scootersoftware.com", &[], &[]).named(&["bcompare", "bcomp"]),
];

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
