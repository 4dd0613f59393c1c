import { DraftTree } from '../../draft-tree.ts';
import { applyEnvelope, isEnvelope } from '../../envelope.ts';
import { applyUnifiedDiff, parseUnifiedDiff } from '../../unified-diff.ts';
import { textOf } from './schema.ts';
import type { Tool } from './tool.ts';

export const patch: Tool = {
  name: 'patch',
  description:
    'Applies a patch to one or more files, all of it or nothing: a unified diff, or an envelope from ' +
    '"*** Begin Patch" to "*** End Patch" with "*** Add File: path", "*** Delete File: path" and "*** ' +
    'Update File: path" sections.',
  schema: {
    type: 'object',
    required: ['patch'],
    additionalProperties: false,
    properties: { patch: { type: 'string', description: 'The patch.' } },
  },
  kind: 'edit',
  hasEffects: true,
  title: (input) => `Patch ${namesIn(textOf(input, 'patch'))}`.trim(),
  run(input, { root }) {
    const text = textOf(input, 'patch');
    const tree = new DraftTree(root);
    const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n`).toString('latin1');
    const done = isEnvelope(text)
      ? applyEnvelope(tree, bytes)
      : applyUnifiedDiff(tree, parseUnifiedDiff(bytes));
    tree.commit();
    return { text: `Done: ${done.join(', ')}.` };
  },
};

const NAMES = 3;

function namesIn(text: string): string {
  const names = [...text.matchAll(/^(?:\*\*\* (?:Add|Delete|Update) File: |\+\+\+ (?:b\/)?)(.+)$/gm)].map(
    (found) => found[1]!.trim(),
  );
  return names.length > NAMES
    ? `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more`
    : names.join(', ');
}
