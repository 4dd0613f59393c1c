/** What the command `headrace host` is made of. */
export { agentOf } from './agents.ts';
export { folderOf, requireReadable } from './bindings.ts';
export { runHost } from './program.ts';
