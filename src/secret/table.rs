//! How secrets look and what they are called: the one table, for all who look for them. Data only.
//!
//! From the providers' own descriptions of their keys, GitHub's list of secret scanning patterns, and manuals.

use super::looks::{PASSWORDS, joined};

/// What a server may repeat in its sentences that names a person or an organisation; no secrets elsewhere.
pub(super) const IDENTITIES: &[&str] = &[
    "sk_", "pk-", "rk-", "ya29", "org-", "org_", "orgid-", "proj_", "proj-", "user_", "user-", "acct_", "team-",
    "eyJ",
];

/// The shortest that is taken out of a server's sentence, with a digit or a mask in it, unlike words.
pub(super) const SHORTEST_REPEATED: usize = 6;

/// Addresses whose path is the secret: what stands before it.
pub(super) const WEBHOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "api.telegram.org/bot",
    "hooks.zapier.com/hooks/catch/",
    "open.feishu.cn/open-apis/bot/v2/hook/",
    "open.larksuite.com/open-apis/bot/v2/hook/",
    "outlook.office.com/webhook/",
    "/with/key/",
];

/// How hashed passwords begin (`crypt(5)`).
pub(super) const HASHES: &[&str] = &[
    "$8$",
    "$9$",
    "pbkdf2_sha256$",
    "pbkdf2_sha1$",
    "pbkdf2:sha256:",
    "pbkdf2:sha512:",
    "scrypt:32768:",
    "SCRAM-SHA-256$",
    "SCRAM-SHA-1$",
    "grub.pbkdf2.sha512.",
    "sha256$",
    "bcrypt_sha256$",
    "$1$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$5$",
    "$6$",
    "$7$",
    "$y$",
    "$gy$",
    "$apr1$",
    "$argon2i$",
    "$argon2id$",
];

/// What stands before a password to tell its form (RFC 2307, section 5.3, and Dovecot's manual, "Password Schemes"),
/// in lower case; capitals are the same.
pub(super) const SCHEMES: &[&str] = &[
    "{ssha}",
    "{sha}",
    "{smd5}",
    "{md5}",
    "{crypt}",
    "{sha256}",
    "{sha512}",
    "{ssha256}",
    "{ssha512}",
    "{pbkdf2}",
    "{pbkdf2-sha256}",
    "{pbkdf2-sha512}",
    "{nt}",
    "{digest-md5}",
    "{cram-md5}",
    "{blf-crypt}",
    "{md5-crypt}",
    "{sha256-crypt}",
    "{sha512-crypt}",
    "{argon2i}",
    "{argon2id}",
];

/// The same where the password stands as it is.
pub(super) const PLAIN_SCHEMES: &[&str] = &["{plain}", "{cleartext}", "{clear}"];

/// Parts of names whose value is a secret, in lower case.
pub(super) const PARTS: &[&str] = &joined::<{ PASSWORDS.len() + OTHER_PARTS.len() }>(PASSWORDS, OTHER_PARTS);

const OTHER_PARTS: &[&str] = &[
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "access-key",
    "private_key",
    "privatekey",
    "private-key",
    "presharedkey",
    "preshared_key",
    "accountkey",
    "account_key",
    "account-key",
    "authorization",
    "cookie",
    "credential",
    "storepass",
    "keypass",
    "requirepass",
    "masterauth",
    "client-key-data",
    "remotepass",
    "userpass",
    "rootpass",
    "dbpass",
    "adminpass",
    "mailpass",
    "authtok",
    "sshpass",
    "pgpass",
    "rediscli_auth",
    "mnemonic",
    "seed_phrase",
    "recovery_phrase",
];

/// How people say it who ask for a secret, besides the parts of names, in lower case.
pub(super) const ASKED: &[&str] = &["api key", "pin code"];

/// Names whose value is a secret where they stand alone or between `_`, `-` and a capital: `DB_PASS`, `dbPass`.
pub(super) const WORDS: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "psk",
    "rootpw",
    "bindpw",
    "clave",
    "parola",
    "heslo",
    "salasana",
    "adgangskode",
    "passord",
    "lozinka",
    "mdp",
];

/// The same, of a value that looks like one: longer, with a digit.
pub(super) const WEAK_WORDS: &[&str] = &["key", "auth", "sig", "signature", "pin", "salt", "cred", "creds"];

/// Two letters of which each of the names above has some, for a quick look.
pub(super) const HINTS: &[&[u8; 2]] = &[
    b"pw", b"ss", b"ey", b"ok", b"cr", b"au", b"sk", b"ig", b"pi", b"sa", b"nw", b"tw", b"nh", b"av", b"ol", b"sl",
    b"oz", b"dp", b"mn", b"ph",
];

