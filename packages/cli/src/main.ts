/** `headrace`: the command line. */
import { enableCompileCache } from 'node:module';
import { processIo } from './core/io.ts';

// Node 20 has none.
(enableCompileCache as (() => void) | undefined)?.();
// `headrace log | head` closes the pipe: nobody reads on, and that is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { headrace } = await import('./headrace.ts');
const exit = await headrace(process.argv.slice(2), processIo());
// Connections that are kept alive would hold the process.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exit)));
