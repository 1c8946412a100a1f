//! Which hosts a server for its own machine answers for.
//!
//! A page of any site can have its host's name point to this machine and then read what it gets from there, as far as the
//! browser can tell from its own site (DNS rebinding). The request still names the site as its host.

use crate::problem::{Answer, Problem};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::http::request::Parts;
use std::net::{IpAddr, SocketAddr};

/// Rejects requests for several hosts, and those for another host if `listen` can be reached from this machine only.
pub(crate) fn check(listen: SocketAddr, head: &Parts) -> Answer<()> {
    if head.headers.get_all(HOST).iter().count() > 1 {
        return Err(Problem::bad_request("the request has several `Host` headers; it must have one"));
    }
    let host = head.uri.authority().map(|authority| authority.as_str());
    let host = host.or_else(|| head.headers.get(HOST)?.to_str().ok());
    match host {
        Some(host) if listen.ip().is_loopback() && !is_this_machine(host) => Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers for its own machine only, and the request is for another host; a proxy in front of it \
             must send `Host: localhost`",
        )),
        _ => Ok(()),
    }
}

/// Whether a host, perhaps with a port, is `localhost`, a name below it, or an address of this machine alone.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine_are_known() {
        for host in [
            "localhost",
            "LOCALHOST:7700",
            "localhost.:7700",
            "a.localhost:1",
            "127.0.0.1",
            "127.8.8.8:80",
            "[::1]",
            "[::1]:7700",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org:7700",
            "notlocalhost",
            "10.0.0.1",
            "[::2]:1",
            "127.0.0.1.nip.io",
            "a:b",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
