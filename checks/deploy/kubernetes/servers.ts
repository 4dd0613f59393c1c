/**
 * Kubernetes' servers, compiled from the source that Debian ships: its binaries, newer versions and registries of images
 * may be out of reach. Kept between runs.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installPrograms } from '../programs.ts';

const CACHE = process.env['HEADRACE_KUBERNETES_CACHE'] ?? join(homedir(), '.cache/headrace-kubernetes');
const VERSION = '1.20.2';

const ADDRESS =
  'http://deb.debian.org/debian/pool/main/k/kubernetes/kubernetes_1.20.5+really1.20.2.orig.tar.gz';
const SHA256 = 'b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc';
const SOURCE = join(CACHE, `kubernetes-${VERSION}`);
const SERVERS = [
  'kubelet',
  'kube-proxy',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;
const GO = '/usr/lib/go-1.19/bin';
const DOWNLOAD_MS = 5 * 60_000;
/** Of one server. The first one, with the generators of code, takes eleven minutes of one core. */
const COMPILE_MS = 90 * 60_000;

export type Server = (typeof SERVERS)[number];
export const programOf = (server: Server): string => join(CACHE, 'bin', server);

export async function makeServers(): Promise<string> {
  installPrograms({ [`${GO}/go`]: 'golang-1.19-go', rsync: 'rsync', make: 'make' });
  mkdirSync(join(CACHE, 'bin'), { recursive: true });
  const missing = SERVERS.filter((server) => !existsSync(programOf(server)));
  if (missing.length > 0) {
    await fetchSource();
    for (const server of missing) compile(server);
    rmSync(SOURCE, { recursive: true });
  }
  return `Kubernetes ${VERSION}${missing.length > 0 ? `, compiled ${missing.join(', ')}` : ''}`;
}

async function fetchSource(): Promise<void> {
  if (existsSync(SOURCE)) return;
  const answer = await fetch(ADDRESS, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
  if (!answer.ok) throw new Error(`${ADDRESS}: ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const seen = createHash('sha256').update(bytes).digest('hex');
  if (seen !== SHA256) throw new Error(`${ADDRESS} has the checksum ${seen}`);
  const archive = join(CACHE, 'source.tar.gz');
  const part = `${SOURCE}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  writeFileSync(archive, bytes);
  run('tar', ['-C', part, '--strip-components=1', '-xzf', archive], DOWNLOAD_MS);
  rmSync(archive);
  // What a checkout would tell.
  writeFileSync(
    join(part, 'version.env'),
    `KUBE_GIT_COMMIT=0000000000000000000000000000000000000000
KUBE_GIT_TREE_STATE=clean
KUBE_GIT_VERSION=v${VERSION}
KUBE_GIT_MAJOR=1
KUBE_GIT_MINOR=20
`,
  );
  renameSync(part, SOURCE);
}

function compile(server: Server): void {
  run('nice', ['-n', '15', 'make', '-C', SOURCE, `WHAT=cmd/${server}`], COMPILE_MS);
  keep(join(SOURCE, '_output/local/bin/linux', process.arch === 'x64' ? 'amd64' : 'arm64', server), server);
}

function keep(built: string, name: string): void {
  const part = join(CACHE, 'bin', `${name}.part`);
  copyFileSync(built, part);
  renameSync(part, join(CACHE, 'bin', name));
}

/** Throws with the end of what the program said. */
function run(program: string, args: string[], limitMs: number): void {
  const log = join(CACHE, 'compile.log');
  const { status } = spawnSync('sh', ['-c', 'exec "$@" >"$0" 2>&1', log, program, ...args], {
    timeout: limitMs,
    env: {
      PATH: `${GO}:${process.env['PATH']}`,
      HOME: CACHE,
      // The source has all that it needs.
      GOPROXY: 'off',
      KUBE_GIT_VERSION_FILE: join(SOURCE, 'version.env'),
    },
  });
  if (status !== 0) throw new Error(`${program} failed: ${readFileSync(log, 'utf8').slice(-2_000)}`);
}
