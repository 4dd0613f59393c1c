import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';

const fault = () => new RunnerError(503, 'unavailable', 'The work is at no runner yet.');

/** The client of work in a fleet that is at no runner yet: every call fails. */
export const noRunner: RunnerClient = new Proxy({} as RunnerClient, {
  get(_, name: keyof RunnerClient) {
    if (name === 'close') return () => {};
    if (name === 'journal')
      // oxlint-disable-next-line require-yield
      return async function* () {
        throw fault();
      };
    return () => Promise.reject(fault());
  },
});
