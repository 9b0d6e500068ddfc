//! File systems on which a change may come without an event.

/// By the number that `statfs` tells, as <linux/magic.h> and the file systems' own sources have it.
const WITHOUT_EVENTS: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x794c_7630, "overlayfs"),
    (0x6175_6673, "aufs"),
    (0xf15f, "eCryptfs"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x0bd0_0bd0, "Lustre"),
    (0x2003_0528, "OrangeFS"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
    (0xaad7_aaea, "PanFS"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
];

/// Returns the name of a file system that does not tell of every change, if this one is known to be such.
pub(super) fn without_events(magic: u64) -> Option<&'static str> {
    WITHOUT_EVENTS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_whose_changes_may_come_from_elsewhere_are_known() {
        assert_eq!(without_events(0x794c_7630), Some("overlayfs"));
        assert_eq!(without_events(0x6969), Some("NFS"));
        assert_eq!(without_events(0xef53), None, "ext4");
        assert_eq!(without_events(0x0102_1994), None, "tmpfs");
        assert_eq!(without_events(0x9123_683e), None, "btrfs");
    }
}
