/**
 * The protocol of hosts (../host/protocol.ts) as calls, in the form of the runner's. A host is a stranger's program:
 * each answer is held against its schema, and one that does not match counts as no answer.
 */
import type { Static, TSchema } from 'typebox';
import { RunnerError } from '../errors.ts';
import { HostStatus, HostWorkspaceMade } from '../host/protocol.ts';
import type { HostTurnRequest, HostWorkspace } from '../host/protocol.ts';
import { check } from '../http/validate.ts';
import { CaptureResult, JournalEntry, TaskState, WorkspaceState } from '../protocol.ts';
import { openLink } from './link.ts';
import type { Relayed } from './link.ts';
import { at, callsOver, Connection } from './runner-client.ts';
import type { RunnerClient } from './runner-client.ts';

/** Of the runner's calls, a host refuses those that its protocol does not name. */
export interface HostClient extends RunnerClient {
  hostStatus(signal?: AbortSignal): Promise<HostStatus>;
  /** Throws `binding_not_found` 404, `worktree_failed` 409. */
  prepare(id: string, workspace: HostWorkspace, fence?: number): Promise<HostWorkspaceMade>;
  /** Throws `gone` 410 where it had begun and is forgotten, `busy` 409. */
  startTurn(id: string, request: HostTurnRequest, fence?: number): Promise<TaskState>;
}

export function createHostClient(target: Relayed): HostClient {
  const connection = new Connection(openLink(target));
  const calls = callsOver(connection);
  const workspace = (id: string) =>
    connection.call('GET', at('workspaces', id)).then(answering(WorkspaceState));
  return {
    ...calls,
    hostStatus: (signal) => connection.call('GET', '/status', { signal }).then(answering(HostStatus)),
    prepare: (id, body, fence) =>
      connection.call('PUT', at('workspaces', id), { body, fence }).then(answering(HostWorkspaceMade)),
    workspaceExists: async (id) => (await workspace(id)).exists,
    // Nothing of the service's is kept there.
    baseOf: async () => null,
    capture: (id, base) => calls.capture(id, base).then(answering(CaptureResult)),
    startTurn: (id, body, fence) =>
      connection.call('POST', at('tasks', id), { body, fence }).then(answering(TaskState)),
    task: (id) => calls.task(id).then(answering(TaskState)),
    async *journal(id, from, signal) {
      let next = from ?? 0;
      for await (const entry of calls.journal(id, from, signal)) {
        const checked = answering(JournalEntry)(entry);
        if (checked.offset < next) throw wrong('an offset that was told already');
        next = checked.offset + 1;
        yield checked;
      }
    },
  };
}

const answering =
  <S extends TSchema>(schema: S) =>
  (answer: unknown): Static<S> => {
    try {
      return check(schema, answer);
    } catch (error) {
      throw wrong((error as Error).message);
    }
  };

const wrong = (fault: string) =>
  new RunnerError(502, 'wrong_answer', `The host answers what its protocol does not have: ${fault}`);
