/** What the worker imports as `@headrace/runner/client`. */
export { createRunnerClient, type RunnerClient } from './runner-client.ts';
export { createHostClient, type HostClient } from './host-client.ts';
export type { RunnerTarget } from './link.ts';
export { ensureRunner } from './ensure-runner.ts';
export { startMachine, type MachineRunner } from './start-machine.ts';
export type { MachineOptions } from '../machine/options.ts';
export { missingRoom } from '../machine/judge-room.ts';
export { choosePlace } from '../sandbox/place.ts';
export { RunnerError } from '../errors.ts';
