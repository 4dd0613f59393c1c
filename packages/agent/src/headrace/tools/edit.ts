import { DraftTree } from '../../draft-tree.ts';
import { textOf } from './schema.ts';
import type { Tool } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

export const edit: Tool = {
  name: 'edit',
  description:
    'Replaces one piece of text in a file. old_string has to be in the file exactly once, letter by ' +
    'letter with its spaces and line ends and without the line numbers that read shows: take enough ' +
    'lines around it. With replace_all every place is replaced.',
  schema: {
    type: 'object',
    required: ['path', 'old_string', 'new_string'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', description: 'Path relative to the workspace.' },
      old_string: { type: 'string', description: 'The text to replace.' },
      new_string: { type: 'string', description: 'What stands there afterwards.' },
      replace_all: { type: 'boolean', description: 'Replace every place; false when left out.' },
    },
  },
  kind: 'edit',
  hasEffects: true,
  title: (input) => `Edit ${textOf(input, 'path')}`,
  run(input, { root }) {
    const path = workspacePath(root, textOf(input, 'path'));
    const tree = new DraftTree(root);
    const file = tree.read(path);
    if (!file) throw new Error(`${path}: no such file`);
    const { pieces, added } = split(
      file.content,
      textOf(input, 'old_string'),
      textOf(input, 'new_string'),
      path,
    );
    const places = pieces.length - 1;
    if (places > 1 && input['replace_all'] !== true)
      throw new Error(
        `${path}: old_string was found ${places} times. Take more of the lines around the place that ` +
          'is meant, or set replace_all. Nothing was changed.',
      );
    tree.write(path, { content: pieces.join(added), executable: file.executable });
    tree.commit();
    return { text: `Changed ${path}${places > 1 ? ` in ${places} places` : ''}.` };
  },
};

/**
 * The file around the occurrences of the old text, byte by byte; text with LF also matches a file with CRLF.
 * Throws when there is no occurrence.
 */
function split(
  content: string,
  oldText: string,
  newText: string,
  path: string,
): { pieces: string[]; added: string } {
  if (oldText === '') throw new Error('old_string is empty: to make a file use write.');
  if (oldText === newText) throw new Error('old_string and new_string are the same.');
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');
  const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');
  for (const form of [(text: string) => text, ...(content.includes('\r\n') ? [crlf] : [])]) {
    const pieces = content.split(bytes(form(oldText)));
    if (pieces.length > 1) return { pieces, added: bytes(form(newText)) };
  }
  throw new Error(
    `${path}: old_string was found 0 times${nearMiss(content, bytes(oldText))}. Read the file and try ` +
      'again. Nothing was changed.',
  );
}

function nearMiss(content: string, wanted: string): string {
  const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim();
  return squeezed(content).includes(squeezed(wanted)) ? '; it is there with other spaces or line ends' : '';
}