/// How names end that say something about a secret and do not hold it.
pub(super) const ABOUT: &[&str] = &[
    "file",
    "files",
    "path",
    "dir",
    "stdin",
    "name",
    "type",
    "url",
    "uri",
    "endpoint",
    "ttl",
    "expiry",
    "expires",
    "expires_in",
    "length",
    "len",
    "count",
    "limit",
    "env",
    "var",
    "prompt",
    "policy",
    "field",
    "hint",
    "reset",
    "tokens",
    "askpass",
    "public_key",
    "public-key",
    "publickey",
    "primary_key",
    "foreign_key",
    "sort_key",
    "partition_key",
    "cache_key",
    "tokenizer",
    "tokenize",
    "usage",
    "budget",
];

/// Variables whose value is no secret itself but leads to a process or a place that has some.
pub(super) const LEADS: &[&str] = &[
    "AUTH_SOCK",
    "DATABASE_URL",
    "CONNECTION_STRING",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
];

/// What people call it in languages without spaces or with letters beyond ASCII.
pub(super) const SPOKEN: &[&str] = &[
    "密码",
    "密碼",
    "口令",
    "密钥",
    "密鑰",
    "令牌",
    "パスワード",
    "비밀번호",
    "пароль",
    "contraseña",
    "mot de passe",
    "hasło",
    "lösenord",
    "şifre",
    "jelszó",
    "暗号",
    "暗証番号",
    "รหัสผ่าน",
    "mật khẩu",
    "kata sandi",
    "κωδικός πρόσβασης",
    "κωδικός",
    "пароль користувача",
    "пароля",
    "парола",
    "סיסמה",
    "كلمة المرور",
    "पासवर्ड",
    "slaptažodis",
];

/// What stands between such a name and its value; one that another begins with comes behind that.
pub(super) const SAYS: &[&str] = &["是", "为", "為", "：", ":", "=", "は", "는", "은", "est", "es"];

/// Which words of a command are secrets.
pub(super) enum Take {
    /// What is behind the option, in the same word.
    Attached,
    /// That, or the next word.
    Option,
    /// Of such a word, what is behind this.
    Behind(&'static str),
    /// The word at this place behind the program, options not counted; from 1.
    Place(usize),
    /// The word behind this one.
    After,
}

/// A program that takes a secret as an argument.
pub(super) struct Argument {
    pub(super) programs: &'static [&'static str],
    /// A word without which it is none.
    pub(super) with: &'static str,
    pub(super) option: &'static str,
    pub(super) take: Take,
}

const fn row(programs: &'static [&'static str], with: &'static str, option: &'static str, take: Take) -> Argument {
    Argument { programs, with, option, take }
}

