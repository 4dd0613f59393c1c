/** What the worker imports as `@headrace/runner/client`. */
export { createRunnerClient, type RunnerClient } from './client.ts';
export { ensureRunner, type EnsureOptions } from './ensure.ts';
export { RunnerError } from './errors.ts';
