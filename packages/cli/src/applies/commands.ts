import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS, THREAD_DEFAULT } from '../core/options.ts';

export const applyCommands: readonly Command[] = [
  command({
    name: 'apply',
    group: 'Applies',
    summary: 'Apply a draft to the head, deciding conflicts on the way',
    details: `Shows what changes, asks, and waits for the end. On a terminal each conflict is
shown with its three sides and decided by a key: the head's file, the draft's,
both, or your own text in an editor. Without a terminal, conflicts end the
command with the exit code 6 and the line that decides them. --json prints the
apply; if nothing is sent, the preview.

--resolve takes a side's whole file at PATH, or all below FOLDER/, or the
contents of a local FILE. The path ends at the last \`=\`. A decision is for the
head that it was made for: if the head moves, you are asked again.`,
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    argCompletes: { THREAD: 'thread' },
    options: {
      preview: { type: 'boolean', help: 'only show what would change; exit code 6 with conflicts' },
      agent: { type: 'boolean', help: 'let an agent repair conflicts' },
      manual: {
        type: 'boolean',
        help: 'send it with open conflicts, and end as conflicted',
      },
      resolve: {
        type: 'string',
        value: 'PATH=SIDE',
        help: 'decide a conflict: head, draft, or a local file',
        multiple: true,
      },
      'no-wait': { type: 'boolean', help: 'print the id of the apply and do not wait' },
      timeout: { type: 'duration', help: 'how long to wait (20m)' },
    },
    examples: [
      'headrace apply',
      'headrace apply @last --preview',
      'headrace apply thr_01jd8q2m7v4x9k3c5b6n8p0w2z --resolve src/=head --yes',
    ],
    scope: 'app',
    writes: true,
    run: async (cli, { args: [thread], options }) =>
      (await import('./apply.ts')).applyThread(cli, thread, options),
  }),
  command({
    name: 'applies list',
    group: 'Applies',
    summary: 'List applies, newest first',
    options: {
      ...LIST_OPTIONS,
      thread: {
        type: 'string',
        short: 't',
        value: 'THREAD',
        help: 'only those of this thread',
        completes: 'thread',
      },
    },
    examples: ['headrace applies list', 'headrace applies list --thread @last'],
    scope: 'app',
    answer: 'applies.listApplies',
    run: async (cli, { options }) => (await import('./list.ts')).listApplies(cli, options),
  }),
  command({
    name: 'applies show',
    group: 'Applies',
    summary: 'Show an apply: its result, conflicts, and repairs',
    details: 'With --wait, the exit code is that of the apply: 0 applied, 1 failed, 6 conflicted.',
    args: ['APPLY'],
    argHelp: { APPLY: 'an id, the first 8 characters of one, or @last' },
    options: {
      wait: { type: 'boolean', help: 'wait until it has ended' },
      timeout: { type: 'duration', help: 'how long to wait (20m)' },
    },
    examples: ['headrace applies show @last', 'headrace applies show apl_01jd8q2m7v4x9k3c5b6n8p0w2z --wait'],
    scope: 'app',
    answer: 'applies.getApply',
    run: async (cli, { args: [id], options }) => (await import('./list.ts')).showApply(cli, id, options),
  }),
];
