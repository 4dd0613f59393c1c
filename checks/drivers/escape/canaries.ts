import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeSandboxFolder, type Host } from '../../../packages/runner/src/sandbox/host.ts';
import { callNumbers } from './numbers.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
export const PYTHON = '/usr/bin/python3';

/**
 * What probes are after, planted for one run of them: each thing holds the secret or must stay unchanged. The
 * probes know where all of it is.
 */
export interface Canaries {
  id: string;
  secret: string;
  /** On the file system of the workspaces; open to everyone, so that only the sandbox is in the way. */
  folder: string;
  /** Another thread's workspace and HOME as the runner makes them. */
  other: string;
  otherHome: string;
  neighbourPort: number;
  /** What the probes know; no secret. */
  grounds: Record<string, unknown>;
  /** Planted things whose access shows only in a message. */
  touched: Set<string>;
  close(): Promise<void>;
}

const UNTOUCHED = 'untouched\n';

export async function plantCanaries(host: Host): Promise<Canaries> {
  const folder = mkdtempSync(join(dirname(host.base), 'hr-escape-'));
  const id = folder.slice(folder.lastIndexOf('/') + 1),
    secret = `canary-${randomUUID()}`;
  const other = makeSandboxFolder(host, `other-${id}`),
    otherHome = makeSandboxFolder(host, `other-${id}.home`);
  writeFiles(folder, secret);
  for (const place of [other, otherHome]) {
    for (const [name, text] of [
      ['secret.txt', secret],
      ['target.txt', UNTOUCHED],
    ] as const) {
      writeFileSync(join(place, name), text);
      if (host.uid !== null) chownSync(join(place, name), host.uid, host.uid);
    }
  }
  const sockets = [
    join(folder, 'socket'),
    ...(process.getuid?.() === 0 ? [`/run/${id}/docker.sock`] : []),
    `/tmp/${id}.X11/X0`,
    `\0${id}.dbus`,
  ];
  const services = await serve(secret, sockets);
  const touched = new Set<string>();
  const { plant, planted } = await runPlant(secret, join(folder, 'secret.txt'), touched);
  const grounds = {
    canary: folder,
    base: host.base,
    other,
    otherHome,
    id,
    neighbour: `${id}.neighbour`,
    neighbourPort: services.spare,
    ...services.ports,
    addresses: hostAddresses(),
    abstract: `${id}.dbus`,
    sockets: sockets.slice(0, -1),
    resolver: resolverLines(),
    numbers: callNumbers(process.arch),
    arch: process.arch,
    ...planted,
  };
  return {
    id,
    secret,
    folder,
    other,
    otherHome,
    neighbourPort: services.spare,
    grounds,
    touched,
    async close() {
      services.close();
      plant.stdin!.end();
      await new Promise((resolve) => {
        plant.once('close', resolve);
      });
      for (const path of [
        folder,
        other,
        otherHome,
        `/run/${id}`,
        `/tmp/${id}.X11`,
        ...['/tmp', '/dev/shm', '/var/tmp'].map((place) => `${place}/${id}.neighbour`),
      ])
        rmSync(path, { recursive: true, force: true });
    },
  };
}

function writeFiles(folder: string, secret: string): void {
  chmodSync(folder, 0o755);
  for (const name of ['cwd', 'data', 'drop', 'tools']) mkdirSync(join(folder, name));
  chmodSync(join(folder, 'drop'), 0o777);
  for (const name of ['secret.txt', 'cwd/secret.txt', 'data/secret.txt'])
    writeFileSync(join(folder, name), secret, { mode: 0o644 });
  for (const name of ['target.txt', 'written.txt']) writeFileSync(join(folder, name), UNTOUCHED);
  for (const name of ['target.txt', 'written.txt']) chmodSync(join(folder, name), 0o666);
  const tools = join(folder, 'tools');
  for (const name of ['inside.py', 'neighbour.cjs']) copyFileSync(join(HERE, name), join(tools, name));
  copyFileSync('/usr/bin/id', join(tools, 'set-uid'));
  chmodSync(join(tools, 'set-uid'), 0o4755);
}

/** Copies of what all sandboxes share, for attempts without a sandbox. */
export function copyShared(host: Host, folder: string): { guest: string; etc: string; node: string } {
  const to = { guest: join(folder, 'guest'), etc: join(folder, 'etc'), node: join(folder, 'node') };
  cpSync(host.guest.folder, to.guest, { recursive: true });
  cpSync(host.etc, to.etc, { recursive: true, verbatimSymlinks: true });
  writeFileSync(to.node, 'as it is', { mode: 0o755 });
  return to;
}

/** Servers of this host that give the secret to anybody. */
async function serve(
  secret: string,
  paths: string[],
): Promise<{ ports: Record<string, number>; spare: number; close(): void }> {
  const servers: Server[] = [];
  const listen = async (where: { port: number; host: string } | { path: string }): Promise<number> => {
    if ('path' in where && !where.path.startsWith('\0')) mkdirSync(dirname(where.path), { recursive: true });
    const server = createServer((peer) => {
      peer.on('error', () => {}).end(secret);
    });
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(
        {
          ...where,
          ...('path' in where && !where.path.startsWith('\0') && { readableAll: true, writableAll: true }),
        },
        resolve,
      );
    });
    return 'path' in where ? 0 : (server.address() as { port: number }).port;
  };
  for (const path of paths) await listen({ path });
  const datagrams = createSocket('udp4');
  datagrams.on('message', (_text, from) => datagrams.send(secret, from.port, from.address));
  await new Promise<void>((resolve) => {
    datagrams.bind(0, '0.0.0.0', resolve);
  });
  const spare = await listen({ port: 0, host: '127.0.0.1' });
  servers.pop()!.close(); // a port that the neighbour can take
  const ports = {
    port: await listen({ port: 0, host: '127.0.0.1' }),
    anyPort: await listen({ port: 0, host: '0.0.0.0' }),
    port6: existsSync('/proc/net/if_inet6') ? await listen({ port: 0, host: '::1' }) : 0,
    udpPort: datagrams.address().port,
  };
  return {
    ports,
    spare,
    close() {
      datagrams.close();
      for (const server of servers) server.close();
    },
  };
}

/** The host's name servers, which a sandbox must not learn. */
const resolverLines = (): string[] =>
  (existsSync('/etc/resolv.conf') ? readFileSync('/etc/resolv.conf', 'utf8') : '')
    .split('\n')
    .filter((line) => /^(nameserver|search)\s+\S/.test(line) && !/\s127\./.test(line));

const hostAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((one) => !one.internal && one.family === 'IPv4')
    .map((one) => one.address);

async function runPlant(
  secret: string,
  file: string,
  touched: Set<string>,
): Promise<{ plant: ChildProcess; planted: object }> {
  const plant = spawn(PYTHON, [join(HERE, 'plant.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  plant.stdin.write(`${JSON.stringify({ secret, file })}\n`);
  const lines = createInterface({ input: plant.stdout });
  const planted = await new Promise<object>((resolve, reject) => {
    plant.once('error', reject).once('exit', (code) => reject(new Error(`plant.py ended with ${code}`)));
    lines.once('line', (line) => resolve(JSON.parse(line) as object));
  });
  lines.on('line', (line) => touched.add(line));
  return { plant, planted };
}
