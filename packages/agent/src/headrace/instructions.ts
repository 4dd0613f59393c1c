import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { insideOf } from '../draft-tree.ts';
import { skillLines } from '../skill-lines.ts';
import { walk } from './tools/walk.ts';

const FILE = 'AGENTS.md',
  FILE_BYTES = 32 * 1024,
  VISITED = 20_000,
  NAMED = 30;

/** What the service tells the agent, besides the app's own instructions. */
export interface Told {
  instructions: string | null;
  skills: { name: string; description: string }[];
}

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
 * The system prompt with what the agent is told and the app's own instructions. `folder`: of the skills.
 * `missing`: MCP servers that do not answer, each with its reason.
 */
export function instructionsOf(
  root: string,
  { told, folder, missing }: { told: Told; folder: string; missing: string[] },
): string {
  const own = readOwn(root);
  const nested = [...walk(root, { limit: VISITED })]
    .filter((found) => !found.isFolder && found.depth > 1 && found.path.endsWith(`/${FILE}`))
    .slice(0, NAMED)
    .map((found) => found.path);
  return [
    PROMPT,
    ...(told.instructions === null ? [] : [`# Instructions\n\n${told.instructions}`]),
    ...(own === undefined ? [] : [`# The app's instructions (${FILE})\n\n${own}`]),
    ...(nested.length === 0
      ? []
      : [
          `Further instructions hold for what is below their folders; read them before you work there: ${nested.join(', ')}`,
        ]),
    ...(told.skills.length === 0 ? [] : [skillsText(told.skills, folder)]),
    ...(missing.length === 0 ? [] : [`Tools that are missing in this turn: ${missing.join('; ')}`]),
  ].join('\n\n');
}

function skillsText(skills: Told['skills'], folder: string): string {
  return `# Skills\n\nBefore you do what a skill is for, read ${folder}/skills/<name>/SKILL.md; the files that it names are beside it, and can be read and run but not changed.\n\n${skillLines(skills).join('\n')}`;
}

/** The app's own instructions, of which no more is read than is told; undefined where there is no such file. */
function readOwn(root: string): string | undefined {
  try {
    const path = insideOf(root, FILE);
    const stat = statSync(path);
    // A pipe of that name would be waited for. Nothing else runs here that could put one in its place.
    if (!stat.isFile()) return undefined;
    const { size } = stat;
    const file = openSync(path, 'r');
    const bytes = Buffer.alloc(Math.min(size, FILE_BYTES));
    try {
      readSync(file, bytes);
    } finally {
      closeSync(file);
    }
    const text = bytes
      .toString()
      .replace(/\uFFFD$/, '')
      .trim();
    if (text === '') return undefined;
    return size > FILE_BYTES ? `${text}\n[cut here; the file has ${size} bytes]` : text;
  } catch {
    return undefined;
  }
}

/** What the client said in the prompt's `_meta`; nothing where it said nothing of that form. */
export function toldOf(meta: unknown): Told {
  const { instructions, skills } = ((meta as Record<string, unknown> | null | undefined)?.[
    'headrace/context'
  ] ?? {}) as Record<string, unknown>;
  return {
    instructions: typeof instructions === 'string' ? instructions : null,
    skills: Array.isArray(skills) ? (skills as (Told['skills'][number] | null)[]).filter(isSkill) : [],
  };
}

const isSkill = (skill: Told['skills'][number] | null): skill is Told['skills'][number] =>
  typeof skill?.name === 'string' && typeof skill.description === 'string';
