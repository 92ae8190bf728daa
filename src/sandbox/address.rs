//! Reads whom a call is about: the address of a socket, and the name that a packet asks a name server for. Pure.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Whom a socket is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A path, as the program wrote it.
    Path(Vec<u8>),
    /// A name that lies in no directory (`unix(7)`, "abstract").
    Abstract(Vec<u8>),
    /// An address of the internet protocols.
    Internet(SocketAddr),
}

/// Reads a `struct sockaddr`; `None` for other families, and for what is none.
pub(super) fn address(bytes: &[u8]) -> Option<Address> {
    let family = i32::from(u16::from_ne_bytes(*bytes.first_chunk()?));
    let rest = bytes.get(2..)?;
    if family == libc::AF_UNIX {
        return match rest.split_first()? {
            (0, name) if !name.is_empty() => Some(Address::Abstract(name.to_vec())),
            (0, _) => None,
            _ => Some(Address::Path(rest.split(|byte| *byte == 0).next()?.to_vec())),
        };
    }
    let port = u16::from_be_bytes(*rest.first_chunk()?);
    if family == libc::AF_INET {
        let address: [u8; 4] = *rest.get(2..)?.first_chunk()?;
        return Some(Address::Internet(SocketAddrV4::new(Ipv4Addr::from(address), port).into()));
    }
    if family == libc::AF_INET6 {
        // Between port and address stands the flow.
        let address: [u8; 16] = *rest.get(6..)?.first_chunk()?;
        let address = Ipv6Addr::from(address);
        return Some(Address::Internet(match address.to_ipv4_mapped() {
            Some(mapped) => SocketAddrV4::new(mapped, port).into(),
            None => SocketAddrV6::new(address, port, 0, 0).into(),
        }));
    }
    None
}

/// The length of a packet's head (RFC 1035, 4.1.1).
const HEAD: usize = 12;

/// Reads which name a packet asks a name server for (RFC 1035); `None` for what is no such question.
pub(super) fn name_asked(packet: &[u8]) -> Option<String> {
    let (head, mut rest) = packet.split_at_checked(HEAD)?;
    // One question, and no answer to one.
    if head[2] & 0x80 != 0 || head[4..6] != [0, 1] {
        return None;
    }
    let mut name = String::new();
    loop {
        let (length, behind) = rest.split_first()?;
        if *length == 0 {
            return (!name.is_empty()).then_some(name);
        }
        let (label, behind) = behind.split_at_checked(usize::from(*length))?;
        if !label.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(std::str::from_utf8(label).ok()?);
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(number: i32) -> Vec<u8> {
        u16::try_from(number).unwrap().to_ne_bytes().to_vec()
    }

    #[test]
    fn addresses_of_each_family_are_read_and_others_are_not() {
        let internet = [family(libc::AF_INET), vec![0x01, 0xbb, 192, 0, 2, 7, 0, 0]].concat();
        assert_eq!(address(&internet), Some(Address::Internet("192.0.2.7:443".parse().unwrap())));
        let six = [family(libc::AF_INET6), vec![0, 53, 0, 0, 0, 0], [[0; 15].as_slice(), &[1]].concat()].concat();
        assert_eq!(address(&six), Some(Address::Internet("[::1]:53".parse().unwrap())));
        let path = [family(libc::AF_UNIX), b"/run/x.sock\0\0".to_vec()].concat();
        assert_eq!(address(&path), Some(Address::Path(b"/run/x.sock".to_vec())));
        let hidden = [family(libc::AF_UNIX), b"\0bus".to_vec()].concat();
        assert_eq!(address(&hidden), Some(Address::Abstract(b"bus".to_vec())));
        assert_eq!(address(&family(libc::AF_UNSPEC)), None);
        assert_eq!(address(&internet[..5]), None);
        assert_eq!(address(&[]), None);
    }

    #[test]
    fn the_name_in_a_question_is_read_and_nothing_else_is() {
        let mut packet = vec![7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        packet.extend(b"\x07example\x03org\0\0\x01\0\x01");
        assert_eq!(name_asked(&packet).as_deref(), Some("example.org"));
        packet[2] = 0x81;
        assert_eq!(name_asked(&packet), None);
        packet[2] = 1;
        assert_eq!(name_asked(&packet[..16]), None);
        packet[14] = b'\x1b';
        assert_eq!(name_asked(&packet), None);
    }
}
