import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

type Reply = { status?: number; body?: unknown } | 'cut';

/**
 * As much of an engine as one container needs, on a socket. It answers correctly unless a test overrides an
 * answer.
 */
export class FakeEngine {
  readonly socket: string;
  readonly calls: string[] = [];
  /** The state of its one container; null when there is none. */
  state: { Running: boolean; ExitCode: number; OOMKilled?: boolean } | null = null;
  /** `METHOD /part-of-path` → the answer that replaces the usual one. */
  readonly replies = new Map<string, Reply | Promise<Reply>>();
  containers: { Id: string; Labels: Record<string, string> }[] = [];
  version: object = { ApiVersion: '1.43', Version: '24.0.1', Components: [{ Name: 'Engine' }] };
  info: object = {
    MemoryLimit: true,
    PidsLimit: true,
    CPUShares: true,
    SecurityOptions: ['name=seccomp,profile=default'],
    Runtimes: { runc: { path: 'runc' } },
  };
  /** The body by which the last container was asked for. */
  created: Record<string, unknown> = {};
  attached: Socket | undefined;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  #waiting: (() => void)[] = [];

  constructor(folder: string) {
    this.socket = join(folder, `engine-${Math.random().toString(36).slice(2, 8)}`);
  }

  async listen(): Promise<void> {
    const server = createServer((req, res) => {
      void (async () => {
        const reply = await this.#answer(req);
        if (reply === 'cut') req.socket.destroy();
        else
          res
            .writeHead(reply.status ?? 200, { 'content-type': 'application/json' })
            .end(reply.body === undefined ? '' : JSON.stringify(reply.body));
      })();
    });
    server.on('upgrade', (req: IncomingMessage, socket: Socket) => {
      this.calls.push(`${req.method} ${req.url}`);
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
      this.attached = socket;
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.listen(this.socket, resolve);
    });
  }

  /** Behaves like a killed engine: connections break, nobody answers, containers live on. */
  async die(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server?.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Ends the container by itself. */
  exit(code: number): void {
    if (this.state) this.state = { ...this.state, Running: false, ExitCode: code };
    this.attached?.end();
    for (const answer of this.#waiting.splice(0)) answer();
  }

  async #answer(req: IncomingMessage): Promise<Reply> {
    const { method, url = '' } = req;
    const call = `${method} ${decodeURIComponent(url)}`;
    this.calls.push(call);
    for (const [part, reply] of this.replies)
      if (call.startsWith(part.split(' ')[0]!) && call.includes(part.split(' ')[1]!)) return reply;
    if (url === '/version') return { body: this.version };
    if (url === '/info') return { body: this.info };
    if (url.startsWith('/containers/json')) return { body: this.containers };
    if (url.startsWith('/containers/create')) {
      this.created = (await json(req)) as Record<string, unknown>;
      this.state = { Running: false, ExitCode: 0 };
      return { status: 201, body: { Id: 'x' } };
    }
    if (url.endsWith('/start')) {
      this.state = { Running: true, ExitCode: 0 };
      return { status: 204 };
    }
    if (url.endsWith('/wait')) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
      return { body: { StatusCode: this.state?.ExitCode ?? 137 } };
    }
    const listed = this.containers.findIndex(({ Id }) => url.startsWith(`/containers/${Id}?`));
    if (method === 'DELETE' && listed !== -1) {
      this.containers.splice(listed, 1);
      return { status: 204 };
    }
    if (method === 'DELETE') {
      const was = this.state;
      this.state = null;
      this.attached?.destroy();
      return { status: was ? 204 : 404 };
    }
    if (/^\/containers\/[^/]+\/json/.test(url))
      return this.state
        ? { body: { State: { Status: this.state.Running ? 'running' : 'exited', ...this.state } } }
        : { status: 404, body: { message: 'none' } };
    return { body: {} };
  }
}
