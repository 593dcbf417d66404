#!/usr/bin/env python3
"""Make the Python wheels and the source distribution of a release.

    wheel.py VERSION DIST OUT

DIST is the folder of goreleaser, with artifacts.json. A wheel contains the static
binary as a script, so that "pip install urlfold" and "uvx urlfold" need no Go, and the
package of bindings/python. The
source distribution says what to do on a platform without a wheel. The files depend on
the binaries and on SOURCE_DATE_EPOCH only.
"""

import base64
import hashlib
import pathlib
import re
import stat
import sys
import time
import zipfile

from artifacts import ROOT, binaries, epoch, gzipped, tarball

# The tags of a static binary: any glibc and musl, and the oldest macOS of Go 1.26.
PLATFORMS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("linux", "riscv64"): "manylinux_2_31_riscv64.musllinux_1_2_riscv64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}

METADATA = """\
Metadata-Version: 2.4
Name: urlfold
Version: {version}
Summary: Normalize the URLs in logs and messages, and report their defects
License-Expression: Apache-2.0
License-File: LICENSE
License-File: licences.txt
Project-URL: Source, https://github.com/urlfold/urlfold
Keywords: url,normalization,logs,deduplication,crawler
Classifier: Environment :: Console
Classifier: Topic :: Internet :: Log Analysis
Requires-Python: >=3.10
Description-Content-Type: text/plain

The program urlfold, as a static binary: it normalizes the URLs in access logs, lists, tables
and JSON lines, finds duplicates, and reports damaged archives.

    urlfold access.log.gz > clean.log
    urlfold top access.log.gz

In Python:

    import urlfold
    urlfold.Normalizer()("HTTP://Example.com/%7euser")
"""

BACKEND = '''\
"""The build backend of the source distribution: it only says where to get urlfold."""

TEXT = """urlfold has no wheel for this platform. With Go 1.26 or newer:

    go install github.com/urlfold/urlfold/cmd/urlfold@v{version}
"""


def refuse(*_args, **_kwargs):
    raise SystemExit(TEXT)


build_wheel = build_sdist = prepare_metadata_for_build_wheel = refuse
'''

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "urlfold"
version = "{version}"
"""


def python_version(version):
    """Return the version as Python spells it: 0.1.0-rc.1 is 0.1.0rc1."""
    return re.sub(r"-(a|b|rc)[a-z]*\.", r"\1", version)


def write_wheel(version, tag, binary, name, licences, out):
    info = f"urlfold-{version}.dist-info"
    package = ROOT / "bindings/python/urlfold"
    files = {
        **{f"urlfold/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.suffix == ".py" or path.name == "py.typed"},
        f"urlfold-{version}.data/scripts/{name}": binary,
        f"{info}/METADATA": METADATA.format(version=version).encode(),
        f"{info}/WHEEL": "".join(
            ["Wheel-Version: 1.0\nGenerator: urlfold\nRoot-Is-Purelib: false\n"] + [f"Tag: py3-none-{t}\n" for t in tag.split(".")]
        ).encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{info}/licenses/licences.txt": licences,
    }
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = out / f"urlfold-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for member, data in files.items():
            entry = zipfile.ZipInfo(member, time.gmtime(epoch())[:6])
            mode = 0o755 if "/scripts/" in member else 0o644
            entry.create_system, entry.external_attr, entry.compress_type = 3, (stat.S_IFREG | mode) << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_sdist(version, tag, out):
    top = f"urlfold-{version}"
    files = {
        "PKG-INFO": METADATA.format(version=version).replace("License-File: licences.txt\n", ""),
        "LICENSE": (ROOT / "LICENSE").read_text(),
        "backend.py": BACKEND.format(version=tag),
        "pyproject.toml": PYPROJECT.format(version=version),
    }
    path = out / f"{top}.tar.gz"
    path.write_bytes(gzipped(tarball({f"{top}/{name}": text.encode() for name, text in files.items()})))
    return path


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    version, dist, out = python_version(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    for tag, name, binary in binaries(dist, PLATFORMS):
        print(write_wheel(version, tag, binary, name, (dist / "licences.txt").read_bytes(), out))
    print(write_sdist(version, sys.argv[1], out))


if __name__ == "__main__":
    main()
