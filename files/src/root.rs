//! Roots, and the way from a root to a file.
//!
//! A path is followed folder by folder. Each folder is opened relative to the one before, by its name alone and without
//! following a link, so renaming things meanwhile cannot lead anywhere else. A link is read, its target replaces its
//! name in the path, and the path is followed again from the root that now holds it.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use crate::Error;

/// How many links and steps up (`..`) one path may take; as on Linux.
const LINKS: usize = 40;
/// How many folders one write creates at most.
const FOLDERS: usize = 64;

/// A folder below which the agent may access files. It is opened once and stays the same folder.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
    /// The path that was passed in, which may contain links.
    given: PathBuf,
}

impl Root {
    /// Opens a folder by its absolute path, which may contain links.
    ///
    /// # Errors
    /// [`Error::NotAPath`] if the path is not absolute; otherwise whatever the system reports.
    pub fn open(path: &Path) -> Result<Root, Error> {
        if !path.is_absolute() {
            return Err(Error::NotAPath);
        }
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|problem| Error::open(&problem))?;
        let real = path.canonicalize().map_err(|problem| Error::open(&problem))?;
        Ok(Root { dir, path: real, given: path.to_owned() })
    }

    /// A second handle of the same folder, whatever its path leads to by now.
    ///
    /// # Errors
    /// Whatever the system reports.
    pub fn try_clone(&self) -> std::io::Result<Root> {
        Ok(Root { dir: self.dir.try_clone()?, path: self.path.clone(), given: self.given.clone() })
    }

    /// The path of the folder, with all links resolved when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The part of a path that is below this root, and how many of its components are above that.
    fn holds<'p>(&self, path: &'p Path) -> Option<(usize, &'p Path)> {
        let names = [&self.path, &self.given];
        let held =
            names.into_iter().filter_map(|name| Some((name.components().count(), path.strip_prefix(name).ok()?)));
        held.max_by_key(|(parts, _)| *parts)
    }
}

/// Where following a path ended: an open folder, and what is to be found or created in it.
#[derive(Debug)]
pub(crate) struct Place<'r> {
    pub(crate) root: &'r Root,
    /// The path from the root.
    pub(crate) path: PathBuf,
    /// The last folder that exists.
    pub(crate) dir: Dir,
    /// The folders to create in it.
    pub(crate) folders: Vec<OsString>,
    /// The name of the file.
    pub(crate) name: OsString,
    /// The metadata of the file, if it exists.
    pub(crate) there: Option<Metadata>,
}

enum Way<'r> {
    Ends(Box<Place<'r>>),
    /// The path contains a link or goes up: another path, which leads to the same place.
    Turns(PathBuf),
}

/// Whether a path can only lead to a folder. Its components do not show that.
fn names_a_folder(path: &str) -> bool {
    path.strip_suffix('.').unwrap_or(path).ends_with(std::path::is_separator)
}

/// Follows a path to a file. When writing, neither the file nor the folders around it need to exist.
pub(crate) fn find<'r>(roots: &'r [Root], path: &str, writing: bool) -> Result<Place<'r>, Error> {
    let ends_in_folder = names_a_folder(path);
    let mut path = PathBuf::from(path);
    if !path.is_absolute() {
        return Err(Error::Outside);
    }
    if ends_in_folder {
        return Err(Error::NotAFile);
    }
    for _ in 0..=LINKS {
        let held = roots.iter().filter_map(|root| Some((root, root.holds(&path)?)));
        let (root, (_, below)) = held.max_by_key(|(_, (parts, _))| *parts).ok_or(Error::Outside)?;
        match go(root, below, writing)? {
            Way::Ends(place) => return Ok(*place),
            Way::Turns(to) => path = to,
        }
    }
    Err(Error::TooManyLinks { most: LINKS })
}

