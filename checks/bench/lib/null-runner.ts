/**
 * A runner on a node without sandboxes: it registers, keeps its lease and answers workers over real mTLS with the code
 * of a real one, but its workspaces are names, and its turns are played from a script. A turn lasts as long as its
 * message says (`hold <ms>`), and leaves one file with its own id.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchRemote, JOURNAL_TYPE } from '../../../packages/runner/src/http/remote.ts';
import { Lease } from '../../../packages/runner/src/machine/lease.ts';
import { Registrar } from '../../../packages/runner/src/machine/registrar.ts';
import { WorkerLinks } from '../../../packages/runner/src/machine/worker-links.ts';
import type {
  CaptureResult,
  JournalEntry,
  TaskRequest,
  TaskState,
} from '../../../packages/runner/src/protocol.ts';
import { PROTOCOL_RANGE } from '../../../packages/runner/src/registration.ts';
import type { Forget } from '../../../packages/runner/src/registration.ts';
import { newRunnerId } from '../../../packages/runner/src/runner-id.ts';
import { tarOf } from '../../../packages/runner/src/tar.ts';
import { createTlsServer, TlsCredentials } from '../../../packages/runner/src/tls/index.ts';
import type { Address, TlsFiles } from '../../../packages/runner/src/tls/index.ts';

export interface NullRunnerOptions {
  name: string;
  capacity: number;
  workers: Address[];
  tls: TlsFiles;
}

/** What happened at one runner. */
export interface Played {
  /** Ids of the turns that were started. */
  turns: string[];
  /** Workspaces made from all files, as nothing of their project was kept; and from kept files. */
  cold: number;
  warm: number;
  /** Turns under way. */
  load: number;
  /** Its lease ended, or the workers counted it as gone. */
  faults: string[];
}

interface Turn {
  state: TaskState;
  entries: JournalEntry[];
  /** Resolves when there is more to read. */
  next: PromiseWithResolvers<void>;
}

interface Workspace {
  base: string;
  /** Of the last turn, once it has ended. */
  left: Buffer;
}

/** The file that a turn leaves. */
export const LEFT = 'turn.txt';
const MEMORY = 64 * 2 ** 30;

class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export class NullRunner {
  readonly #id = newRunnerId();
  readonly #options: NullRunnerOptions;
  readonly #links: WorkerLinks;
  readonly #server: Server;
  readonly #lease = new Lease(() => this.#played.faults.push('its lease has ended'));
  readonly #turns = new Map<string, Turn>();
  readonly #workspaces = new Map<string, Workspace>();
  /** Kept sources, and the project of each. */
  readonly #sources = new Map<string, string>();
  readonly #played: Played = { turns: [], cold: 0, warm: 0, load: 0, faults: [] };
  #registrar: Registrar;

  constructor(options: NullRunnerOptions, tls: TlsCredentials) {
    this.#options = options;
    this.#links = new WorkerLinks(options.workers, tls);
    this.#server = createTlsServer(
      { tls, roles: ['worker', 'api'], keepAliveTimeout: 60_000 },
      (req, res) => {
        watchRemote(req, res);
        void this.#answer(req, res);
      },
    );
    this.#registrar = this.#newRegistrar();
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  /** Registers from now on. */
  start(): void {
    this.#registrar.start();
  }

  /** Registers no longer; its work goes on. */
  pause(): void {
    this.#registrar.stop();
    this.#registrar = this.#newRegistrar();
  }

