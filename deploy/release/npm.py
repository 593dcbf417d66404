#!/usr/bin/env python3
"""Make the npm packages of a release.

    npm.py VERSION DIST OUT

The package urlfold is the library in bindings/js, for which this script builds the
WebAssembly module. DIST is the folder of goreleaser, with artifacts.json. The package @urlfold/cli has a
package for each platform as an optional dependency, of which npm installs the one that
fits, and a script that starts its binary. No script runs during the installation.
"""

import json
import pathlib
import subprocess
import sys

from artifacts import ROOT, binaries, gzipped, tarball

# Systems and processors as process.platform and process.arch of Node name them.
PLATFORMS = {
    ("linux", "amd64"): ("linux", "x64"),
    ("linux", "arm64"): ("linux", "arm64"),
    ("linux", "riscv64"): ("linux", "riscv64"),
    ("darwin", "amd64"): ("darwin", "x64"),
    ("darwin", "arm64"): ("darwin", "arm64"),
    ("windows", "amd64"): ("win32", "x64"),
    ("windows", "arm64"): ("win32", "arm64"),
    ("freebsd", "amd64"): ("freebsd", "x64"),
    ("freebsd", "arm64"): ("freebsd", "arm64"),
}

START = """\
#!/usr/bin/env node
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");

const name = `@urlfold/cli-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/urlfold${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`urlfold: the package ${name} is not installed: npm installs it as an optional dependency, if there is one for this platform`);
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  console.error(`urlfold: cannot start ${binary}: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
"""

README = """\
# urlfold

Normalizes the URLs in access logs, lists, tables and JSON lines, finds duplicates, and
reports damaged archives. This package installs the program.

    npx @urlfold/cli access.log.gz > clean.log
"""


def package(out, version, name, files, **more):
    about = {
        "name": name,
        "version": version,
        "description": "Normalize the URLs in logs and messages, and report their defects",
        "license": "Apache-2.0",
        "repository": {"type": "git", "url": "git+https://github.com/urlfold/urlfold.git"},
        **more,
    }
    files = {"package.json": json.dumps(about, indent=2).encode() + b"\n", "LICENSE": (ROOT / "LICENSE").read_bytes(), **files}
    path = out / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    path.write_bytes(gzipped(tarball({"package/" + k: v for k, v in files.items()})))
    print(path)


def library(out, version, licences):
    folder = ROOT / "bindings/js"
    subprocess.run([folder / "build"], check=True)
    about = json.loads((folder / "package.json").read_text())
    names = ["README.md", *(f"src/{path.name}" for path in (folder / "src").iterdir())]
    files = {name: (folder / name).read_bytes() for name in names}
    more = {key: value for key, value in about.items() if key not in ("name", "version", "files")}
    package(out, version, about["name"], {**files, "licences.txt": licences}, **more)


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    version, dist, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    licences, names = (dist / "licences.txt").read_bytes(), []
    library(out, version, licences)
    for (system, cpu), binary, data in binaries(dist, PLATFORMS):
        names.append(f"@urlfold/cli-{system}-{cpu}")
        package(out, version, names[-1], {f"bin/{binary}": data, "licences.txt": licences}, os=[system], cpu=[cpu], preferUnplugged=True)
    package(
        out,
        version,
        "@urlfold/cli",
        {"README.md": README.encode(), "bin/urlfold.js": START.encode()},
        bin={"urlfold": "bin/urlfold.js"},
        engines={"node": ">=18"},
        optionalDependencies={name: version for name in sorted(names)},
    )


if __name__ == "__main__":
    main()
