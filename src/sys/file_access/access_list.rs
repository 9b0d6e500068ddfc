//! Interprets an access list of Windows from its text form (SDDL).
//!
//! Compiled on all systems, because it only parses text. Unknown entries count as granted.

/// A kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// The rights that allow reading a file.
const READ_RIGHTS: u32 = 0x8000_0000 | 0x1000_0000 | 0x1;
/// The rights that allow changing or deleting a file, or changing its permissions.
const WRITE_RIGHTS: u32 = 0x4000_0000 | 0x1000_0000 | 0x000d_0000 | 0x0000_0156;

/// The rights that have two-letter names in SDDL, as file rights.
const NAMED_RIGHTS: &[(&str, u32)] = &[
    ("GA", 0x1000_0000),
    ("GR", 0x8000_0000),
    ("GW", 0x4000_0000),
    ("GX", 0x2000_0000),
    ("FA", 0x001f_01ff),
    ("FR", 0x0012_0089),
    ("FW", 0x0012_0116),
    ("FX", 0x0012_00a0),
    ("RC", 0x0002_0000),
    ("SD", 0x0001_0000),
    ("WD", 0x0004_0000),
    ("WO", 0x0008_0000),
    ("CC", 0x1),
    ("DC", 0x2),
    ("LC", 0x4),
    ("SW", 0x8),
    ("RP", 0x10),
    ("WP", 0x20),
    ("DT", 0x40),
    ("LO", 0x80),
    ("CR", 0x100),
];

/// The system and administrators, from whom nothing can be protected, and the owner, who is the user.
const TRUSTED: &[&str] = &["SY", "BA", "LA", "OW", "CO", "S-1-5-18", "S-1-5-32-544", "S-1-3-0", "S-1-3-4"];

/// Returns whether an access list grants users other than `user` access to its file.
pub(super) fn others_may(access: Access, list: &str, user: &str) -> bool {
    let rights = match access {
        Access::Read => READ_RIGHTS | WRITE_RIGHTS,
        Access::Write => WRITE_RIGHTS,
    };
    let Some(list) = list.strip_prefix("D:") else { return true };
    let Some(begin) = list.find('(') else {
        // An empty list grants nothing; a missing list grants everything to everyone.
        return list.contains("NO_ACCESS_CONTROL");
    };
    list[begin..].split('(').skip(1).any(|entry| grants(entry, rights, user))
}

/// Returns whether an entry, such as `A;ID;FA;;;S-1-5-21-1)`, grants one of these rights to an untrusted user.
fn grants(entry: &str, rights: u32, user: &str) -> bool {
    let fields: Vec<&str> = entry.trim_end_matches(')').split(';').collect();
    let [kind, flags, granted, _, _, who, ..] = fields[..] else { return true };
    let is_for_children_alone = flags.as_bytes().chunks(2).any(|flag| flag == b"IO");
    if matches!(kind, "D" | "OD" | "XD") || is_for_children_alone || who == user || TRUSTED.contains(&who) {
        return false;
    }
    parse_rights(granted).is_none_or(|granted| granted & rights != 0)
}

fn parse_rights(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    let names = text
        .as_bytes()
        .chunks(2)
        .map(|name| NAMED_RIGHTS.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, right)| *right));
    names.reduce(|all, right| Some(all? | right?)).unwrap_or(Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "S-1-5-21-1-2-3-1001";

    #[track_caller]
    fn check(list: &str, others_read: bool, others_write: bool) {
        assert_eq!(others_may(Access::Read, list, USER), others_read, "{list}");
        assert_eq!(others_may(Access::Write, list, USER), others_write, "{list}");
    }

    #[test]
    fn the_list_of_a_profile_is_the_users_own() {
        check(&format!("D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;FA;;;{USER})"), false, false);
        check(&format!("D:P(A;;GA;;;{USER})"), false, false);
        check("D:P", false, false);
    }

    #[test]
    fn access_of_other_users_is_detected() {
        check("D:AI(A;ID;0x1200a9;;;BU)", true, false);
        check("D:AI(A;ID;FR;;;WD)(A;ID;FA;;;SY)", true, false);
        check("D:AI(A;ID;0x1301bf;;;AU)", true, true);
        check("D:(A;;WD;;;S-1-5-21-1-2-3-1002)", true, true);
        check("D:(A;;FX;;;WD)", false, false);
    }

    #[test]
    fn denying_and_inherit_only_entries_grant_nothing() {
        check("D:(D;;FA;;;WD)(A;OICIIO;FA;;;AU)", false, false);
    }

    #[test]
    fn unknown_entries_count_as_granted() {
        for list in ["", "D:NO_ACCESS_CONTROL", "D:(A;;ZZ;;;WD)", "D:(A;;FA)"] {
            check(list, true, true);
        }
    }
}
