import { readFileSync } from 'node:fs';
import { insideOf } from '../draft-tree.ts';
import { walk } from './tools/walk.ts';

const FILE = 'AGENTS.md',
  FILE_BYTES = 32 * 1024,
  VISITED = 20_000,
  NAMED = 30;

const PROMPT = `You are a coding agent. You work on one app, whose root is the working folder of all your tools.

- Do what the user asks, in the app's files, and check it where that can be done (run its tests, its build, \
the program). Look before you change: read what you edit.
- Work until it is done. Do not ask back unless you cannot go on sensibly; there may be nobody to answer at once.
- Call several tools at once where one does not need the other's answer, above all when reading.
- There is no network, and no package can be installed that is not here already.
- What you leave in the folder at the end is captured as the new version of the app: do not commit, do not \
make copies or notes beside the work. Folders named .git, .context, .hoplite and node_modules are not \
captured.
- Files may have changed between two messages of the user: read again what you rely on.
- Background commands end with your turn.
- Say briefly, in the user's language, what you did and what you could not do. Do not print whole files.`;

/**
 * The system prompt with the app's own instructions. `missing`: MCP servers that do not answer, each with its
 * reason.
 */
export function instructionsOf(root: string, missing: string[]): string {
  const own = readOwn(root);
  const nested = [...walk(root, { limit: VISITED })]
    .filter((found) => !found.isFolder && found.depth > 1 && found.path.endsWith(`/${FILE}`))
    .slice(0, NAMED)
    .map((found) => found.path);
  return [
    PROMPT,
    ...(own === undefined ? [] : [`# The app's instructions (${FILE})\n\n${own}`]),
    ...(nested.length === 0
      ? []
      : [
          `Further instructions hold for what is below their folders; read them before you work there: ${nested.join(', ')}`,
        ]),
    ...(missing.length === 0 ? [] : [`Tools that are missing in this turn: ${missing.join('; ')}`]),
  ].join('\n\n');
}

function readOwn(root: string): string | undefined {
  try {
    const bytes = readFileSync(insideOf(root, FILE));
    const text = bytes
      .subarray(0, FILE_BYTES)
      .toString()
      .replace(/\uFFFD$/, '')
      .trim();
    return text === ''
      ? undefined
      : bytes.length > FILE_BYTES
        ? `${text}\n[cut here; the file has ${bytes.length} bytes]`
        : text;
  } catch {
    return undefined;
  }
}
