//! Which servers are trusted: those that the system trusts, and those of the person's own certificates.
//!
//! OpenSSL, and so curl, takes a server's own certificate that stands in the file of trusted ones, also where it may sign
//! others (`CA:TRUE`: what `openssl req -x509` makes when nothing is said). webpki refuses such a certificate at a server
//! whatever is trusted, see `CaUsedAsEndEntity`. [`Trust`] takes it where the person trusts exactly this certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Why a client cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoClient {
    /// The person's file of certificates holds none that can be read.
    NoCertificate,
    /// What the system said about the certificates that it trusts.
    System(String),
}

/// Makes the TLS settings of a client that trusts what the system trusts, and a PEM file of the person's.
///
/// # Errors
/// Each variant of [`NoClient`].
pub(super) fn settings(ca_file: Option<&Path>) -> Result<ClientConfig, NoClient> {
    let own = ca_file.map_or(Ok(Vec::new()), |path| {
        let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        found.ok().filter(|found| !found.is_empty()).ok_or(NoClient::NoCertificate)
    })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let of_system = |error: Error| NoClient::System(error.to_string());
    let trust = Trust::new(own, Arc::clone(&provider)).map_err(of_system)?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(of_system)?.dangerous();
    let mut config = builder.with_custom_certificate_verifier(Arc::new(trust)).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The system's judge, and the certificates that a person trusts by name.
#[derive(Debug)]
struct Trust {
    system: Verifier,
    own: Vec<CertificateDer<'static>>,
}

impl Trust {
    fn new(own: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, Error> {
        Ok(Self { system: Verifier::new_with_extra_roots(own.iter().cloned(), provider)?, own })
    }

    /// Tells whether the person trusts exactly this certificate, byte for byte.
    fn is_own(&self, certificate: &CertificateDer<'_>) -> bool {
        let named = std::env::var_os("SSL_CERT_FILE");
        let named = named.and_then(|path| CertificateDer::pem_file_iter(path).ok()).into_iter().flatten();
        self.own.contains(certificate) || named.flatten().any(|trusted| trusted == *certificate)
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let judged = self.system.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match judged {
            // webpki looks at the dates first: a certificate that is not valid now does not come here.
            Err(error) if is_issuer_at_server(&error) && self.is_own(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// Tells whether a certificate was refused because it may sign others. rustls keeps webpki's error to itself, so that its
/// name is all there is.
fn is_issuer_at_server(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other))
        if format!("{other:?}").contains("CaUsedAsEndEntity"))
}
