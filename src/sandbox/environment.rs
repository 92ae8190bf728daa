//! Which variables of the environment are kept from a child that runs without being asked.

/// Parts of names of variables that hold secrets.
const SECRET_PARTS: &[&str] = &[
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PRIVATE_KEY",
    "CREDENTIAL",
    "AUTH_SOCK",
    "DATABASE_URL",
    "CONNECTION_STRING",
];

/// Names that are secrets, or lead to a process that has some, without any of those parts.
const SECRET_NAMES: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "PGPASS",
    "MYSQL_PWD",
    "REDISCLI_AUTH",
    "SSHPASS",
];

/// Tells whether a variable of this name is kept from a child that only reads.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.contains(&name.as_str()) || SECRET_PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names_and_ordinary_variables_stay() {
        let names =
            ["PATH", "OPENAI_API_KEY", "gh_token", "HOME", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "LANG"];
        let removed: Vec<&str> = names.into_iter().filter(|name| is_secret_name(name)).collect();
        assert_eq!(removed, ["OPENAI_API_KEY", "gh_token", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY"]);
    }
}
