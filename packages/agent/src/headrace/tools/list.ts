import { statSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import { numberOf, textOf } from './schema.ts';
import type { Tool } from './tool.ts';
import { walk } from './walk.ts';
import { workspacePath } from './workspace-path.ts';

const SHOWN = 500,
  VISITED = 100_000,
  DEPTH = 2,
  DEEPEST = 30;

export const list: Tool = {
  name: 'list',
  description:
    `Lists files and folders by path (folders end in "/"), at most ${SHOWN}. With pattern, a glob such ` +
    'as "**/*.ts" that is matched with paths below the folder, all depths are looked at. .git and ' +
    'node_modules are not entered.',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      path: {
        type: 'string',
        description: 'Folder relative to the workspace; the workspace itself when left out.',
      },
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: DEEPEST,
        description: `Levels of folders, ${DEPTH} when left out.`,
      },
      pattern: { type: 'string', description: 'Glob that files have to match.' },
    },
  },
  kind: 'search',
  hasEffects: false,
  title: (input) => `List ${[textOf(input, 'path') || '.', textOf(input, 'pattern')].join(' ').trim()}`,
  run(input, { root }) {
    const path = workspacePath(root, textOf(input, 'path') || '.'),
      pattern = textOf(input, 'pattern');
    const folder = resolve(root, path);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${path}: no such folder`);
    const shown: string[] = [];
    for (const found of walk(folder, {
      depth: numberOf(input, 'depth', pattern === '' ? DEPTH : DEEPEST),
      limit: VISITED,
    })) {
      if (
        pattern !== '' &&
        (found.isFolder || !(matchesGlob(found.path, pattern) || matchesGlob(found.path, `**/${pattern}`)))
      )
        continue;
      if (shown.length === SHOWN)
        return { text: `${shown.join('\n')}\n[there is more: name a folder or a pattern]`, isCut: true };
      shown.push(`${path === '.' ? '' : `${path}/`}${found.path}${found.isFolder ? '/' : ''}`);
    }
    return { text: shown.length === 0 ? 'Nothing was found.' : shown.join('\n') };
  },
};
