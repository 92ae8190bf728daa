//! Programs that work on a project, what marks its directory, and programs that set one up. Data only.

/// Programs that work on a project.
pub(super) struct Kind {
    pub(super) programs: &'static [&'static str],
    /// Their commands that need the project; none stands for all.
    pub(super) verbs: &'static [&'static str],
    /// The files that mark its directory.
    pub(super) markers: &'static [&'static str],
    /// Whether they look for it in the directories above by themselves.
    pub(super) climbs: bool,
    /// Whether they may do something useful where there is none.
    pub(super) works_without: bool,
}

const CARGO: &[&str] = &[
    "add", "b", "bench", "build", "c", "check", "clean", "clippy", "d", "doc", "fix", "fmt", "metadata", "nextest",
    "publish", "r", "remove", "run", "t", "test", "tree", "update",
];
const NODE: &[&str] = &[
    "add",
    "build",
    "ci",
    "dev",
    "i",
    "install",
    "lint",
    "remove",
    "run",
    "run-script",
    "start",
    "t",
    "test",
    "uninstall",
    "update",
];
const PYTHON: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini"];
const GRADLE: &[&str] = &["settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"];
const COMPOSE: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/// Every program whose project is known by a file.
pub(super) const KINDS: &[Kind] = &[
    climbing(&["cargo"], CARGO, &["Cargo.toml"]),
    climbing(&["npm", "pnpm", "yarn", "bun"], NODE, &["package.json"]),
    climbing(&["go"], &["build", "generate", "get", "run", "test", "vet"], &["go.mod"]),
    climbing(&["uv"], &["add", "lock", "remove", "run", "sync"], &["pyproject.toml"]),
    climbing(&["poetry"], &["add", "build", "install", "lock", "remove", "run", "update"], &["pyproject.toml"]),
    Kind { works_without: true, ..climbing(&["pytest", "tox"], &[], PYTHON) },
    climbing(&["gradle"], &["assemble", "build", "check", "clean", "run", "test"], GRADLE),
    climbing(&["just"], &[], &["justfile", "Justfile", ".justfile"]),
    climbing(&["bundle", "rake"], &[], &["Gemfile", "Rakefile"]),
    climbing(&["flutter", "dart"], &["analyze", "build", "pub", "run", "test"], &["pubspec.yaml"]),
    climbing(&["swift"], &["build", "run", "test"], &["Package.swift"]),
    climbing(&["docker-compose"], &[], COMPOSE),
    Kind { works_without: true, ..staying(&["make", "gmake"], &[], &["Makefile", "makefile", "GNUmakefile"]) },
    staying(&["mvn"], &["clean", "compile", "install", "package", "test", "verify"], &["pom.xml"]),
    staying(&["mix"], &["compile", "deps.get", "ecto.migrate", "phx.server", "run", "test"], &["mix.exs"]),
    staying(&["composer"], &["install", "remove", "require", "test", "update"], &["composer.json"]),
    staying(&["python", "python3"], &["manage.py"], &["manage.py"]),
    staying(&["./manage.py"], &[], &["manage.py"]),
    staying(&["./gradlew"], &[], &["gradlew"]),
    staying(&["./mvnw"], &[], &["mvnw"]),
];

const fn climbing(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    markers: &'static [&'static str],
) -> Kind {
    Kind { programs, verbs, markers, climbs: true, works_without: false }
}

const fn staying(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    markers: &'static [&'static str],
) -> Kind {
    Kind { programs, verbs, markers, climbs: false, works_without: false }
}

/// Options that say where the project is.
pub(super) const PLACED: &[&str] = &[
    "-C",
    "-f",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--manifest-path",
    "--modfile",
    "--prefix",
    "--project",
    "--project-directory",
    "--rootdir",
    "-g",
    "--global",
];

/// Programs that only pass on what they read.
pub(super) const FILTERS: &[&str] =
    &["awk", "cat", "cut", "egrep", "grep", "head", "jq", "less", "rg", "sed", "sort", "tail", "tr", "uniq", "wc"];

/// Programs that do the same in every directory.
pub(super) const HARMLESS: &[&str] = &["echo", "true", "date", "sleep"];

/// A program that sets a project up.
pub(super) struct Scaffold {
    pub(super) programs: &'static [&'static str],
    /// Its commands that do; none stands for all.
    pub(super) verbs: &'static [&'static str],
    /// What it leaves besides the files that mark a project.
    pub(super) evidence: &'static [&'static str],
}

/// Every program that sets a project up and would fail, or undo work, a second time.
pub(super) const SCAFFOLDS: &[Scaffold] = &[
    row(&["cargo"], &["new", "init", "generate"], &[]),
    row(&["npm", "pnpm", "yarn", "bun"], &["create", "init"], &[]),
    row(&["npx", "bunx"], &["create-*"], &[]),
    row(&["git"], &["init", "clone"], &[".git"]),
    row(&["django-admin"], &["startproject"], &[]),
    row(&["uv"], &["init"], &[]),
    row(&["uv"], &["venv"], &["pyvenv.cfg"]),
    row(&["poetry"], &["new", "init"], &[]),
    row(&["go"], &["mod init"], &[]),
    row(&["rails", "hanami"], &["new"], &["config.ru"]),
    row(&["dotnet"], &["new"], &["Program.cs", "obj"]),
    row(&["flutter", "dart", "vue", "sam"], &["create", "init"], &["template.yaml"]),
    row(&["ng", "nest"], &["new"], &[]),
    row(&["composer"], &["create-project", "init"], &[]),
    row(&["mix"], &["new", "phx.new"], &[]),
    row(&["gradle"], &["init"], &[]),
    row(&["swift"], &["package init"], &[]),
    row(&["stack", "cabal"], &["new", "init"], &["stack.yaml", "cabal.project", "Setup.hs"]),
    row(&["hugo"], &["new site"], &["hugo.toml", "config.toml"]),
];

const fn row(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    evidence: &'static [&'static str],
) -> Scaffold {
    Scaffold { programs, verbs, evidence }
}
