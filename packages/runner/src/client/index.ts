/** What the worker imports as `@headrace/runner/client`. */
export { createRunnerClient, type RunnerClient } from './runner-client.ts';
export { ensureRunner } from './ensure-runner.ts';
export { RunnerError } from '../errors.ts';