/// From their manuals.
pub(super) const ARGUMENTS: &[Argument] = &[
    row(
        &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin", "mycli"],
        "",
        "-p",
        Take::Attached,
    ),
    row(&["sshpass"], "", "-p", Take::Option),
    row(&["curl"], "", "-u", Take::Behind(":")),
    row(&["curl", "http", "https", "httpie", "xh", "wget"], "", "--user", Take::Behind(":")),
    row(&["curl"], "", "-U", Take::Behind(":")),
    row(&["curl"], "", "--proxy-user", Take::Behind(":")),
    row(&["http", "https", "xh", "ab"], "", "-a", Take::Behind(":")),
    row(&["ab"], "", "-A", Take::Behind(":")),
    row(&["http", "https", "xh"], "", "--auth", Take::Behind(":")),
    row(&["redis-cli", "valkey-cli"], "", "-a", Take::Option),
    row(&["redis-cli", "valkey-cli"], "", "--pass", Take::Option),
    row(&["redis-cli", "valkey-cli"], "AUTH", "AUTH", Take::After),
    row(
        &["docker", "podman", "helm", "nerdctl", "buildah", "skopeo", "oc", "az", "cf"],
        "login",
        "-p",
        Take::Option,
    ),
    row(&["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"], "", "-p", Take::Option),
    row(&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"], "", "-w", Take::Option),
    row(&["smbclient", "rpcclient", "smbget", "net"], "", "-U", Take::Behind("%")),
    row(&["openssl"], "", "-pass", Take::Behind("pass:")),
    row(&["openssl"], "", "-passin", Take::Behind("pass:")),
    row(&["openssl"], "", "-passout", Take::Behind("pass:")),
    row(&["openssl"], "", "-k", Take::Option),
    row(&["zip", "unzip"], "", "-P", Take::Option),
    row(&["7z", "7za", "7zz", "rar", "unrar"], "", "-p", Take::Attached),
    row(&["rar"], "", "-hp", Take::Attached),
    row(&["ssh-keygen"], "", "-N", Take::Option),
    row(&["ssh-keygen"], "", "-P", Take::Option),
    row(&["htpasswd"], "-b", "", Take::Place(3)),
    row(&["htpasswd"], "-nb", "", Take::Place(2)),
    row(&["sqlcmd", "bcp", "isql", "ipmitool", "tsql", "snowsql"], "", "-P", Take::Option),
    row(&["rabbitmqctl"], "add_user", "", Take::Place(3)),
    row(&["rabbitmqctl"], "change_password", "", Take::Place(3)),
    row(&["lftp", "ncftp"], "", "-u", Take::Behind(",")),
    row(&["ncftp", "ncftpput", "ncftpget", "twine"], "", "-p", Take::Option),
    row(&["xfreerdp", "xfreerdp3", "wlfreerdp"], "", "/p", Take::Behind(":")),
    row(&["wpa_passphrase"], "", "", Take::Place(2)),
    row(&["vault"], "login", "", Take::Place(2)),
    row(&["bw"], "unlock", "", Take::Place(2)),
    row(&["bw"], "login", "", Take::Place(3)),
    row(&["mc"], "set", "", Take::Place(6)),
    row(&["doctl"], "auth", "-t", Take::Option),
    row(&["gh"], "secret", "-b", Take::Option),
    row(&["gh"], "secret", "--body", Take::Option),
    row(&["kubectl", "oc"], "secret", "--from-literal", Take::Behind("=")),
    row(&["ConvertTo-SecureString"], "", "", Take::Place(1)),
    row(&["snmpwalk", "snmpget", "snmpset"], "", "-A", Take::Option),
    row(&["snmpwalk", "snmpget", "snmpset"], "", "-X", Take::Option),
    row(&["snmpwalk", "snmpget", "snmpset"], "", "-c", Take::Option),
    row(&["impacket-secretsdump", "kinit", "cadaver"], "", "-p", Take::Option),
    row(&["sudo", "doas"], "", "--pass", Take::Option),
    row(&["cloudflared"], "", "--token", Take::Option),
    row(&["ngrok"], "add-authtoken", "add-authtoken", Take::After),
    row(&["ngrok"], "authtoken", "authtoken", Take::After),
    row(&["heroku"], "auth:token", "auth:token", Take::After),
    row(&["tailscale"], "", "--authkey", Take::Option),
    row(&["tailscale"], "", "--auth-key", Take::Option),
    row(&["influx"], "", "-password", Take::Option),
    row(&["hydra", "medusa", "ncrack"], "", "-p", Take::Option),
    row(&["schtasks"], "", "/rp", Take::After),
    row(&["winrm", "winrs"], "", "-p:", Take::Attached),
    row(&["pdftotext", "pdftops", "pdfimages", "pdfinfo"], "", "-upw", Take::After),
    row(&["pdftotext", "pdftops", "pdfimages", "pdfinfo"], "", "-opw", Take::After),
    row(&["qpdf"], "--encrypt", "--encrypt", Take::After),
    row(&["wg"], "", "private-key", Take::After),
    row(&["curl"], "", "-b", Take::Behind("=")),
    row(&["curl"], "", "--cookie", Take::Behind("=")),
    row(&["xcrun", "rdesktop", "cqlsh", "veracrypt", "useradd", "usermod"], "", "-p", Take::Option),
    row(&["poetry"], "publish", "-p", Take::Option),
    row(&["security"], "unlock-keychain", "-p", Take::Option),
    row(&["security"], "", "-w", Take::Option),
    row(&["vault"], "unseal", "", Take::Place(3)),
    row(&["cargo", "npm", "bw"], "login", "", Take::Place(2)),
    row(&["snyk"], "auth", "", Take::Place(2)),
    row(&["rclone"], "obscure", "", Take::Place(2)),
    row(&["nuget"], "setapikey", "", Take::Place(2)),
    row(&["nuget"], "setApiKey", "", Take::Place(2)),
    row(&["flyctl", "fly"], "token", "", Take::Place(3)),
    row(&["mkpasswd"], "", "", Take::Place(1)),
    row(&["openssl"], "passwd", "", Take::Place(2)),
    row(&["ansible-vault"], "encrypt_string", "", Take::Place(2)),
    row(&["doctl"], "", "-t", Take::Option),
    row(&["dotnet", "nuget"], "push", "-k", Take::Option),
    row(&["etcdctl"], "", "--user", Take::Behind(":")),
    row(&["redis-cli", "valkey-cli"], "requirepass", "requirepass", Take::After),
    row(&["redis-cli", "valkey-cli"], "SETUSER", ">", Take::Attached),
    row(&["nmcli"], "", "wifi-sec.psk", Take::After),
    row(&["nmcli"], "", "802-11-wireless-security.psk", Take::After),
    row(&["pdftk"], "", "input_pw", Take::After),
    row(&["pdftk"], "", "user_pw", Take::After),
    row(&["pdftk"], "", "owner_pw", Take::After),
    row(&["htpasswd"], "-bc", "", Take::Place(3)),
    row(&["htpasswd"], "-cb", "", Take::Place(3)),
    row(&["htpasswd"], "-bB", "", Take::Place(3)),
    row(&["htpasswd"], "-Bb", "", Take::Place(3)),
    row(&["htpasswd"], "-nbB", "", Take::Place(2)),
    row(&["composer"], "config", "github-oauth.github.com", Take::After),
    row(&["npm", "pnpm", "yarn"], "set", "_auth", Take::After),
    row(&["sonar-scanner", "mvn", "gradle", "gradlew"], "", "-Dsonar.login=", Take::Attached),
    row(&["user"], "/add", "", Take::Place(2)),
    row(&["wandb"], "login", "", Take::Place(2)),
    row(&["open", "lftp"], "", "-u", Take::Behind(",")),
    row(&["isakmp"], "key", "key", Take::After),
    row(&["addauth"], "digest", "digest", Take::After),
    row(&["sqlplus", "sqlldr", "expdp", "impdp"], "", "", Take::Behind("/")),
    row(&["vault"], "put", "", Take::Behind("=")),
    row(&["influx", "influxd"], "", "-t", Take::Option),
    row(&["transmission-remote"], "", "-n", Take::Behind(":")),
    row(&["mkpasswd"], "-m", "", Take::Place(2)),
    row(IMPACKET, "", "", Take::Behind(":")),
    row(&["cache_peer"], "", "login=", Take::Behind(":")),
    row(&["SQLConnectInfo"], "", "", Take::Place(3)),
    row(&["radtest"], "", "", Take::Place(2)),
    row(&["rwcommunity", "rocommunity", "rwcommunity6", "rocommunity6", "com2sec"], "", "", Take::Place(1)),
    row(&["createUser"], "", "SHA", Take::After),
    row(&["createUser"], "", "MD5", Take::After),
    row(&["createUser"], "", "AES", Take::After),
    row(&["createUser"], "", "DES", Take::After),
    row(&["xh", "http", "https"], "bearer", "-a", Take::Option),
    row(&["NickServ", "nickserv"], "", "IDENTIFY", Take::After),
    row(&["NickServ", "nickserv"], "", ":IDENTIFY", Take::After),
    row(&["nxc", "crackmapexec", "evil-winrm", "netexec", "smbmap"], "", "-p", Take::Option),
];

/// Tools that take `DOMAIN/USER:PASSWORD@HOST`.
const IMPACKET: &[&str] = &[
    "psexec.py",
    "wmiexec.py",
    "smbexec.py",
    "atexec.py",
    "dcomexec.py",
    "secretsdump.py",
    "GetUserSPNs.py",
    "GetNPUsers.py",
    "smbclient.py",
    "lookupsid.py",
    "mssqlclient.py",
    "impacket-psexec",
    "impacket-wmiexec",
    "impacket-smbexec",
    "impacket-mssqlclient",
    "impacket-smbclient",
];

/// Programs that set a variable or a setting by its name: the value stands behind the name.
pub(super) const SETTERS: &[&str] = &[
    "set",
    "setenv",
    "configure",
    "config",
    "secrets",
    "env",
    "universal",
    "setx",
    "declare",
    "variable",
    "var",
    "export",
    "ENV",
];

/// Programs that print their arguments, for the next one to read.
pub(super) const PRINTERS: &[&str] = &["echo", "printf", "print", "yes"];

/// Words with which a command keeps what its input says, under a name that tells whether it is a secret.
pub(super) const KEEPS: &[&str] = &["create", "add", "set", "put", "insert", "store", "import", "update", "write"];

/// The options that name a user, and those that then say the password.
pub(super) const USER_OPTIONS: &[&str] = &["-u", "-U", "--user", "--username", "-username"];
pub(super) const PASSWORD_OPTIONS: &[&str] = &["-p", "-P"];

/// Words of a command that reads a secret from its input.
pub(super) const READS_SECRET: &[&str] = &[
    "--password-stdin",
    "--passwd-stdin",
    "--with-token",
    "--stdin",
    "--passphrase-fd",
    "--passwd-on-stdin",
    "--with-password",
    "--pinentry-mode",
    "chpasswd",
    "passwd",
    "smbpasswd",
    "cryptsetup",
    "gocryptfs",
    "su",
    "sudo",
    "doas",
    "kinit",
    "vipw",
    "ssh-add",
    "vncpasswd",
    "secret-tool",
    "pass",
    "keepassxc-cli",
    "op",
    "lpass",
    "smbclient",
    "sshfs",
];
