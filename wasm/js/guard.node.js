// Which files an agent may read and write, beyond being inside of a root. The Rust half has the same list.
import { relative, sep } from "node:path";

/** Folders of version control: what is written there runs with the next command, as hooks and settings name programs. */
const REPOSITORIES = [".git", ".hg", ".jj", ".svn"];

/**
 * Files, and folders with all that is in them, that editors, their extensions and the shell in them run without asking
 * again. `*` stands for any beginning. The list cannot be complete: build files and tests run as soon as somebody builds.
 */
const RUNS_UNASKED = [
  "*.code-workspace", ".cargo", ".claude", ".codex", ".cursor", ".devcontainer", ".devcontainer.json", ".dir-locals-2.el",
  ".dir-locals.el", ".envrc", ".exrc", ".fleet", ".gemini", ".husky", ".idea", ".lvimrc", ".mcp.json", ".mise.toml",
  ".nvim.lua", ".nvimrc", ".vimrc", ".vscode", ".zed", "_vimrc", "mise.toml",
];

const GUARDED = [...REPOSITORIES, ...RUNS_UNASKED];
const INVISIBLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** A name as the file systems see it that see the least: without case, streams, what is invisible, and short forms. */
const plain = (name) =>
  name.replace(INVISIBLE, "").toLowerCase().split(":")[0].replace(/[. ]+$/, "").replace(/^git~\d*$/, ".git");

const isGuarded = (name) =>
  GUARDED.some((each) => (each.startsWith("*") ? plain(name).endsWith(each.slice(1)) : plain(name) === each));

/** What holds without a `may` of the host's: all may be read, and all written but what is run unasked. */
export function guarded(path, writing, { root }) {
  return !writing || !relative(root, path).split(sep).some(isGuarded);
}
