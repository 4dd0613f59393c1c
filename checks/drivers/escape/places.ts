import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS, HOME, WORKSPACE, type Bind } from '../../../packages/runner/src/sandbox/driver.ts';
import { GUEST } from '../../../packages/runner/src/sandbox/guest.ts';
import { makeSandboxFolder, startSandbox, type Host } from '../../../packages/runner/src/sandbox/host.ts';
import type { Harness, Place } from './batch.ts';
import { copyShared, PYTHON, type Canaries } from './canaries.ts';
import type { Probe } from './probe.ts';
import { isHarmed, pidsOnHost, startVictims, victimsLine } from './victims.ts';

const TOOLS = '/opt/headrace/escape';
const VICTIMS = 16;
type Shared = ReturnType<typeof copyShared>;

/**
 * A sandbox of the host's driver, equipped like a task's; `holes` are binds that no task has. A neighbour
 * lives in another sandbox.
 */
export async function sandboxPlace(
  host: Host,
  canaries: Canaries,
  holes: Bind[] = [],
): Promise<Place & { close(): Promise<void> }> {
  const tools: Bind = { host: join(canaries.folder, 'tools'), inside: TOOLS, readOnly: true };
  const victims = startVictims(host, canaries, VICTIMS);
  const neighbour = startSandbox(host, {
    command: ['node', `${TOOLS}/neighbour.cjs`],
    env: {
      NEIGHBOUR: JSON.stringify({ id: `${canaries.id}.neighbour`, port: canaries.neighbourPort }),
      HEADRACE_TOKEN: canaries.secret,
    },
    limits: DEFAULT_LIMITS,
    binds: [
      { host: canaries.other, inside: WORKSPACE, readOnly: false },
      { host: canaries.otherHome, inside: HOME, readOnly: false },
      tools,
    ],
  });
  await once(neighbour.stdout, 'data');
  const shared = { guest: host.guest.folder, etc: host.etc, node: host.node };
  return {
    secret: canaries.secret,
    isDone: outside(canaries, shared, () => victims.pids),
    async start(probes) {
      const name = `probes-${randomUUID()}.json`;
      writeFileSync(join(canaries.folder, 'tools', name), JSON.stringify(probes));
      const grounds = {
        ...canaries.grounds,
        victims: victims.pids,
        work: WORKSPACE,
        tools: TOOLS,
        guest: GUEST,
        etc: '/etc',
        node: '/opt/headrace/bin/node',
      };
      const sandbox = startSandbox(host, {
        command: [PYTHON, `${TOOLS}/inside.py`, `${TOOLS}/${name}`],
        env: { GROUNDS: JSON.stringify(grounds) },
        limits: DEFAULT_LIMITS,
        binds: [
          { host: makeSandboxFolder(host, randomUUID()), inside: WORKSPACE, readOnly: false },
          tools,
          ...holes,
        ],
      });
      sandbox.stderr.on('data', (part: Buffer) => process.stderr.write(part));
      return {
        stdin: sandbox.stdin,
        stdout: sandbox.stdout,
        stop: async () => {
          await sandbox.kill();
        },
      };
    },
    async close() {
      victims.close();
      await neighbour.kill();
    },
  };
}

/**
 * No sandbox: runs as this process's user, with all its rights, the host's network, /dev, /sys and root
 * folder. Only mounts, process numbers and the host name are its own, so that it can do no harm; an ordinary
 * user is root in a new user namespace.
 */
