//! What the integration tests share: hermetic homes, a scripted server, pseudo-terminals, screens.
