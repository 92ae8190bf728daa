//! The likely cause where a server's answer or certificate is not what it should be. Pure.

use std::time::{Duration, SystemTime};

use super::transport::cause;

/// Clocks differ, and servers are slow: only more than this is a wrong clock.
const WRONG: Duration = Duration::from_hours(1);

/// What is known of this machine's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// What it says.
    pub(crate) now: SystemTime,
    /// A time in the past for certain: this program was built after it.
    pub(crate) passed: SystemTime,
    /// What a server's `date` said when it was heard last, and what this clock said then.
    pub(crate) heard: Option<(SystemTime, SystemTime)>,
}

impl Clock {
    /// Tells whether the clock is ahead or behind by more than [`WRONG`], as a server's date has it.
    fn differs(&self) -> Option<std::cmp::Ordering> {
        let (date, here) = self.heard?;
        Some(match (here.duration_since(date), date.duration_since(here)) {
            (Ok(ahead), _) if ahead > WRONG => std::cmp::Ordering::Greater,
            (_, Ok(behind)) if behind > WRONG => std::cmp::Ordering::Less,
            (Ok(_) | Err(_), _) => std::cmp::Ordering::Equal,
        })
    }

    /// Blames the clock for a certificate that is not valid now, where that is likelier than the certificate.
    pub(crate) fn blamed(&self, found: &str) -> Option<&'static str> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match (found, self.differs()) {
            (cause::CERTIFICATE_EARLY | cause::CERTIFICATE_DATE, Some(Less)) => Some(cause::CLOCK_BEHIND),
            (cause::CERTIFICATE_EARLY | cause::CERTIFICATE_DATE, _) if self.now < self.passed => {
                Some(cause::CLOCK_BEHIND)
            }
            (cause::CERTIFICATE_DATE, Some(Greater)) => Some(cause::CLOCK_AHEAD),
            // Nobody puts a certificate up before it is valid.
            (cause::CERTIFICATE_EARLY, None) => Some(cause::CLOCK_BEHIND),
            (_, Some(Less | Equal | Greater) | None) => None,
        }
    }
}

/// Tells whether somebody else answered in a server's place: the login page of a network, or of a company's proxy.
/// `target` is the host of a redirect, `first` how the body of a success begins. Over TLS it is the server itself.
pub(crate) fn is_portal(status: u16, tls: bool, host: &str, target: Option<&str>, first: Option<u8>) -> bool {
    match status {
        // RFC 6585, section 6.
        511 => true,
        // A server that has moved for good says 301 or 308.
        302 | 303 | 307 => !tls && target.is_some_and(|target| !target.eq_ignore_ascii_case(host)),
        // Neither JSON nor a stream of events begins so; a server may well send those as `text/html`.
        200..=299 => !tls && first == Some(b'<'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(days: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(24 * days)
    }

    #[test]
    fn the_clock_is_blamed_where_it_is_likelier_than_the_certificate() {
        let clock = |now, heard: Option<u64>| Clock {
            now: at(now),
            passed: at(100),
            heard: heard.map(|date| (at(date), at(now))),
        };
        let told = [
            (clock(200, None), cause::CERTIFICATE_EARLY, Some(cause::CLOCK_BEHIND)),
            (clock(200, Some(200)), cause::CERTIFICATE_EARLY, None),
            (clock(200, Some(300)), cause::CERTIFICATE_EARLY, Some(cause::CLOCK_BEHIND)),
            (clock(50, None), cause::CERTIFICATE_DATE, Some(cause::CLOCK_BEHIND)),
            (clock(200, None), cause::CERTIFICATE_DATE, None),
            (clock(200, Some(200)), cause::CERTIFICATE_DATE, None),
            (clock(900, Some(200)), cause::CERTIFICATE_DATE, Some(cause::CLOCK_AHEAD)),
            (clock(900, Some(200)), cause::UNTRUSTED, None),
            (clock(50, None), cause::REFUSED, None),
        ];
        for (clock, found, expected) in told {
            assert_eq!(clock.blamed(found), expected, "{clock:?}: {found}");
        }
    }

    #[test]
    fn a_login_page_is_told_from_a_server_that_has_moved_and_from_an_answer() {
        let host = "api.example";
        for tls in [true, false] {
            assert!(is_portal(511, tls, host, None, None));
            assert_eq!(is_portal(302, tls, host, Some("login.hotel.example"), None), !tls);
            assert_eq!(is_portal(200, tls, host, None, Some(b'<')), !tls);
            assert!(!is_portal(302, tls, host, Some("API.example"), None));
            assert!(!is_portal(308, tls, host, Some("other.example"), None));
            assert!(!is_portal(200, tls, host, None, Some(b'd')));
            assert!(!is_portal(200, tls, host, None, None));
            assert!(!is_portal(404, tls, host, None, Some(b'<')));
        }
    }
}
