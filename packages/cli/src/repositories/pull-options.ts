/** Options of every command for pull requests, of threads and of hosted repositories. */
import type { Options } from '../core/options.ts';

export const BODY_OPTIONS = {
  body: { type: 'string', value: 'TEXT', help: 'the text' },
  'body-file': {
    type: 'string',
    value: 'FILE',
    help: 'the text from a file, or from - for stdin',
    completes: 'file',
  },
} as const satisfies Options;

export const UPDATE_OPTIONS = {
  title: { type: 'string', value: 'TITLE', help: 'the new title' },
  ...BODY_OPTIONS,
  base: { type: 'string', value: 'BRANCH', help: 'the branch to merge into' },
  draft: { type: 'boolean', help: 'make it a draft' },
  ready: { type: 'boolean', help: 'mark a draft as ready for review' },
  close: { type: 'boolean', help: 'close it without a merge' },
  reopen: { type: 'boolean', help: 'open a closed one again' },
} as const satisfies Options;

export const MERGE_OPTIONS = {
  method: {
    type: 'string',
    value: 'METHOD',
    choices: ['merge', 'squash', 'rebase'],
    help: 'how; the first one that the repository allows',
  },
  title: { type: 'string', value: 'TITLE', help: 'the first line of the commit' },
  message: { type: 'string', value: 'TEXT', help: 'the rest of its message' },
} as const satisfies Options;
