"""PyTorch's C++ API tests from Debian's source package of PyTorch 1.13.1, through apt's own
lists of a moment: nothing of the system's configuration changes and no rights are needed."""

import hashlib
import os
import re
import subprocess
import tarfile
import tempfile
import urllib.request

PACKAGE = "pytorch=1.13.1+dfsg-4"
SUITE = (
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} bookworm main\n"
)
MIRROR = "http://deb.debian.org/debian"
WANTED = ("test/cpp/api/", "test/cpp/common/")


def apt(folder, *arguments):
    settings = [
        f"Dir::State={folder}/state",
        f"Dir::Cache={folder}/cache",
        "APT::Sandbox::User=root",
        f"Dir::Etc::SourceList={folder}/sources.list",
        "Dir::Etc::SourceParts=-",
        "Dir::State::status=/var/lib/dpkg/status",
    ]
    for sub in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, sub), exist_ok=True)
    options = [part for s in settings for part in ("-o", s)]
    return subprocess.run(
        ["apt-get", "-q", *options, *arguments], check=True, text=True, capture_output=True
    ).stdout


def orig_tarball(folder):
    """Downloads the package's original tarball: of its files only this one is needed."""
    with tempfile.TemporaryDirectory() as lists:
        with open(os.path.join(lists, "sources.list"), "w") as stream:
            stream.write(SUITE.format(mirror=MIRROR))
        apt(lists, "update")
        told = apt(lists, "source", "--print-uris", "--only-source", PACKAGE)
    match = re.search(
        r"'(\S+\.orig\.tar\.\w+)' (\S+) (\d+) (MD5Sum|SHA1|SHA256|SHA512):(\w+)", told
    )
    if not match:
        raise SystemExit(f"apt-get names no original tarball of {PACKAGE}:\n{told}")
    url, name, _, kind, expected = match.groups()
    path = os.path.join(folder, name)
    print(f"fetching {url}")
    urllib.request.urlretrieve(url, path + ".part")
    with open(path + ".part", "rb") as stream:
        found = hashlib.new(kind.lower().replace("sum", ""), stream.read()).hexdigest()
    if found != expected:
        raise SystemExit(f"{url}: {kind} is {found}, not {expected}")
    os.rename(path + ".part", path)
    return path


def tests(folder):
    """The folder that holds test/cpp/api, fetched when it is not there yet."""
    root = os.path.join(folder, "source")
    if os.path.isdir(os.path.join(root, WANTED[0])):
        return root
    os.makedirs(root, exist_ok=True)
    present = [f for f in os.listdir(folder) if ".orig.tar" in f and not f.endswith(".part")]
    tarball = os.path.join(folder, present[0]) if present else orig_tarball(folder)
    with tarfile.open(tarball) as archive:
        for member in archive:
            inside = member.name.partition("/")[2]
            if member.isfile() and inside.startswith(WANTED):
                path = os.path.join(root, inside)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as stream:
                    stream.write(archive.extractfile(member).read())
    return root