export function controlPlace(host: Host, canaries: Canaries): Place {
  const shared = copyShared(host, canaries.folder);
  let root = 0,
    victims: number[] = [];
  return {
    secret: canaries.secret,
    isDone: outside(canaries, shared, () => pidsOnHost(root, victims)),
    async start(probes): Promise<Harness> {
      const tools = join(canaries.folder, 'tools'),
        work = makeSandboxFolder(host, randomUUID());
      writeFileSync(join(work, 'probes.json'), JSON.stringify(probes));
      writeFileSync(
        join(work, 'grounds.json'),
        JSON.stringify({ ...canaries.grounds, victims: '@', work, tools, ...shared, control: 1 }),
      );
      const identity = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
      const child = spawn(
        '/usr/bin/unshare',
        [
          ...identity,
          '--mount',
          '--pid',
          '--fork',
          '--uts',
          '--kill-child',
          '--mount-proc',
          '--propagation',
          'private',
          '/bin/sh',
          '-c',
          CONTROL,
          'sh',
          PYTHON,
          host.node,
        ],
        {
          env: {
            ...process.env,
            CANARY: canaries.folder,
            WORK: work,
            TOOLS: tools,
            NEIGHBOUR: JSON.stringify({ id: `${canaries.id}.neighbour`, port: canaries.neighbourPort }),
            HEADRACE_ESCAPE_KEY: canaries.secret,
          },
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      );
      root = child.pid!;
      const gone = once(child, 'close');
      const head = ((await once(child.stdout, 'data')) as [Buffer])[0].toString();
      const at = head.indexOf('\n');
      victims = JSON.parse(head.slice(0, at)) as number[];
      child.stdout.unshift(Buffer.from(head.slice(at + 1)));
      return {
        stdin: child.stdin,
        stdout: child.stdout,
        stop: async () => {
          child.kill('SIGKILL');
          await gone;
        },
      };
    },
  };
}

/** Prints the victims' pids first. */
const CONTROL = `cd "$CANARY/cwd"; S=$(cat "$CANARY/secret.txt")
${victimsLine(VICTIMS)}
trap '' USR1
sleep 300 | HEADRACE_TOKEN="$S" "$2" --disable-sigusr1 "$TOOLS/neighbour.cjs" >"$WORK/ready" &
i=0; until [ -s "$WORK/ready" ] || [ $i -ge 200 ]; do sleep 0.05; i=$((i+1)); done
GROUNDS=$(sed "s/\\"@\\"/$V/" "$WORK/grounds.json"); export GROUNDS; unset S
echo "$V"
"$1" "$TOOLS/inside.py" "$WORK/probes.json" 9<"$CANARY/secret.txt"
`;

/** The checks from outside. */
function outside(canaries: Canaries, shared: Shared, victims: () => number[]): Place['isDone'] {
  const before = stateOf(shared);
  return async ({ outside: check, victim }: Probe & { victim?: number }) => {
    if (check === undefined) return false;
    if ('victim' in check) {
      const pids = victims();
      return isHarmed(check, pids[victim!]!, pids[0]!);
    }
    const text = (path: string): string => readFileSync(path, 'utf8');
    switch (check.changed) {
      case 'target':
        return text(join(canaries.folder, 'target.txt')) !== 'untouched\n';
      case 'linked':
        return statSync(join(canaries.folder, 'secret.txt')).nlink > 1;
      case 'neighbour':
        return text(join(canaries.other, 'target.txt')) !== 'untouched\n';
      case 'neighbourHome':
        return text(join(canaries.otherHome, 'target.txt')) !== 'untouched\n';
      case 'pty':
        return canaries.touched.has('terminal');
      case 'shm':
        return canaries.touched.has('shm');
      default:
        return stateOf(shared)[check.changed] !== before[check.changed];
    }
  };
}

function stateOf({ guest, etc, node }: Shared): Record<keyof Shared, string> {
  const folder = (path: string): string => {
    const hash = createHash('sha256');
    for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const file = join(entry.parentPath, entry.name),
        { size, mtimeMs, mode } = lstatSync(file);
      hash.update(`${file} ${size} ${mtimeMs} ${mode}\n`);
    }
    return hash.digest('hex');
  };
  const { size, mtimeMs } = statSync(node);
  return { guest: folder(guest), etc: folder(etc), node: `${size} ${mtimeMs}` };
}
