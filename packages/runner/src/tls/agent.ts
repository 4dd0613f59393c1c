import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { connectTls, type TlsTarget } from './connect.ts';
import type { TlsRole } from './peer-roles.ts';

const MOST_SPARE = 4;
/** A server closes a connection that asks for nothing within ten seconds. */
const SPARE_MS = 8_000;

/** Kept connections to one peer of that role, each with the certificate as it is when it is made. */
export class TlsAgent extends Agent {
  readonly #target: TlsTarget;
  readonly #role: TlsRole;
  readonly #timeoutMs: number | undefined;
  /** Opened ahead, each with what ends it when its time is over. */
  readonly #spare = new Map<TLSSocket, NodeJS.Timeout>();
  #opening = 0;
  #isDestroyed = false;

  constructor(target: TlsTarget, role: TlsRole, timeoutMs?: number) {
    super({ keepAlive: true, maxSockets: Infinity });
    this.#target = target;
    this.#role = role;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Opens connections ahead, so that the next requests wait for no handshake. An upgrade takes its connection away:
   * without others every upgrade would wait.
   */
  async prepare(): Promise<void> {
    const missing = Math.max(0, MOST_SPARE - this.#spare.size - this.#opening);
    await Promise.all(Array.from({ length: missing }, () => this.#prepareOne()));
  }

  override createConnection(
    _options: unknown,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    void this.#connect(callback);
  }

  override destroy(): void {
    this.#isDestroyed = true;
    for (const [socket] of this.#spare) socket.destroy();
    super.destroy();
  }

  async #connect(callback: (error: Error | null, socket?: Duplex) => void): Promise<void> {
    let socket: Duplex;
    try {
      const spare = [...this.#spare.keys()].find((one) => one.readyState === 'open');
      if (spare) this.#take(spare);
      socket = spare ?? (await this.#open());
    } catch (error) {
      return callback(error as Error);
    }
    callback(null, socket);
  }

  async #prepareOne(): Promise<void> {
    this.#opening++;
    try {
      const socket = await this.#open();
      if (this.#isDestroyed) return void socket.destroy();
      const timer = setTimeout(() => socket.destroy(), SPARE_MS).unref();
      this.#spare.set(socket, timer);
      socket.once('close', () => this.#take(socket)).on('error', () => {});
    } catch {
      // The next request tries for itself.
    } finally {
      this.#opening--;
    }
  }

  #take(socket: TLSSocket): void {
    clearTimeout(this.#spare.get(socket));
    this.#spare.delete(socket);
  }

  #open(): Promise<TLSSocket> {
    return connectTls(this.#target, { role: this.#role, timeoutMs: this.#timeoutMs });
  }
}
