#!/usr/bin/env node
/** `headrace`: the command line. */
import * as modules from 'node:module';
import { processIo } from './core/io.ts';

// Node 20 has no compile cache, and a name that a module does not export cannot be imported.
(modules as Partial<typeof modules>).enableCompileCache?.();
// `headrace log | head` closes the pipe: nobody reads on, and that is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { headrace } = await import('./headrace.ts');
const exit = await headrace(process.argv.slice(2), processIo());
// Connections that are kept alive would hold the process.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exit)));
