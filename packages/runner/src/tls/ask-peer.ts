import { request } from 'node:http';
import { TlsAgent } from './agent.ts';
import type { TlsTarget } from './connect.ts';
import type { TlsRole } from './peer-roles.ts';

/**
 * Whether a peer of that role answers: both sides have then accepted the other's certificate, since a server
 * takes its look after this side's handshake. Rejects with why not, within `timeoutMs` for each of two steps.
 */
export async function askPeer(target: TlsTarget, role: TlsRole, timeoutMs = 5_000): Promise<void> {
  const agent = new TlsAgent(target, role, timeoutMs);
  const { host, port } = target;
  try {
    await new Promise<void>((resolve, reject) => {
      const req = request({ host, port, agent, path: '/', signal: AbortSignal.timeout(2 * timeoutMs) });
      req
        .once('response', (res) => {
          res.resume();
          resolve();
        })
        .once('error', (error: NodeJS.ErrnoException) => {
          const isCutOff = error.code === 'ECONNRESET' || /alert/.test(error.message);
          reject(isCutOff ? new Error(`It refuses this certificate (${error.message}).`) : error);
        });
      req.end();
    });
  } finally {
    agent.destroy();
  }
}