fn go<'r>(root: &'r Root, below: &Path, writing: bool) -> Result<Way<'r>, Error> {
    let mut dir = root.dir.try_clone().map_err(|problem| Error::open(&problem))?;
    let mut gone = PathBuf::new();
    let mut steps = below.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else {
            if step == Component::CurDir {
                continue;
            }
            let mut up = root.path.join(&gone);
            up.pop();
            while steps.next_if_eq(&Component::ParentDir).is_some() {
                up.pop();
            }
            return Ok(Way::Turns(up.join(steps.as_path_rest())));
        };
        let last = steps.peek().is_none();
        // Examined before it is opened: opening a pipe or a device has effects.
        let found =
            if last { dir.symlink_metadata(name).map(Some) } else { open_folder(&mut dir, name).map(|()| None) };
        match found {
            Ok(Some(there)) if there.is_symlink() => return turn(root, &dir, &gone, name.as_ref(), Path::new("")),
            Ok(there) if last => {
                let path = gone.join(name);
                return Ok(Way::Ends(Box::new(Place {
                    root,
                    path,
                    dir,
                    folders: Vec::new(),
                    name: name.to_owned(),
                    there,
                })));
            }
            Ok(_) => gone.push(name),
            Err(problem) => {
                let rest = steps.as_path_rest();
                if !last {
                    if let Ok(way) = turn(root, &dir, &gone, name.as_ref(), &rest) {
                        return Ok(way);
                    }
                }
                if problem.kind() != ErrorKind::NotFound || !writing {
                    return Err(Error::open(&problem));
                }
                let place = missing(root, dir, &gone, &Path::new(name).join(rest))?;
                return Ok(Way::Ends(Box::new(place)));
            }
        }
    }
    Err(Error::NotAFile)
}

/// The components that an iterator has not returned yet.
trait Rest {
    fn as_path_rest(&self) -> PathBuf;
}

impl<'p, I: Iterator<Item = Component<'p>> + Clone> Rest for I {
    fn as_path_rest(&self) -> PathBuf {
        self.clone().collect()
    }
}

fn open_folder(dir: &mut Dir, name: &std::ffi::OsStr) -> io::Result<()> {
    *dir = dir.open_dir_nofollow(name)?;
    Ok(())
}

/// Replaces a link in a path by its target.
fn turn<'r>(root: &Root, dir: &Dir, gone: &Path, name: &Path, rest: &Path) -> Result<Way<'r>, Error> {
    let target = dir.read_link_contents(name).map_err(|problem| Error::open(&problem))?;
    // `join` replaces everything before an absolute target.
    Ok(Way::Turns(root.path.join(gone).join(target).join(rest)))
}

/// A place that does not exist yet.
fn missing<'r>(root: &'r Root, dir: Dir, gone: &Path, rest: &Path) -> Result<Place<'r>, Error> {
    let mut folders = Vec::new();
    for step in rest.components() {
        // `..` after a missing folder cannot be resolved: by text alone it could mean something else once a link is
        // there.
        let Component::Normal(name) = step else { return Err(Error::NotFound) };
        folders.push(name.to_owned());
    }
    let name = folders.pop().ok_or(Error::NotAFile)?;
    if folders.len() > FOLDERS {
        return Err(Error::TooDeep { most: FOLDERS });
    }
    let path = gone.components().chain(rest.components()).collect();
    Ok(Place { root, path, dir, folders, name, there: None })
}

impl Place<'_> {
    /// The folder of the file, after creating the missing folders.
    pub(crate) fn made(&self) -> Result<Dir, Error> {
        let mut dir = self.dir.try_clone().map_err(|problem| Error::open(&problem))?;
        for name in &self.folders {
            match dir.create_dir(name) {
                Err(problem) if problem.kind() != ErrorKind::AlreadyExists => return Err(Error::open(&problem)),
                _ => open_folder(&mut dir, name).map_err(|problem| Error::open(&problem))?,
            }
        }
        Ok(dir)
    }
}