  played(): Played {
    return { ...this.#played, load: this.#active() };
  }

  close(): void {
    this.#registrar.stop();
    this.#lease.stop();
    this.#links.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #active(): number {
    return [...this.#turns.values()].filter(({ state }) => state.status !== 'ended').length;
  }

  #newRegistrar(): Registrar {
    return new Registrar({
      bootId: this.#id,
      workers: this.#links,
      lease: this.#lease,
      describe: () => ({
        name: this.#options.name,
        address: `127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
        pool: 'default',
        protocol: [...PROTOCOL_RANGE] as [number, number],
        capacity: this.#options.capacity,
        isDraining: false,
        status: this.#status(),
        tasks: [...this.#turns.keys()],
        workspaces: [...this.#workspaces.keys()],
        groups: [...new Set(this.#sources.values())],
      }),
      forget: async (named) => this.#forget(named),
      onMeasure: () => {},
      onGone: () => this.#played.faults.push('it counts as gone'),
      say: () => {},
    });
  }

  #status() {
    return {
      id: this.#id,
      pid: process.pid,
      driver: 'bubblewrap' as const,
      ok: true,
      missing: [],
      restore: 'overlay' as const,
      limits: {
        memory: 'cgroup' as const,
        processes: 'cgroup' as const,
        cpu: 'cgroup' as const,
        warnings: [],
      },
      egress: { allowed: 0, refused: 0 },
      load: {
        memoryBytes: MEMORY,
        freeBytes: MEMORY * (1 - 0.5 * (this.#active() / this.#options.capacity)),
        sandboxes: this.#active(),
      },
    };
  }

  #forget({ tasks, workspaces, groups }: Forget): string[] {
    for (const id of tasks) this.#turns.delete(id);
    for (const id of workspaces) this.#workspaces.delete(id);
    for (const [key, group] of this.#sources) if (groups.includes(group)) this.#sources.delete(key);
    return [];
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const url = new URL(req.url!, 'http://runner');
      const [top, id = '', action = ''] = url.pathname.slice(1).split('/');
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part as Buffer);
      const call = {
        what: `${req.method} ${top}${id && '/:id'}${action && `/${action}`}`,
        id,
        query: url.searchParams,
        body: Buffer.concat(parts),
      };
      if (action === 'journal') return await this.#readJournal(id, Number(url.searchParams.get('from')), res);
      const value = this.#do(call, res);
      if (Buffer.isBuffer(value)) res.setHeader('content-type', 'application/x-tar').end(value);
      else if (value === undefined) res.writeHead(204).end();
      else res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    } catch (error) {
      const { status, code } = error instanceof Refused ? error : { status: 500, code: 'internal' };
      if (status === 500) this.#played.faults.push(String(error));
      if (res.headersSent) return void res.destroy();
      res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { code, message: String(error) } }));
    }
  }

  #do(
    { what, id, query, body }: { what: string; id: string; query: URLSearchParams; body: Buffer },
    res: ServerResponse,
  ): object | Buffer | undefined {
    switch (what) {
      case 'GET status':
        return this.#status();
      case 'PUT workspaces/:id':
        return this.#putWorkspace(id, query);
      case 'GET workspaces':
        return { workspaces: [] };
      case 'GET workspaces/:id':
        return { exists: this.#workspaces.has(id), base: this.#workspaces.get(id)?.base ?? null };
      case 'DELETE workspaces/:id':
        return void this.#workspaces.delete(id);
      case 'POST workspaces/:id/capture':
        return this.#capture(id);
      case 'POST workspaces/:id/blobs':
        return tarOf([{ path: LEFT, content: this.#workspace(id).left }]);
      case 'POST workspaces/:id/patch':
        return void this.#workspace(id);
      case 'GET sources': {
        const kept = [...this.#sources].filter(([, group]) => group === query.get('group'));
        return { keys: kept.map(([key]) => key) };
      }
      case 'GET layers':
        return { keys: [] };
      case 'GET groups':
        return { groups: [...new Set(this.#sources.values())] };
      case 'GET tasks':
        return { tasks: [...this.#turns.values()].map(({ state }) => state) };
      case 'POST tasks/:id':
        res.statusCode = this.#turns.has(id) ? 200 : 201;
        return this.#start(id, JSON.parse(body.toString()) as TaskRequest);
      case 'GET tasks/:id':
        return this.#turn(id).state;
      case 'DELETE tasks/:id':
        return void this.#turns.delete(id);
      case 'POST tasks/:id/ack':
        return undefined;
      default:
        throw new Error(`a null runner does not know ${what}`);
    }
  }

  #workspace(id: string): Workspace {
    const workspace = this.#workspaces.get(id);
    if (!workspace) throw new Refused(404, 'not_found');
    return workspace;
  }

  #turn(id: string): Turn {
    const turn = this.#turns.get(id);
    if (!turn) throw new Refused(404, 'not_found');
    return turn;
  }

  #putWorkspace(id: string, query: URLSearchParams): undefined {
    const [base, key, group] = ['base', 'keep', 'group'].map((name) => query.get(name));
    if (base) {
      if (!this.#sources.has(base)) throw new Refused(404, 'not_cached');
      this.#played.warm++;
      this.#workspaces.set(id, { base, left: Buffer.alloc(0) });
    } else {
      if (!key || !group) throw new Error('a workspace is of no source');
      this.#played.cold++;
      this.#sources.set(key, group);
      this.#workspaces.set(id, { base: key, left: Buffer.alloc(0) });
    }
    return undefined;
  }

  #capture(id: string): CaptureResult {
    const { left } = this.#workspace(id);
    const file = {
      path: LEFT,
      byteSize: left.length,
      sha256: createHash('sha256').update(left).digest('hex'),
      executable: false,
    };
    return { files: left.length > 0 ? [file] : [], over: { moved: [], missing: [] }, warnings: [] };
  }

  #start(id: string, request: TaskRequest): TaskState {
    const known = this.#turns.get(id);
    if (known) return known.state;
    if (request.kind !== 'turn') throw new Error(`a null runner plays no ${request.kind}`);
    const workspace = this.#workspace(request.workspaceId);
    const state: TaskState = {
      id,
      kind: 'turn',
      workspaceId: request.workspaceId,
      status: 'running',
      lastOffset: -1,
    };
    const turn: Turn = { state, entries: [], next: Promise.withResolvers() };
    this.#turns.set(id, turn);
    this.#played.turns.push(id);
    void this.#play(turn, workspace, Number(/hold (\d+)/.exec(request.prompt)?.[1] ?? 0));
    return state;
  }

  async #play(turn: Turn, workspace: Workspace, ms: number): Promise<void> {
    const say = (entry: object) => {
      turn.state.lastOffset++;
      turn.entries.push({
        offset: turn.state.lastOffset,
        at: new Date().toISOString(),
        ...entry,
      } as JournalEntry);
      turn.next.resolve();
      turn.next = Promise.withResolvers();
    };
    say({ type: 'started' });
    say({ type: 'ready', steerable: false });
    if (ms > 0) await sleep(ms);
    workspace.left = Buffer.from(turn.state.id);
    const tool = {
      type: 'tool',
      toolCallId: 'call_1',
      name: 'write',
      title: LEFT,
      input: {},
      truncated: false,
    };
    say({ ...tool, status: 'completed', output: 'written' });
    say({ type: 'text', content: 'Done.' });
    turn.state.status = 'ended';
    say({
      type: 'end',
      outcome: 'completed',
      exitCode: 0,
      signal: null,
      timedOut: false,
      oom: false,
      error: null,
      durationMs: ms,
    });
  }

  async #readJournal(id: string, from: number, res: ServerResponse): Promise<void> {
    const turn = this.#turn(id);
    res.writeHead(200, { 'content-type': JOURNAL_TYPE }).flushHeaders();
    for (let offset = from; !res.destroyed;) {
      const { next } = turn;
      for (; offset < turn.entries.length; offset++)
        res.write(Buffer.from(`${JSON.stringify(turn.entries[offset])}\n`));
      if (turn.entries.at(-1)?.type === 'end') break;
      await next.promise;
    }
    res.end();
  }
}
