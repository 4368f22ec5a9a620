//! The hosts on SDKs whose languages not every machine has: [`Step::not_here`] says which of them can be set up.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{ensure, Context, Result};

use super::steps::fresh;
use super::{run, Step};

/// What Maven builds with.
const JVM: &[&str] = &["java", "javac", "mvn", "sha256sum"];

/// The hosts on the Go SDK.
pub(crate) static GO: Step = Step {
    name: "Go SDK",
    tools: &["go"],
    needs: &[],
    inputs: &["tests/interop/go"],
    outputs: &["target/interop-go/peer"],
    work: || {
        let program = std::path::absolute("target/interop-go/peer")?;
        let mut go = Command::new("go");
        // go.sum decides what is taken; the commit is of no interest, and git may refuse to name it.
        go.current_dir("tests/interop/go").args(["build", "-mod=readonly", "-buildvcs=false", "-o"]);
        run(go.arg(program).arg("."))
    },
    done: Mutex::new(None),
};

/// The hosts on the Java SDK.
pub(crate) static JAVA: Step = Step {
    name: "Java SDK",
    tools: JVM,
    needs: &[],
    inputs: &["tests/interop/java"],
    outputs: &["target/interop-java/classes/Peer.class"],
    work: || maven("tests/interop/java", "target/interop-java"),
    done: Mutex::new(None),
};

/// The hosts on the Kotlin SDK.
pub(crate) static KOTLIN: Step = Step {
    name: "Kotlin SDK",
    tools: JVM,
    needs: &[],
    inputs: &["tests/interop/kotlin"],
    outputs: &["target/interop-kotlin/classes/PeerKt.class"],
    work: || maven("tests/interop/kotlin", "target/interop-kotlin"),
    done: Mutex::new(None),
};

/// Maven's folder of downloads is not made for two at a time.
static MAVEN: Mutex<()> = Mutex::new(());

fn maven(project: &str, out: &str) -> Result<()> {
    let one = MAVEN.lock().unwrap_or_else(PoisonError::into_inner);
    fresh(out)?;
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", "--strict-checksums", "compile", "--file"]);
    run(maven.arg(Path::new(project).join("pom.xml")))?;
    drop(one);
    check_jars(&Path::new(out).join("lib"), &Path::new(project).join("lib.sha256"))
}

/// Holds the libraries that the hosts run with against their list, as Maven has no file that locks them.
fn check_jars(lib: &Path, list: &Path) -> Result<()> {
    let entries = fs::read_dir(lib).with_context(|| lib.display().to_string())?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>>>()?;
    names.sort();
    let output = Command::new("sha256sum").current_dir(lib).args(&names).output().context("sha256sum")?;
    ensure!(output.status.success(), "sha256sum: {}", String::from_utf8_lossy(&output.stderr));
    let found = String::from_utf8_lossy(&output.stdout);
    let known = fs::read_to_string(list).with_context(|| list.display().to_string())?;
    ensure!(found == known, "{}: expected the libraries of {}, found:\n{found}", lib.display(), list.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_libraries_will_do() {
        let folder = std::env::temp_dir().join(format!("libacp-jars-{}", std::process::id()));
        let (lib, list) = (folder.join("lib"), folder.join("lib.sha256"));
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("a.jar"), "a").unwrap();
        fs::write(&list, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.jar\n").unwrap();
        check_jars(&lib, &list).unwrap();
        fs::write(lib.join("b.jar"), "b").unwrap();
        let error = check_jars(&lib, &list).unwrap_err().to_string();
        assert!(error.contains("expected the libraries of") && error.contains("b.jar"), "{error}");
        fs::remove_file(lib.join("b.jar")).unwrap();
        fs::write(lib.join("a.jar"), "other").unwrap();
        assert!(check_jars(&lib, &list).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
