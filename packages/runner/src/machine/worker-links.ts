import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { GatewayDialer } from '../tasks/gateways.ts';
import { addressText, connectTls, TlsAgent, type Address, type TlsCredentials } from '../tls/index.ts';

const CONNECT_MS = 2_000;
/** A worker that takes longer is tried again with the next call. */
const CALL_MS = 4_000;

export interface WorkerAnswer {
  status: number;
  body: string;
}

interface WorkerLink {
  address: Address;
  agent: TlsAgent;
}

/** The ways to the workers: several addresses, of which the one that answered last is tried first. */
export class WorkerLinks implements GatewayDialer {
  readonly #tls: TlsCredentials;
  /** Never changed in place: calls go through it. */
  #links: readonly WorkerLink[];

  constructor(addresses: readonly Address[], tls: TlsCredentials) {
    this.#tls = tls;
    this.#links = addresses.map((address) => ({
      address,
      agent: new TlsAgent({ ...address, tls }, 'worker', CONNECT_MS),
    }));
  }

  /** The first answer that is below 500; `onSend` hears of each try. Rejects with every address's fault. */
  async call(method: string, path: string, body: string, onSend: () => void): Promise<WorkerAnswer> {
    const faults: string[] = [];
    for (const link of this.#links) {
      onSend();
      try {
        const answer = await this.#call(link, { method, path, body });
        if (answer.status < 500) {
          this.#prefer(link);
          return answer;
        }
        faults.push(`${addressText(link.address)}: it answered ${answer.status}`);
      } catch (error) {
        faults.push(`${addressText(link.address)}: ${(error as Error).message}`);
      }
    }
    throw new Error(faults.join('; '));
  }

  /** A connection to the model gateway of the first worker that accepts one; undefined when none does. */
  async dial(): Promise<Socket | undefined> {
    for (const link of this.#links) {
      try {
        const socket = await this.#dial(link.address);
        this.#prefer(link);
        return socket;
      } catch {
        /* the next one may accept it */
      }
    }
    return undefined;
  }

  close(): void {
    for (const { agent } of this.#links) agent.destroy();
  }

  #prefer(link: WorkerLink): void {
    this.#links = [link, ...this.#links.filter((one) => one !== link)];
  }

  async #call(
    { address: { host, port }, agent }: WorkerLink,
    { method, path, body }: { method: string; path: string; body: string },
  ): Promise<WorkerAnswer> {
    const req = request({
      host,
      port,
      agent,
      method,
      path,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.timeout(CALL_MS),
    });
    req.end(body);
    const res = await new Promise<IncomingMessage>((resolve, reject) => {
      req.once('response', resolve).once('error', reject);
    });
    return { status: res.statusCode!, body: await text(res) };
  }

  /** As `GET /gateway` of registration.ts says. */
  async #dial(address: Address): Promise<Socket> {
    const socket = await connectTls(
      { ...address, tls: this.#tls },
      { role: 'worker', timeoutMs: CONNECT_MS, allowHalfOpen: true },
    );
    const req = request({
      createConnection: () => socket,
      host: address.host,
      port: address.port,
      path: '/gateway',
      headers: { connection: 'Upgrade', upgrade: 'tcp' },
    });
    req.end();
    return upgradedIn(req, socket);
  }
}

function upgradedIn(req: ClientRequest, socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(new Error('The gateway does not answer.')), CALL_MS);
    req
      .once('error', fail)
      .once('response', (res) => fail(new Error(`The gateway answered ${res.statusCode}.`)))
      .once('upgrade', (_res, _socket, head) => {
        clearTimeout(timer);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
  });
}
