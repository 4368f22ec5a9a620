// How both JavaScript servers of the remote script end.

/** Ends the process when standard input has ended. */
export function untilTheEnd() {
  process.stdin.on("end", () => process.exit()).resume();
}
