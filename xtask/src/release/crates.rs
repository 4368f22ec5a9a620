//! The crates, packed as crates.io gets them.

use anyhow::{ensure, Result};

use super::{versions, Order};
use crate::setup::{cargo, run as call};

pub(super) fn run(order: &Order) -> Result<()> {
    let names = versions::published()?;
    ensure!(!names.is_empty(), "no crate of the workspace is to be published");
    let mut publish = cargo();
    publish.args(["publish", "--locked"]);
    for name in &names {
        publish.args(["--package", name]);
    }
    if !order.publish {
        // What is tried here is often not committed yet; the suite `package` builds a program with the packed crate.
        publish.args(["--dry-run", "--no-verify", "--allow-dirty"]);
    }
    call(&mut publish)?;
    println!("{}: {}", if order.publish { "published" } else { "packed" }, names.join(", "));
    Ok(())
}
