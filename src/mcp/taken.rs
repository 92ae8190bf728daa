//! What a person does with a server: takes a resource by its address, a prompt by its name, signs in and out.

use serde_json::{Map, Value, json};

use super::answer::{self, Answer};
use super::failure::Failure;
use super::opening::fields;
use super::servers::Servers;
use super::sign_in::{self, Asked, Forgotten, SignIn, SignInError};

impl Servers {
    /// Reads a resource; starts its server where it does not run.
    ///
    /// # Cancel safety
    /// As [`Servers::call`].
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn read(&self, server: &str, uri: &str) -> Result<Answer, Failure> {
        let (line, _) = self.line(server).await?;
        let params = fields(json!({"uri": uri}));
        let result = line.request("resources/read", params, self.inner.patience(server), None).await?;
        Ok(answer::read_resource(&result))
    }

    /// Gets a prompt, its arguments in the order the server names them; the last one takes all words that are left.
    ///
    /// # Cancel safety
    /// As [`Servers::call`].
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn prompt(&self, server: &str, name: &str, words: &[String]) -> Result<String, Failure> {
        let (line, _) = self.line(server).await?;
        let names = self.inner.arguments_of(server, name).ok_or(Failure::NoSuchPrompt)?;
        let params = json!({"name": name, "arguments": arguments(&names, words)});
        let result = line.request("prompts/get", fields(params), self.inner.patience(server), None).await?;
        Ok(answer::read_prompt(&result))
    }

    /// Begins to sign in to a server.
    ///
    /// # Cancel safety
    /// Dropped, nothing is kept here; an authority may know one program more.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn sign_in(&self, server: &str) -> Result<SignIn, SignInError> {
        sign_in::begin(self.asked(server)?).await
    }

    /// Forgets the token for a server, waiting for the keychain.
    ///
    /// # Errors
    /// [`SignInError`].
    pub fn sign_out(&self, server: &str) -> Result<Forgotten, SignInError> {
        let Asked { server, store, .. } = self.asked(server)?;
        store.forget(&sign_in::account(&server)).map_err(|cause| SignInError::NotKept { cause })
    }
}

/// Gives each argument of a prompt its word.
fn arguments(names: &[String], words: &[String]) -> Map<String, Value> {
    let mut given = Map::new();
    for (index, name) in names.iter().enumerate() {
        let end = if index + 1 == names.len() { words.len() } else { words.len().min(index + 1) };
        let value = words.get(index..end).unwrap_or_default().join(" ");
        if !value.is_empty() {
            given.insert(name.clone(), value.into());
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_argument_takes_the_words_that_are_left() {
        let names = ["city".to_owned(), "why".to_owned()];
        let given = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            Value::Object(arguments(&names, &words))
        };
        assert_eq!(given(""), json!({}));
        assert_eq!(given("Paris"), json!({"city": "Paris"}));
        assert_eq!(given("Paris in the spring"), json!({"city": "Paris", "why": "in the spring"}));
        assert_eq!(arguments(&[], &["a".to_owned()]), Map::new());
    }
}
