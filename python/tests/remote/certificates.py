"""Certificates for servers that the tests begin."""

import ssl
import subprocess
from pathlib import Path
from typing import Dict

# How each server is told its certificate and its key.
OPTIONS: Dict[str, str] = {
    "uvicorn": "--ssl-certfile {certificate} --ssl-keyfile {key}",
    "hypercorn": "--certfile {certificate} --keyfile {key}",
    "granian": "--ssl-certificate {certificate} --ssl-keyfile {key}",
}


class Certificate:
    """A certificate for a name that has signed itself."""

    def __init__(self, folder: str, name: str) -> None:
        self.file, self.key = Path(folder, f"{name}.crt"), Path(folder, f"{name}.key")
        made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        named = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
        files = ["-out", str(self.file), "-keyout", str(self.key)]
        subprocess.run(["openssl", *made, *named, *files], check=True, stderr=subprocess.DEVNULL)

    def options(self, server: str) -> str:
        return OPTIONS[server].format(certificate=self.file, key=self.key)

    def trusted(self) -> ssl.SSLContext:
        """What trusts this certificate and no other."""
        return ssl.create_default_context(cafile=str(self.file))
