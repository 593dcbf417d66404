"""What the scripts of a release share: the binaries that goreleaser made, and archives
whose bytes depend only on their contents and on SOURCE_DATE_EPOCH."""

import gzip
import io
import json
import os
import pathlib
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def epoch():
    """The time of all members of archives. Zip files have none before 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)


def binaries(dist, platforms):
    """Yield what platforms has for each system and processor, with the name and the bytes
    of its binary. A missing one ends the program, unless URLFOLD_PARTIAL is set."""
    missing = dict(platforms)
    for artifact in json.loads((dist / "artifacts.json").read_text()):
        key = artifact.get("goos"), artifact.get("goarch")
        if artifact["type"] == "Binary" and key in missing:
            yield missing.pop(key), artifact["name"], pathlib.Path(artifact["path"]).read_bytes()
    if missing and not os.environ.get("URLFOLD_PARTIAL"):
        raise SystemExit("no binaries for: " + ", ".join(sorted("/".join(k) for k in missing)))


def tarball(files, uid=0):
    """Return a tar of files: a dict from a name to bytes, or to None for a folder that
    belongs to uid. A file below a folder named bin, or without a dot, can be executed."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.mtime, member.mode = epoch(), 0o644
            if data is None:
                member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, 0o755, uid, uid
            elif name.startswith("urlfold") and "." not in name or "/bin/" in name:
                member.mode = 0o755
            member.size = len(data or b"")
            tar.addfile(member, io.BytesIO(data or b""))
    return raw.getvalue()


def gzipped(data):
    return gzip.compress(data, compresslevel=9, mtime=epoch())
