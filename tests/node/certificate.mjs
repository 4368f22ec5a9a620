// Certificates for servers that the tests begin.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate for a name that has signed itself, and its key. Its file is there until `after` runs what it is given. */
export function certificate(after, name = "localhost") {
  const folder = mkdtempSync(join(tmpdir(), "libacp-certificate-"));
  after(() => rmSync(folder, { recursive: true }));
  const [file, key] = ["certificate", "key"].map((name) => join(folder, name));
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const named = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", [...made, ...named, "-out", file, "-keyout", key], { stdio: "ignore" });
  return { file, cert: readFileSync(file), key: readFileSync(key) };
}
