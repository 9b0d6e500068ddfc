"""Packs a folder into an archive: python3 pack.py FOLDER ARCHIVE.tar.gz|ARCHIVE.zip

The same files make the same bytes, on every system: names are sorted, times are SOURCE_DATE_EPOCH or 1980, and nobody
owns anything.
"""

import gzip
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

# The first moment that a zip can name.
EARLIEST = 315_532_800


def main(folder: Path, archive: Path) -> None:
    when = max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = [(path, path.relative_to(folder.parent).as_posix(), mode(path)) for path in files]
    if archive.suffix == ".zip":
        write_zip(entries, archive, when)
    else:
        write_tar(entries, archive, when)


def mode(path: Path) -> int:
    return 0o755 if path.name in ("slop", "slop.exe") else 0o644


def write_tar(entries: list[tuple[Path, str, int]], archive: Path, when: int) -> None:
    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=when) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, name, permissions in entries:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = path.stat().st_size, permissions, when
                with open(path, "rb") as contents:
                    tar.addfile(entry, contents)


def write_zip(entries: list[tuple[Path, str, int]], archive: Path, when: int) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, name, permissions in entries:
            entry = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, permissions << 16
            packed.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
