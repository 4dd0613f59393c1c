import { DraftTree } from '../../draft-tree.ts';
import { textOf } from './schema.ts';
import type { Tool } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

export const write: Tool = {
  name: 'write',
  description:
    'Writes a whole file, new or in place of the one there; folders above it are made. To change a ' +
    'part of a file use edit or patch.',
  schema: {
    type: 'object',
    required: ['path', 'content'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', description: 'Path relative to the workspace.' },
      content: { type: 'string', description: 'All of the file.' },
    },
  },
  kind: 'edit',
  hasEffects: true,
  title: (input) => `Write ${textOf(input, 'path')}`,
  run(input, { root }) {
    const path = workspacePath(root, textOf(input, 'path'));
    const tree = new DraftTree(root);
    const known = tree.read(path);
    const content = Buffer.from(textOf(input, 'content'));
    tree.write(path, { content: content.toString('latin1'), executable: known?.executable ?? false });
    tree.commit();
    return { text: `${known ? 'Replaced' : 'Added'} ${path} (${content.length} bytes).` };
  },
};
