// Ends the commands of this process when this process has ended, however that was: a shell waits for the end of a pipe
// that only this process holds, so that no handler of signals is needed, and none is in anybody's way.
import { spawn } from "node:child_process";

// Whose first process has ended is listed with a minus: another process may have its number by now, and then the group
// is gone.
const SCRIPT = `
trap "" HUP INT QUIT TERM
all=
while read -r what number; do
  rest=
  for each in $all; do [ "\${each#?}" = "$number" ] || rest="$rest $each"; done
  all=$rest
  case $what in
    runs) all="$all +$number" ;;
    left) all="$all -$number" ;;
  esac
done
for each in $all; do
  number=\${each#?}
  case $each in -*) kill -0 "$number" 2>/dev/null && continue ;; esac
  kill -9 "-$number" 2>/dev/null
done
`;

/** The groups that are to end with this process, and how they are: `runs`, or `left` by their first process. */
const groups = new Map();
let shell;
let isListening = false;

/** Says how a group is by now; `gone` when there is nothing to end any more. */
export function watch(number, state) {
  if (state === "gone") groups.delete(number);
  else groups.set(number, state);
  if (shell) tell(number, state);
  else if (state !== "gone") prepare();
}

/** Is there before a command is, so that what it is told of one is a matter of microseconds. */
export function prepare() {
  if (shell) return;
  if (!isListening) process.on("exit", endAll);
  isListening = true;
  if (process.platform === "win32") return;
  const child = spawn("/bin/sh", ["-c", SCRIPT], { cwd: "/", env: {}, detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shell = child;
  const over = () => {
    if (shell === child) shell = undefined;
  };
  child.on("error", over);
  child.on("exit", over);
  child.stdin.on("error", over);
  // It waits for this process, and not the other way round.
  child.unref();
  child.stdin.unref();
  for (const [number, state] of groups) tell(number, state);
}

function tell(number, state) {
  shell.stdin.write(`${state} ${number}\n`);
}

function endAll() {
  for (const [number, state] of groups) end(number, state);
}

/** Whether there is a process, or a group, with this number. */
export function exists(number) {
  try {
    process.kill(number, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Ends a group, unless its number may be another's. What stands against it is for whoever asks. */
function end(number, state) {
  if (state === "left" && exists(number)) return;
  try {
    process.kill(process.platform === "win32" ? number : -number, "SIGKILL");
  } catch {
    // It has ended, or may not be ended.
  }
}
