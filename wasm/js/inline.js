// The module for browsers as text, for programs that are one file: `await init(bytes())`.
import module from "./libacp_core_inline.js";

export const bytes = () => Uint8Array.from(atob(module), (character) => character.charCodeAt(0));
