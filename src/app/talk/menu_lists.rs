//! What the slash menu lists of the outside: models, sessions, providers; and where a person's own commands are.

use std::time::SystemTime;

use super::super::answers::Listed;
use super::super::context::App;
use super::super::models::{self, lister};
use crate::frontend::repl::{ListedModel, ListedSession, MenuLists, MenuSources, UserCommands};
use crate::session::{SessionStore, Summary};

/// Sessions of the menu at most; further ones are found by `/session list` and `axi sessions`.
const SESSIONS: usize = 200;

/// The lists of the menu; nothing is fetched before somebody looks.
pub(super) fn menu_lists(app: &App) -> MenuLists {
    let (config, variables, locale) = (app.config(), app.process.variables, app.locale.clone());
    let (own, said, asked) = (lister(app), app.said.clone(), app.asked.without_terminal());
    let models = move || {
        // On a thread of its own, hence with a runtime and connections of its own.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return Vec::new();
        };
        let client = models::client(&config, &variables);
        let listed = models::list(&config, &variables, &locale, &asked, &client, &runtime);
        said.keep(&listed, SystemTime::now());
        let all = own().into_iter().map(Listed::own).chain(listed);
        all.map(|listed| ListedModel { says: listed.words(&locale), group: listed.group, id: listed.id }).collect()
    };
    let (store, paths) = (app.sessions(), app.paths.clone());
    let sessions = move || {
        let listed = store.as_ref().map(SessionStore::list).unwrap_or_default().into_iter().take(SESSIONS);
        let row = |summary: Summary| ListedSession {
            id: summary.id.to_string(),
            title: summary.title,
            place: paths.shown(&summary.directory),
        };
        listed.map(row).collect()
    };
    MenuLists::new(MenuSources {
        models: Box::new(models),
        sessions: Box::new(sessions),
        providers: models::names(&app.config()),
    })
}

/// Commands that are files: the person's, and those of the folders from here up to the workspace.
pub(super) fn user_commands(app: &App) -> UserCommands {
    let own = app.paths.config.iter().map(|config| config.join("commands"));
    let user: Vec<_> = own.chain(app.paths.home.iter().map(|home| home.join(".claude/commands"))).collect();
    let folders = app.project.cwd.ancestors().take_while(|folder| folder.starts_with(&app.project.root));
    let project = folders.flat_map(|folder| [folder.join(".axi/commands"), folder.join(".claude/commands")]);
    let project = project.filter(|folder| !user.contains(folder)).collect();
    let mut commands = UserCommands::new(user, project, app.paths.home.clone());
    if app.project.trusted() {
        commands.agree_to(app.project.files.wanting());
    }
    commands
}
