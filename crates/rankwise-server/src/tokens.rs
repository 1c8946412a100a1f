//! Who may do what.

use crate::problem::{Answer, Problem};
use axum::http::StatusCode;
use rankwise::{Error, Result};
use std::hint::black_box;

/// The fewest characters of a token.
const SHORTEST: usize = 16;

/// A new token that nobody can guess.
pub fn new_token() -> Result<String> {
    Ok(hex(&random_bytes::<32>()?))
}

/// Bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::parameter(format!("the system has no random numbers: {error}")))?;
    Ok(bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What a request must be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Read: anybody who reaches the server.
    Anyone,
    /// Judge documents.
    Judge,
    /// Change models, and everything that judges may do.
    Admin,
}

/// The tokens of those who may write. They are never printed.
pub(crate) struct Tokens {
    admin: Vec<String>,
    judge: Vec<String>,
}

impl Tokens {
    pub(crate) fn new(admin: Vec<String>, judge: Vec<String>) -> Result<Tokens> {
        for token in admin.iter().chain(&judge) {
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(Error::parameter(format!(
                    "a token must have at least {SHORTEST} characters, which are letters, digits or signs of ASCII; \
                     `openssl rand -hex 32` makes a good one"
                )));
            }
        }
        Ok(Tokens { admin, judge })
    }

    /// Whether the bearer of the header `authorization` has a role.
    pub(crate) fn check(&self, role: Role, header: Option<&str>) -> Answer<()> {
        let accepted = match role {
            Role::Anyone => return Ok(()),
            Role::Judge => [self.judge.as_slice(), &self.admin],
            Role::Admin => [&[], self.admin.as_slice()],
        };
        if accepted.iter().all(|tokens| tokens.is_empty()) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "this server was started without tokens, so nobody may do this; start it with --token-file",
            ));
        }
        let Some(given) = header.and_then(bearer) else {
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "this needs a token; send it with the header `authorization: Bearer TOKEN`",
            ));
        };
        if is_one_of(given, accepted.into_iter().flatten()) {
            return Ok(());
        }
        if role == Role::Admin && is_one_of(given, self.judge.iter()) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "judges may not do this; it needs the token of an administrator",
            ));
        }
        Err(Problem::new(StatusCode::UNAUTHORIZED, "the token is not valid"))
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Looks at all tokens, so that the time does not depend on which one it is.
fn is_one_of<'a>(given: &str, tokens: impl Iterator<Item = &'a String>) -> bool {
    tokens.fold(false, |found, token| found | is_same(given.as_bytes(), token.as_bytes()))
}

/// Compares in a time that depends on lengths only.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let different = given.iter().zip(token).fold(0, |bits, (a, b)| black_box(bits | (a ^ b)));
    given.len() == token.len() && different == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADMIN: &str = "admin-admin-admin";
    const JUDGE: &str = "judge-judge-judge";

    fn status(role: Role, header: Option<&str>) -> u16 {
        let tokens = Tokens::new(vec![ADMIN.into()], vec![JUDGE.into()]).unwrap();
        tokens.check(role, header).map_or_else(|problem| problem.status.as_u16(), |()| 200)
    }

    #[test]
    fn roles_decide() {
        let header = |token: &str| format!("Bearer {token}");
        let (admin, judge) = (header(ADMIN), header(JUDGE));
        assert_eq!(status(Role::Anyone, None), 200);
        assert_eq!((status(Role::Judge, None), status(Role::Admin, None)), (401, 401));
        assert_eq!((status(Role::Judge, Some(&judge)), status(Role::Judge, Some(&admin))), (200, 200));
        assert_eq!((status(Role::Admin, Some(&judge)), status(Role::Admin, Some(&admin))), (403, 200));
        for wrong in ["", "Bearer", "Bearer ", "Basic admin-admin-admin", ADMIN, &header(&ADMIN[..16])] {
            assert_eq!(status(Role::Admin, Some(wrong)), 401, "{wrong}");
        }
        assert_eq!(status(Role::Admin, Some(&header(&format!("{ADMIN}x")))), 401);
        assert_eq!(status(Role::Admin, Some(&header(&ADMIN.replace("min-a", "min_a")))), 401);
    }

    #[test]
    fn without_tokens_nobody_may_write() {
        let tokens = Tokens::new(vec![], vec![]).unwrap();
        assert_eq!(tokens.check(Role::Judge, Some("Bearer x")).unwrap_err().status, 403);
        assert!(Tokens::new(vec!["short".into()], vec![]).is_err());
        assert!(Tokens::new(vec!["has a space in it".into()], vec![]).is_err());
    }
}
