import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../errors.ts';
import type { TaskState } from '../protocol.ts';
import { Journal } from '../tasks/journal.ts';
import { endAll } from './agent-process.ts';
import type { HostAgent } from './agents.ts';
import { JournalFile } from './journal-file.ts';
import type { HostTurnRequest } from './protocol.ts';
import { HostTurn, lost, PROGRAM_ENDED } from './turn.ts';
import type { HostWorkspaces } from './workspaces.ts';

/** It becomes a variable of the agent. */
const MODEL = /^\P{Cc}{1,128}$/u;

/** A task that this program has started, or found from an earlier one. */
interface Known {
  workspaceId: string;
  journal: Journal;
  file: JournalFile;
  /** Undefined for one of an earlier program. */
  turn: HostTurn | undefined;
}

/**
 * All tasks of this host by id, also those of earlier programs. An id never starts twice: its journal's file, or its line
 * in `forgotten`, is on disk before the agent starts.
 */
export class HostTasks {
  readonly #state: string;
  readonly #workspaces: HostWorkspaces;
  readonly #agents: readonly HostAgent[];
  readonly #known = new Map<string, Known>();
  readonly #forgotten: Set<string>;
  /** Folders in which a task lives. */
  readonly #busy = new Map<string, string>();
  #isClosing = false;

  constructor(state: string, workspaces: HostWorkspaces, agents: readonly HostAgent[]) {
    this.#state = state;
    this.#workspaces = workspaces;
    this.#agents = agents;
    this.#forgotten = new Set(
      existsSync(this.#list) ? readFileSync(this.#list, 'utf8').split('\n').filter(Boolean) : [],
    );
  }

  /** Ends what tasks of a killed program have left running, and says so in their journals. */
  async recover(): Promise<void> {
    for (const name of readdirSync(join(this.#state, 'tasks'))) {
      const id = /^(\w{1,128})\.ndjson$/.exec(name)?.[1];
      if (id === undefined) continue;
      const opened = JournalFile.open(join(this.#state, 'tasks', name));
      if (!opened) {
        // Killed before its head was whole: nothing was started, and nobody was told that it was.
        rmSync(join(this.#state, 'tasks', name));
        continue;
      }
      const { file, head, entries } = opened;
      const journal = new Journal(file, { entries, next: head.next });
      if (!journal.end) {
        await endAll(this.#mark(id));
        journal.append({ type: 'end', timedOut: false, oom: false, durationMs: 0, ...lost(PROGRAM_ENDED) });
      }
      this.#known.set(id, { workspaceId: head.task.workspaceId, journal, file, turn: undefined });
    }
  }

  states(): TaskState[] {
    return [...this.#known.keys()].map((id) => this.state(id));
  }

  /** Throws `not_found` 404. */
  state(id: string): TaskState {
    const { workspaceId, journal, turn } = this.#get(id);
    return {
      id,
      kind: 'turn',
      workspaceId,
      status: turn?.status ?? 'ended',
      lastOffset: journal.lastOffset,
    };
  }

  /** Undefined for a task that is not there. */
  workspaceOf(id: string): string | undefined {
    return this.#known.get(id)?.workspaceId;
  }

  /** Throws `not_found` 404. */
  journal(id: string): Journal {
    return this.#get(id).journal;
  }

  /** The task while it lives. Throws `not_found` 404, `invalid_state` 409. */
  living(id: string): HostTurn {
    const { turn } = this.#get(id);
    if (turn?.status !== 'running') throw new RunnerError(409, 'invalid_state', 'The task has ended.');
    return turn;
  }

  /**
   * Starts the task, or finds it (false). Throws `gone` 410, `not_found` 404, `binding_not_found` 404, `not_configured`
   * 409, `busy` 409.
   */
  start(id: string, request: HostTurnRequest): boolean {
    if (this.#known.has(id)) return false;
    if (this.#forgotten.has(id)) throw new RunnerError(410, 'gone', 'This task was deleted.');
    if (request.model !== null && !MODEL.test(request.model))
      throw new RunnerError(400, 'invalid_request', 'model is no name of a model.');
    if (this.#isClosing) throw new RunnerError(503, 'unavailable', 'The program of the host is ending.');
    const workspace = this.#workspaces.get(request.workspaceId);
    if (workspace.mode !== request.mode || workspace.binding !== request.binding)
      throw new RunnerError(409, 'conflict', 'The workspace has another folder or mode.');
    const agent = this.#agents.find(({ name }) => name === request.provider);
    if (!agent) throw new RunnerError(409, 'not_configured', 'This host has no such agent.');
    if (workspace.usedBy !== null || this.#busy.has(workspace.folder))
      throw new RunnerError(409, 'busy', 'Something else is working in the folder.');
    const file = JournalFile.create(this.#path(id), { id, workspaceId: workspace.id });
    const journal = new Journal(file);
    const memory = (workspace.memories[agent.name] ??= { sessionId: null, wasInterrupted: false });
    const turn = new HostTurn(id, request, {
      agent,
      folder: workspace.folder,
      memory,
      mark: this.#mark(id),
      journal,
      remember: () => this.#workspaces.remember(workspace),
    });
    file.onFault = (error) => turn.fail(new Error(`The journal cannot be written: ${error.message}`));
    this.#known.set(id, { workspaceId: workspace.id, journal, file, turn });
    workspace.usedBy = id;
    this.#busy.set(workspace.folder, id);
    // Where its end is not confirmed, nothing else may work in its folder.
    turn.onGone = () => {
      workspace.usedBy = null;
      this.#busy.delete(workspace.folder);
    };
    return true;
  }

  /** Ends it where it lives. Throws `not_found` 404, `not_confirmed` 500. */
  async cancel(id: string): Promise<void> {
    await this.#get(id).turn?.cancel();
  }

  /** Ends the tasks of a workspace. */
  async cancelAll(workspaceId: string): Promise<void> {
    await Promise.all(
      this.#turns.flatMap((turn) => (turn.request.workspaceId === workspaceId ? turn.cancel() : [])),
    );
  }

  /** Ends and forgets it; its id never starts. Idempotent. */
  async remove(id: string): Promise<void> {
    const known = this.#known.get(id);
    await known?.turn?.cancel();
    if (!this.#forgotten.has(id)) this.#note(id);
    if (this.#known.get(id) !== known || !known) return;
    known.file.close();
    rmSync(this.#path(id), { force: true });
    this.#known.delete(id);
  }

  /** Ends all that live, for the end of this program. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#turns.map((turn) => turn.abandon()));
  }

  get #turns(): HostTurn[] {
    return [...this.#known.values()].flatMap(({ turn }) => turn ?? []);
  }

  #get(id: string): Known {
    const known = this.#known.get(id);
    if (!known) throw new RunnerError(404, 'not_found', 'There is no such task.');
    return known;
  }

  #note(id: string): void {
    const fd = openSync(this.#list, 'a', 0o600);
    try {
      appendFileSync(fd, `${id}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    this.#forgotten.add(id);
  }

  get #list(): string {
    return join(this.#state, 'forgotten');
  }
  #path(id: string): string {
    return join(this.#state, 'tasks', `${id}.ndjson`);
  }
  #mark(id: string): string {
    return `${this.#state}:${id}`;
  }
}
