//! Words that tell what looks like a secret from what does not: a part of the table of what is secret. Data only.

/// What a password is called, in names and in what people write, in lower case.
pub(super) const PASSWORDS: &[&str] =
    &["password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord", "senha"];

/// Two lists as one.
pub(super) const fn joined<const COUNT: usize>(
    first: &[&'static str],
    second: &[&'static str],
) -> [&'static str; COUNT] {
    let mut all = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// Names that say little: their value is a secret only where it looks drawn by a machine.
pub(super) const RANDOM_WORDS: &[&str] = &[
    "sid",
    "sessid",
    "sessionid",
    "session",
    "phpsessid",
    "jsessionid",
    "csrf",
    "xsrf",
    "csrftoken",
    "jwt",
    "pat",
    "seed",
    "otp",
    "totp",
    "authkey",
    "authtok",
    "privkey",
    "secretid",
    "unseal",
    "license",
    "licence",
    "refresh",
    "access",
    "bearer",
    "oauth",
    "wif",
    "mnemonic",
    "webhook",
    "nonce",
    "code",
    "serial",
    "key1",
    "key2",
    "sso",
    "passkey",
    "hmac",
    "signing",
    "encryption",
    "recovery",
    "pairing",
    "invite",
    "login",
    "secure",
    "samlresponse",
    "samlrequest",
];

/// Parts of names of what has a number that opens nothing: sums of files, revisions, places in a log.
pub(super) const SUMS: &[&str] = &[
    "sha",
    "md5",
    "sum",
    "digest",
    "hash",
    "integrity",
    "commit",
    "revision",
    "etag",
    "build",
    "version",
    "finger",
    "thumb",
    "trace",
    "span",
    "uuid",
    "guid",
    "crc",
    "blake",
    "tree",
    "parent",
    "layer",
    "image",
    "public",
    "cache",
    "request",
    "correlation",
    "objectid",
    "oid",
    "narhash",
    "pub",
    "rev",
    "cksum",
    "head",
    "nix",
];

/// Words of a line that speaks of a password, in lower case.
pub(super) const PASSWORD_WORDS: &[&str] =
    &joined::<{ PASSWORDS.len() + OTHER_PASSWORD_WORDS.len() }>(PASSWORDS, OTHER_PASSWORD_WORDS);

const OTHER_PASSWORD_WORDS: &[&str] = &[
    "mot de passe",
    "contrase",
    "key content",
    "пароль",
    "пароля",
    "parola",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
];

/// Words of a line in which somebody logs in.
pub(super) const LOGIN_WORDS: &[&str] = &[
    "logging in",
    "log in",
    "login",
    "credentials",
    "authenticat",
    "stats auth",
    "addauth",
    "_user=",
    "basic auth",
    "wifi",
    "user=",
];

/// Words and signs behind which a password is said.
pub(super) const SAYS_WORDS: &[&str] = &[
    "to",
    "with",
    "is",
    "ist",
    "lautet",
    "est",
    "es",
    "è",
    "|",
    "│",
    "┃",
    "=",
    ":",
    "->",
    "=>",
    "password",
    "пароль",
    "/",
    "-",
    "–",
    "—",
    "→",
    "reg_sz",
];

/// Ends of names whose value ends the line.
pub(super) const VALUED_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "rootpw",
    "bindpw",
    "psk",
    "pass",
    "credentials",
    "community",
    "secret",
    "com2sec",
    "readonly",
    "passcode",
];

/// Beginnings of names of functions that take a password.
pub(super) const CALLS: &[&str] = &["login", "auth", "connect", "pdo", "credential", "wifi.begin", "client"];

/// What a client says to a server before its password.
pub(super) const PROTOCOL_WORDS: &[&str] = &["PASS", "AUTH", "LOGIN", "IDENTIFY", "identify", "user"];

/// How names of algorithms and of formats begin: none is a password.
pub(super) const ALGORITHMS: &[&str] = &[
    "sha",
    "md5",
    "pbkdf",
    "argon",
    "bcrypt",
    "scrypt",
    "base64",
    "base32",
    "utf",
    "aes",
    "rfc",
    "hmac",
    "ntlm",
    "x509",
    "oauth",
    "http",
    "ed25519",
    "rsa",
    "ecdsa",
    "curve25519",
    "chacha20",
    "blake",
    "postgres",
    "mysql",
    "python",
    "java",
    "windows",
    "linux",
    "ipv",
    "x86",
    "amd64",
    "arm64",
    "version",
    "line",
    "pkcs",
    "cve-",
    "saml",
    "kerberos",
    "tls",
    "ssl",
    "iso8",
    "latin",
    "win32",
    "int",
    "uint",
    "float",
    "vec",
    "char",
];

/// Beginnings of identifiers that look like keys and open nothing.
pub(super) const IDENTIFIERS: &[&str] = &[
    "call_",
    "chatcmpl",
    "cmpl-",
    "resp_",
    "msg_",
    "toolu_",
    "req_",
    "run_",
    "thread_",
    "file-",
    "asst_",
    "evt_",
    "cus_",
    "price_",
    "prod_",
    "sub_",
    "pi_",
    "ch_",
    "in_",
    "acct_",
    "org-",
    "org_",
    "proj_",
    "user_",
    "step_",
    "rs_",
    "fc_",
    "item_",
    "srvtoolu_",
    "batch_",
    "vs_",
    "ctc_",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
];

/// Words before a `_` that say what follows is a key, even in base 16.
pub(super) const KEY_WORDS: &[&str] = &[
    "key", "api", "secret", "sk", "tok", "token", "pat", "live", "test", "prod", "auth", "pw", "oauth", "access",
    "pt",
];

/// Words of addresses that open something by themselves.
pub(super) const CAPABILITIES: &[&str] = &[
    "hook",
    "/reset",
    "/invite",
    "/verify",
    "/confirm",
    "/magic",
    "/unsubscribe",
    "/activate",
    "/intake",
    "/trigger",
];
