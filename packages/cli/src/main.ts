#!/usr/bin/env node
/** `headrace`: the command line. */
import * as modules from 'node:module';
import { processIo } from './core/io.ts';

// Node 20 has no compile cache, and a name that a module does not export cannot be imported.
(modules as Partial<typeof modules>).enableCompileCache?.();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `headrace log | head` closes the pipe: nobody reads on, and that is no error.
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`headrace: The output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// Talk that nobody reads ends no work.
process.stderr.on('error', () => {});

const { headrace } = await import('./headrace.ts');
const exit = await headrace(process.argv.slice(2), processIo());
// Connections that are kept alive would hold the process.
process.stdout.write('', (error) => {
  // The listener above ends the process.
  if (!error) process.stderr.write('', () => process.exit(exit));
});
