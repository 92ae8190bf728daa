//! Servers whose certificates nobody sells: a company's own authority, and a certificate that signs itself.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::skip;
use crate::support::talk::{Ran, axi, run};

/// A folder of certificates for 127.0.0.1, each made by OpenSSL for this run.
struct Certificates(PathBuf);

impl Certificates {
    fn new(home: &Home) -> Option<Self> {
        skip::has("openssl").then(|| {
            let made = Self(home.path().join("tls"));
            std::fs::create_dir(&made.0).unwrap();
            made
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes `NAME.pem` and `NAME.key`, signed by themselves or by another.
    fn make(&self, name: &str, is_authority: bool, by: Option<&str>) {
        let (key, pem) = (self.file(&format!("{name}.key")), self.file(&format!("{name}.pem")));
        let constraints = if is_authority { "CA:TRUE" } else { "CA:FALSE" };
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        command.args(["-days", "30", "-subj", &format!("/CN={name}"), "-addext", "subjectAltName=IP:127.0.0.1"]);
        command.args(["-addext", &format!("basicConstraints=critical,{constraints}")]);
        command.arg("-keyout").arg(key).arg("-out").arg(pem).stdin(Stdio::null());
        if let Some(by) = by {
            command.arg("-CA").arg(self.file(&format!("{by}.pem")));
            command.arg("-CAkey").arg(self.file(&format!("{by}.key")));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Makes `NAME.pem` and `NAME.key`, signed by themselves and valid from one year to another.
    fn make_dated(&self, name: &str, is_authority: bool, from: u32, to: u32) {
        let (key, pem) = (self.file(&format!("{name}.key")), self.file(&format!("{name}.pem")));
        let (request, rules) = (self.file(&format!("{name}.csr")), self.file(&format!("{name}.cnf")));
        let folder = self.0.display();
        let constraints = if is_authority { "CA:TRUE" } else { "CA:FALSE" };
        let text = format!(
            "[ca]\ndefault_ca = own\n[own]\nnew_certs_dir = {folder}\ndatabase = {folder}/{name}.db\nrand_serial = yes\n\
             default_md = sha256\npolicy = any\nx509_extensions = server\n[any]\ncommonName = supplied\n\
             [server]\nsubjectAltName = IP:127.0.0.1\nbasicConstraints = critical,{constraints}\n"
        );
        std::fs::write(&rules, text).unwrap();
        std::fs::write(self.file(&format!("{name}.db")), "").unwrap();
        let openssl = |arguments: &mut Command| {
            let output = arguments.stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let mut command = Command::new("openssl");
        command.args(["req", "-new", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        openssl(command.args(["-subj", &format!("/CN={name}"), "-keyout"]).arg(&key).arg("-out").arg(&request));
        let mut command = Command::new("openssl");
        command.args(["ca", "-batch", "-selfsign", "-notext"]).arg("-config").arg(&rules).arg("-keyfile").arg(&key);
        command.args(["-startdate", &format!("{from}0101000000Z"), "-enddate", &format!("{to}0101000000Z")]);
        openssl(command.arg("-in").arg(&request).arg("-out").arg(&pem));
    }

    /// Speaks TLS with this certificate, and passes each request on to a server that does not.
    fn serve(&self, name: &str, target: SocketAddr) -> SocketAddr {
        let certificate = CertificateDer::from_pem_file(self.file(&format!("{name}.pem"))).unwrap();
        let key = PrivateKeyDer::from_pem_file(self.file(&format!("{name}.key"))).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let Ok(near) = near else { return };
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                // Who does not trust it hangs up in the handshake.
                let _ = pass_on(StreamOwned::new(connection, near), target);
            }
        });
        address
    }
}

/// Asks a server with this certificate, which is trusted.
fn trusting(home: &Home, server: &Server, certificates: &Certificates, name: &str) -> Ran {
    let address = certificates.serve(name, ([127, 0, 0, 1], server.port()).into()).to_string();
    let setting = format!("ca_file = \"{}\"\n", certificates.file(&format!("{name}.pem")).display());
    ask(home, server, &address, &setting, None)
}

fn pass_on(mut near: StreamOwned<ServerConnection, TcpStream>, target: SocketAddr) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = near.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(&piece[..count]);
        if is_whole(&request) {
            break;
        }
    }
    let mut far = TcpStream::connect(target)?;
    far.write_all(&request)?;
    let mut answer = Vec::new();
    far.read_to_end(&mut answer)?;
    near.write_all(&answer)?;
    near.conn.send_close_notify();
    near.flush()
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .split_once("content-length: ")
        .map_or(0, |(_, rest)| rest.lines().next().and_then(|length| length.trim().parse().ok()).unwrap_or(0));
    body.len() >= length
}

fn ask(home: &Home, server: &Server, address: &str, settings: &str, variable: Option<&Path>) -> Ran {
    home.write("config/axi/config.toml", settings);
    let mut command = axi(home, server);
    command.env("OPENAI_BASE_URL", format!("https://{address}/v1")).args(["-p", "hi"]);
    command.env_remove("SSL_CERT_FILE").envs(variable.map(|path| ("SSL_CERT_FILE", path)));
    run(&mut command)
}

#[test]
fn a_server_under_an_authority_of_ones_own_is_trusted_by_the_setting_or_the_variable_and_by_nothing_else() {
    let home = Home::new();
    let Some(certificates) = Certificates::new(&home) else { return };
    certificates.make("authority", true, None);
    certificates.make("server", false, Some("authority"));
    let server = Server::start([answer::chat_text("Trusted."), answer::chat_text("Trusted.")]);
    let address = certificates.serve("server", ([127, 0, 0, 1], server.port()).into());
    let (here, authority) = (address.to_string(), certificates.file("authority.pem"));
    let setting = format!("ca_file = \"{}\"\n", authority.display());

    let unknown = ask(&home, &server, &here, "", None);
    assert_eq!(unknown.code, Some(4), "{}", unknown.err);
    assert!(
        unknown.err.contains("certificate is not trusted") && unknown.err.contains("ca_file"),
        "{}",
        unknown.err
    );

    let by_setting = ask(&home, &server, &here, &setting, None);
    assert_eq!((by_setting.code, by_setting.out.as_str()), (Some(0), "Trusted.\n"), "{}", by_setting.err);
    let by_variable = ask(&home, &server, &here, "", Some(&authority));
    assert_eq!((by_variable.code, by_variable.out.as_str()), (Some(0), "Trusted.\n"), "{}", by_variable.err);

    // Trust is in the authority, and not in whoever has a certificate of it.
    let elsewhere = ask(&home, &server, &format!("localhost:{}", address.port()), &setting, None);
    assert!(elsewhere.err.contains("certificate is for another host"), "{}", elsewhere.err);
    let missing = ask(&home, &server, &here, "ca_file = \"/nowhere/ca.pem\"\n", None);
    assert_eq!(missing.code, Some(4), "{}", missing.err);
    assert!(
        missing.err.contains("(ca_file)") && missing.err.contains("names no readable certificate"),
        "{}",
        missing.err
    );
    assert_eq!(server.requests().len(), 2, "nothing goes to a server that is not trusted");
}

#[test]
fn a_certificate_that_signs_itself_is_trusted_where_it_is_named_also_if_it_may_sign_others() {
    let home = Home::new();
    let Some(certificates) = Certificates::new(&home) else { return };
    certificates.make("alone", false, None);
    certificates.make("signer", true, None);
    // Another of the same name.
    std::fs::rename(certificates.file("signer.pem"), certificates.file("namesake.pem")).unwrap();
    certificates.make("signer", true, None);
    certificates.make("signed", true, Some("signer"));
    let server = Server::start([
        answer::chat_text("Trusted."),
        answer::chat_text("Trusted."),
        answer::chat_text("Trusted."),
    ]);
    for name in ["alone", "signer"] {
        let named = trusting(&home, &server, &certificates, name);
        assert_eq!((named.code, named.out.as_str()), (Some(0), "Trusted.\n"), "{name}: {}", named.err);
    }
    let address = certificates.serve("signer", ([127, 0, 0, 1], server.port()).into());
    let by_variable = ask(&home, &server, &address.to_string(), "", Some(&certificates.file("signer.pem")));
    assert_eq!((by_variable.code, by_variable.out.as_str()), (Some(0), "Trusted.\n"), "{}", by_variable.err);

    // For its own names, and for nobody whom it signed or who calls himself by its name.
    let setting = |name: &str| format!("ca_file = \"{}\"\n", certificates.file(&format!("{name}.pem")).display());
    let elsewhere = ask(&home, &server, &format!("localhost:{}", address.port()), &setting("signer"), None);
    assert!(elsewhere.err.contains("certificate is for another host"), "{}", elsewhere.err);
    for (shown, trusted) in [("signed", "signer"), ("signer", "namesake"), ("signer", "alone")] {
        let address = certificates.serve(shown, ([127, 0, 0, 1], server.port()).into()).to_string();
        let other = ask(&home, &server, &address, &setting(trusted), None);
        assert_eq!(other.code, Some(4), "{shown} by {trusted}: {}", other.err);
        assert!(other.err.contains("certificate is not trusted"), "{shown} by {trusted}: {}", other.err);
    }
    assert_eq!(server.requests().len(), 3, "nothing goes to a server that is not trusted");
}

#[test]
fn a_certificate_that_is_not_valid_now_leads_to_the_clock() {
    let home = Home::new();
    let Some(certificates) = Certificates::new(&home) else { return };
    certificates.make_dated("early", false, 2090, 2095);
    certificates.make_dated("late", false, 2020, 2021);
    certificates.make_dated("late signer", true, 2020, 2021);
    let server = Server::start([]);
    let early = trusting(&home, &server, &certificates, "early");
    assert_eq!(early.code, Some(4), "{}", early.err);
    assert!(early.err.contains("clock, which is probably behind") && early.err.contains("date"), "{}", early.err);
    for name in ["late", "late signer"] {
        let late = trusting(&home, &server, &certificates, name);
        assert_eq!(late.code, Some(4), "{}", late.err);
        assert!(late.err.contains("certificate has expired") && late.err.contains("clock right?"), "{}", late.err);
    }
}

#[test]
fn the_persons_certificates_hold_for_pages_and_for_their_search_engine_too() {
    let home = Home::new();
    let Some(certificates) = Certificates::new(&home) else { return };
    certificates.make("alone", false, None);
    let web = Server::start([]);
    let pages = json!({"results": [{"title": "Found", "url": "https://a.example", "content": "words"}]});
    web.route("GET /search", Answer::json(200, &pages));
    web.route("GET /page", Answer::new(200, "text/plain").bytes("the page itself\n"));
    let address = certificates.serve("alone", ([127, 0, 0, 1], web.port()).into());
    let trusted = format!("ca_file = \"{}\"\n", certificates.file("alone.pem").display());
    for (setting, is_read) in [(trusted.as_str(), true), ("", false)] {
        let fetch = json!({"url": format!("https://{address}/page")}).to_string();
        let search = answer::chat_call("c1", "web_search", r#"{"query":"x"}"#);
        let server =
            Server::start([search, answer::chat_call("c2", "web_fetch", &fetch), answer::chat_text("done")]);
        home.write("config/axi/config.toml", &format!("web_search = \"https://{address}\"\n{setting}"));
        let allowed = ["--allow", "web_search(127.0.0.1)", "--allow", "web_fetch(127.0.0.1)"];
        let ran = run(axi(&home, &server).args(["-p", "x"]).args(allowed));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let told = server.requests().last().unwrap().body["messages"].to_string();
        assert_eq!((told.contains("Found"), told.contains("the page itself")), (is_read, is_read), "{told}");
    }
}
