//! Why a model's file cannot be used, in facts: names are those of the file itself.

/// Why a model file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be read; why is in the system's words.
    #[error("it cannot be read: {0}")]
    Io(String),
    /// It does not begin as a model file does.
    #[error("it is no GGUF file")]
    NoModel,
    /// It ends before what it says of itself.
    #[error("it is damaged: it ends too early")]
    Short,
    /// This value or tensor does not fit the rest of it.
    #[error("it is damaged: {0} does not fit the rest")]
    Unfit(String),
    /// This value, tensor or mark of the template is missing.
    #[error("it is damaged, or of a kind this engine does not have: {0} is missing")]
    Missing(String),
    /// It is not the file that was published under this name.
    #[error("its bytes are not the published ones (their SHA-256 is another)")]
    Changed,
    /// It is a good file of a kind this engine does not know: the name of a value, and the value.
    #[error("this engine does not have {name} = {value}; llama-server, Ollama and LM Studio may")]
    Unsupported {
        /// As in the file.
        name: String,
        /// As in the file.
        value: String,
    },
}

impl ModelError {
    /// A kind this engine does not know.
    #[cfg(feature = "local")]
    pub(super) fn unsupported(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Unsupported { name: name.into(), value: value.into() }
    }
}

impl From<std::io::Error> for ModelError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error.to_string())
    }
}
