import type { SearchRequest } from './search-files.ts';
import { textOf } from './schema.ts';
import type { Tool, ToolResult } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

/** A pattern may run forever on some text: then its thread is ended. */
const SEARCH_MS = 20_000;
/** The program's argument in such a thread. */
export const SEARCH_THREAD = 'search-thread';

export const search: Tool = {
  name: 'search',
  description:
    'Searches the lines of text files with a JavaScript regular expression; answers "path:line: text". ' +
    '.git and node_modules are not entered, binary and very large files are passed over.',
  schema: {
    type: 'object',
    required: ['pattern'],
    additionalProperties: false,
    properties: {
      pattern: { type: 'string', description: 'Regular expression, matched with each line.' },
      path: {
        type: 'string',
        description: 'File or folder relative to the workspace; the workspace itself when left out.',
      },
      glob: { type: 'string', description: 'Only files whose path matches, e.g. "**/*.ts".' },
      ignore_case: { type: 'boolean', description: 'Whether letters match regardless of case.' },
    },
  },
  kind: 'search',
  hasEffects: false,
  title: (input) => `Search ${textOf(input, 'pattern')}`,
  run(input, { root, program }) {
    const request: SearchRequest = {
      root,
      path: workspacePath(root, textOf(input, 'path') || '.'),
      pattern: textOf(input, 'pattern'),
      glob: textOf(input, 'glob'),
      ignoreCase: input['ignore_case'] === true,
    };
    // Reports an invalid expression here, where its message is not wrapped.
    void new RegExp(request.pattern);
    return inThread(program, request);
  },
};

async function inThread(program: string, request: SearchRequest): Promise<ToolResult> {
  const { Worker } = await import('node:worker_threads');
  const worker = new Worker(program, { workerData: request, argv: [SEARCH_THREAD] });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ToolResult>((resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new Error(
              `The search took longer than ${SEARCH_MS / 1000} s and was ended. Use a simpler pattern or name a folder.`,
            ),
          ),
        SEARCH_MS,
      );
      worker
        .once('message', resolve)
        .once('error', reject)
        .once('exit', () => reject(new Error('The search ended without an answer.')));
    });
  } finally {
    clearTimeout(timer);
    void worker.terminate();
  }
}
