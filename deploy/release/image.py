#!/usr/bin/env python3
"""Make the container image of a release, as an OCI layout in a tar file.

    image.py VERSION DIST OUT

DIST is the folder of goreleaser, with artifacts.json. The image has the static binary,
the certificates of the package certifi and the folders of deploy/Dockerfile, for amd64
and arm64. The bytes depend on these and on SOURCE_DATE_EPOCH only.
"""

import hashlib
import json
import pathlib
import sys
import time

import certifi
from artifacts import ROOT, binaries, epoch, gzipped, tarball

USER = 65532
FOLDERS = ["data", "data/logs", "data/clean", "data/done", "tmp", "var", "var/lib", "var/lib/urlfold"]
OCI = "application/vnd.oci.image."


class Layout:
    """Blobs by digest."""

    def __init__(self):
        self.files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def add(self, kind, data, **more):
        if not isinstance(data, bytes):
            data = json.dumps(data, separators=(",", ":")).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": OCI + kind, "digest": "sha256:" + digest, "size": len(data), **more}


def image(layout, labels, arch, binary, licences):
    files = {folder: None for folder in FOLDERS}
    files["etc/ssl/certs/ca-certificates.crt"] = pathlib.Path(certifi.where()).read_bytes()
    files["LICENSE.txt"] = (ROOT / "LICENSE").read_bytes()
    files["licences.txt"] = licences
    files["urlfold"] = binary
    layer = tarball(files, uid=USER)
    config = {
        "architecture": arch,
        "os": "linux",
        "created": labels["org.opencontainers.image.created"],
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/urlfold"],
            "Cmd": ["--help"],
            "Volumes": {"/var/lib/urlfold": {}},
            "StopSignal": "SIGTERM",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": labels["org.opencontainers.image.created"], "created_by": "deploy/release/image.py"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": OCI + "manifest.v1+json",
        "config": layout.add("config.v1+json", config),
        "layers": [layout.add("layer.v1.tar+gzip", gzipped(layer))],
        "annotations": labels,
    }
    return layout.add("manifest.v1+json", manifest, platform={"os": "linux", "architecture": arch})


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    version, dist, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    labels = {
        "org.opencontainers.image.title": "urlfold",
        "org.opencontainers.image.description": "Normalizes the URLs in logs and messages, and reports their defects",
        "org.opencontainers.image.source": "https://github.com/urlfold/urlfold",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.revision": json.loads((dist / "metadata.json").read_text())["commit"],
        "org.opencontainers.image.created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch())),
    }
    licences = (dist / "licences.txt").read_bytes()
    layout = Layout()
    platforms = {("linux", "amd64"): "amd64", ("linux", "arm64"): "arm64"}
    manifests = [image(layout, labels, arch, data, licences) for arch, _, data in binaries(dist, platforms)]
    manifests.sort(key=lambda m: m["platform"]["architecture"])
    if not manifests:
        return  # only another system was built
    index = {"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": manifests, "annotations": labels}
    top = layout.add("index.v1+json", index, annotations={"org.opencontainers.image.ref.name": version})
    layout.files["index.json"] = json.dumps({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": [top]}).encode()
    path = out / f"urlfold_{version}_oci.tar"
    path.write_bytes(tarball(layout.files))
    print(path)


if __name__ == "__main__":
    main()
