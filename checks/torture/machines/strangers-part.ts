/**
 * At each port of the link, peers without a certificate, with one of another authority, with one that has expired, and with
 * one of the wrong role: not a byte of an answer comes. A peer of the right role is answered at each port, before and after.
 *
 * Seen to fail: servers that do not look at the role in the certificate (the wrong roles are answered).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { TestAuthority } from '../../../packages/runner/src/tls/certificates.fixture.ts';
import type { TlsFiles } from '../../../packages/runner/src/tls/credentials.ts';
import type { Part } from '../lib/part.ts';
import { LINK_PORTS } from './lab-role.ts';
import type { RoleName } from './lab-role.ts';
import { sharedLab } from './lab.ts';

const ANSWER_LIMIT_MS = 30_000;
/** Who may come to each. */
const WELCOME: Record<RoleName, readonly RoleName[]> = {
  api: ['worker', 'api'],
  worker: ['runner'],
  runner: ['worker', 'api'],
};
const ROLES: readonly RoleName[] = ['api', 'worker', 'runner'];

interface Peer {
  what: string;
  files: TlsFiles | null;
}

export const strangersPart: Part = {
  name: 'strangers',
  title: 'No peer without a certificate of the right role is answered between machines',
  seconds: 60,
  async run(setup) {
    const lab = await sharedLab(setup);
    const [first] = lab.of('api');
    const own = await lab.certificate(first!.host, ['api'], `torture-${Date.now()}`);
    // The lab's own authority: it signs what nobody else would.
    const ours = new TestAuthority(dirname(own.HEADRACE_TLS_CA_FILE!));
    const folder = join(setup.scratch, 'strangers');
    mkdirSync(folder);
    const theirs = new TestAuthority(folder, 'strangers');
    const named = (of: TestAuthority, role: string, days: number) =>
      of.sign(`peer-${role}-${days > 0 ? 'now' : 'old'}`, {
        names: [`URI:headrace://role/${role}`],
        days,
      });
    const failures: string[] = [];
    const counts = { ports: 0, refused: 0, answered: 0 };
    const listeners = ROLES.flatMap((role) => lab.of(role));
    const valid = new Map(ROLES.map((role) => [role, named(ours, role, 1)]));
    for (let round = 0; round < setup.count(20); round++)
      for (const { name, host, role } of listeners) {
        const rights = WELCOME[role];
        const wrongs: Peer[] = [
          { what: 'no certificate', files: null },
          ...rights.flatMap((right) => [
            { what: `${right} of another authority`, files: named(theirs, right, 1) },
            { what: `${right} that has expired`, files: named(ours, right, -1) },
          ]),
          ...ROLES.filter((one) => !rights.includes(one)).map((one) => ({
            what: `the role ${one}`,
            files: valid.get(one)!,
          })),
        ];
        counts.ports++;
        const ask = (files: TlsFiles | null) => answerOf(host.address, LINK_PORTS[role], files);
        for (const right of rights)
          if ((await ask(valid.get(right)!)).startsWith('HTTP/1.1 ')) counts.answered++;
          else failures.push(`${name} does not answer a peer of the role ${right}`);
        for (const { what, files } of wrongs) {
          const answer = await ask(files);
          if (answer === '') counts.refused++;
          else failures.push(`${name} answers ${what}: ${answer.slice(0, 100)}`);
        }
      }
    await lab.settled();
    return {
      line: `${counts.refused} peers without the right certificate refused at ${listeners.length} ports, and ${counts.answered} of the right role answered; ${failures.length} promises broken`,
      figures: { ...counts, failures: failures.length },
      failures,
    };
  },
};

/** What comes for a request that is sent right behind the handshake, whatever this side thinks of the other. */
function answerOf(host: string, port: number, files: TlsFiles | null): Promise<string> {
  return new Promise((resolve) => {
    const own = files ? { cert: readFileSync(files.cert), key: readFileSync(files.key) } : {};
    const socket = connect({ host, port, ...own, rejectUnauthorized: false });
    let text = '';
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy());
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    socket
      .on('data', (part) => (text += part.toString()))
      .on('error', () => {})
      .on('close', () => resolve(text));
  });
}
