import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { connectTls, type TlsTarget } from './connect.ts';
import type { TlsRole } from './peer-roles.ts';

/** Kept connections to one peer of that role, each with the certificate as it is when it is made. */
export class TlsAgent extends Agent {
  readonly #target: TlsTarget;
  readonly #role: TlsRole;
  readonly #timeoutMs: number | undefined;

  constructor(target: TlsTarget, role: TlsRole, timeoutMs?: number) {
    super({ keepAlive: true, maxSockets: Infinity });
    this.#target = target;
    this.#role = role;
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(
    _options: unknown,
    callback: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    void this.#connect(callback);
  }

  async #connect(callback: (error: Error | null, socket?: Duplex) => void): Promise<void> {
    let socket: Duplex;
    try {
      socket = await connectTls(this.#target, { role: this.#role, timeoutMs: this.#timeoutMs });
    } catch (error) {
      return callback(error as Error);
    }
    callback(null, socket);
  }
}
