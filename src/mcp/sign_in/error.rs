//! Why signing in came to nothing.

/// What is wrong. No secret is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// There is no address that could ask for it.
    #[error("only a server with an address is signed in to")]
    NoAddress,
    /// Its definition names a variable that is not set.
    #[error("its definition needs the variable {variable}, which is not set or not given to it")]
    Unset {
        /// The name.
        variable: String,
    },
    /// The server answers without one.
    #[error("the server does not ask for it")]
    NotWanted,
    /// Who is asked on the way cannot be reached.
    #[error("{address} cannot be reached: {cause}")]
    Unreached {
        /// Its address, without a query.
        address: String,
        /// What the system said.
        cause: String,
    },
    /// An address on the way is none that a token may go to.
    #[error("{address} is not https")]
    NotHttps {
        /// The address, without a query.
        address: String,
    },
    /// The server does not say where one signs in.
    #[error("it does not say where to sign in")]
    NoMetadata,
    /// What the server says of itself is about another one.
    #[error("it says to be {said}, which is another server")]
    WrongResource {
        /// What it says.
        said: String,
    },
    /// Whoever answers is not the one that was asked.
    #[error("{said} answers where {wanted} was asked")]
    WrongIssuer {
        /// Who answers.
        said: String,
        /// Who was asked.
        wanted: String,
    },
    /// The sign-in cannot be held to this program (PKCE with S256).
    #[error("{issuer} does not offer PKCE with S256")]
    NoPkce {
        /// Where one signs in.
        issuer: String,
    },
    /// It takes no program that it does not know.
    #[error("{issuer} takes no program that it does not know")]
    NoRegistration {
        /// Where one signs in.
        issuer: String,
    },
    /// It said no.
    #[error("{issuer} said no: {said}")]
    Refused {
        /// Where one signs in.
        issuer: String,
        /// Its words.
        said: String,
    },
    /// What it answers is no answer.
    #[error("what {address} answers is not what OAuth wants")]
    NoOauth {
        /// Its address, without a query.
        address: String,
    },
    /// Nobody came back from the browser.
    #[error("nobody signed in within {minutes} minutes")]
    Slow {
        /// How long was waited.
        minutes: u64,
    },
    /// This machine does not let it begin.
    #[error("it could not be begun: {cause}")]
    NotBegun {
        /// What the system said.
        cause: String,
    },
    /// The token cannot be kept.
    #[error("the token could not be kept: {cause}")]
    NotKept {
        /// Why.
        cause: String,
    },
}
