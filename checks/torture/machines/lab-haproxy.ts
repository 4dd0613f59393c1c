/**
 * HAProxy of Debian before the APIs, which it asks for /health/ready, and before the primary of the database, which it is
 * told, as whatever promotes a standby would tell it. An API that is slow to say that it is ready keeps its connections.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastOf } from '../../harness/service.ts';
import type { SwitchedAddress } from '../../../packages/server/src/db/replicated.fixture.ts';
import { libraryPath, unpackedPackages } from './debian-packages.ts';
import type { Host } from './lab-network.ts';
import { PORTS } from './lab-role.ts';

const CACHE = process.env.HEADRACE_HAPROXY_CACHE ?? '/var/tmp/headrace-haproxy-2.6';
const READY_LIMIT_MS = 30_000;
const DATABASE_PORT = 5432;

const configuration = (socket: string, { address }: Host, { apis, databases }: Backends) => `
global
  stats socket ${socket} mode 600 level admin
  maxconn 4000
defaults
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 10s
  unique-id-format %[uuid()]
  http-error status 503 content-type application/json lf-string '{"ok":false,"error":{"code":"unavailable","message":"No API process is ready.","requestId":"%[unique-id]"}}' hdr X-Request-Id %[unique-id] hdr Retry-After 1 hdr X-Retry-After 1
frontend api
  mode http
  bind ${address}:${PORTS.api}
  default_backend apis
backend apis
  mode http
  balance roundrobin
  option httpchk GET /health/ready
  option redispatch
  option forwardfor
  default-server check inter 1s fall 5 rise 1
${apis.map(({ name, address: at }) => `  server ${name} ${at}:${PORTS.api}`).join('\n')}
frontend database
  mode tcp
  bind ${address}:${DATABASE_PORT}
  default_backend databases
backend databases
  mode tcp
${Object.entries(databases)
  .map(([name, at]) => `  server ${name} ${at}:${DATABASE_PORT} disabled`)
  .join('\n')}
`;

interface Backends {
  apis: readonly Host[];
  databases: Record<'one' | 'two', string>;
}

interface Balancer {
  /** Of the APIs together. */
  base: string;
  database: SwitchedAddress;
}

/** It ends with its host. */
export async function startHaproxy(host: Host, folder: string, backends: Backends): Promise<Balancer> {
  const root = await unpackedPackages(CACHE, ['haproxy']);
  mkdirSync(folder);
  const [socket, file] = [join(folder, 'socket'), join(folder, 'haproxy.cfg')];
  writeFileSync(file, configuration(socket, host, backends));
  const [command, ...enter] = host.enter;
  const child = spawn(command!, [...enter, join(root, 'usr/sbin/haproxy'), '-db', '-f', file], {
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: libraryPath(root) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = lastOf(child);
  const tell = (line: string) => text(connect(socket).end(`${line}\n`));
  for (const deadline = Date.now() + READY_LIMIT_MS; ; await sleep(50)) {
    if (await tell('show info').catch(() => '')) break;
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`HAProxy does not start: ${said()}`);
  }
  return {
    base: `http://${host.address}:${PORTS.api}`,
    database: {
      host: host.address,
      port: DATABASE_PORT,
      async leadTo(server) {
        for (const [name, address] of Object.entries(backends.databases)) {
          const isIt = address === server?.site?.address;
          await tell(`set server databases/${name} state ${isIt ? 'ready' : 'maint'}`);
          if (!isIt) await tell(`shutdown sessions server databases/${name}`);
        }
      },
      close: () => Promise.resolve(),
    },
  };
}
