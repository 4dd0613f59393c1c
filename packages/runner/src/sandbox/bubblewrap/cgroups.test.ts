/**
 * Version 2 as a container has it: a group that its namespace shows as the root, with several processes. The kernel's rules
 * are the same for every controller; on a host whose memory controller is in version 1, another one is used.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

const HIERARCHY = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((path) =>
  existsSync(join(path, 'cgroup.controllers')),
);
const OFFERED = HIERARCHY
  ? readFileSync(join(HIERARCHY, 'cgroup.controllers'), 'utf8').trim().split(/\s+/).filter(Boolean)
  : [];
const CONTROLLERS = ['memory', 'pids'].every((one) => OFFERED.includes(one))
  ? ['memory', 'pids']
  : OFFERED.filter((one) => one === 'hugetlb');
const SOURCE = join(import.meta.dirname, 'cgroups.ts');
const scratch = mkdtempSync(join(tmpdir(), 'hr-cgroups-'));
const group = `headrace-test-${process.pid}`;

/** Whether this machine lets a test make groups, and a container's view of them. */
function isPossible(): boolean {
  if (process.getuid?.() !== 0 || HIERARCHY === undefined || CONTROLLERS.length === 0) return false;
  if (spawnSync('unshare', ['--mount', '--cgroup', 'true']).status !== 0) return false;
  try {
    writeFileSync(join(HIERARCHY, 'cgroup.subtree_control'), CONTROLLERS.map((one) => `+${one}`).join(' '));
    mkdirSync(join(HIERARCHY, group));
    return true;
  } catch {
    return false;
  }
}
const can = isPossible();
if (!can) process.stderr.write('cgroups.test.ts: groups of version 2 cannot be tried here\n');
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
  if (can) for (const path of [join(group, 'headrace-host'), group]) removeGroup(join(HIERARCHY!, path));
});

/** What is in it has ended, or is about to. */
function removeGroup(path: string): void {
  for (const deadline = Date.now() + 5_000; existsSync(path) && Date.now() < deadline;)
    try {
      rmdirSync(path);
    } catch {
      /* not empty yet */
    }
}

interface Seen {
  parent: { version: number; folders: string[] } | null;
  /** Of the parent group: what its children may limit. */
  enabled: string;
  /** Processes at the root and in the leaf. */
  atRoot: string[];
  inLeaf: string[];
  own: string;
}

/** Runs it in a container's place, twice, with a shell and another process beside; returns what it saw each time. */
async function inContainer(): Promise<Seen[]> {
  const mount = join(scratch, 'cgroup');
  mkdirSync(mount, { recursive: true });
  const program = join(scratch, 'program.mjs');
  writeFileSync(
    program,
    `import { readFileSync } from 'node:fs';
     const { versionTwo, removeCgroupParent } = await import(${JSON.stringify(SOURCE)});
     const mount = ${JSON.stringify(mount)};
     const lines = (path) => { try { return readFileSync(mount + path, 'utf8').trim().split('\\n').filter(Boolean); } catch { return []; } };
     const parent = versionTwo('headrace-sandboxes', { mount, controllers: ${JSON.stringify(CONTROLLERS)} }) ?? null;
     const enabled = parent ? readFileSync(parent.folders[0] + '/cgroup.subtree_control', 'utf8').trim() : '';
     console.log(JSON.stringify({ parent, enabled, atRoot: lines('/cgroup.procs'), inLeaf: lines('/headrace-host/cgroup.procs'),
       own: readFileSync('/proc/self/cgroup', 'utf8').split('\\n').find((line) => line.startsWith('0::')) }));
     if (parent) removeCgroupParent(parent);`,
  );
  const script =
    `echo $$ > ${HIERARCHY}/${group}/cgroup.procs && exec unshare --mount --cgroup sh -c '` +
    `mount -t cgroup2 none ${mount} && { sleep 60 & beside=$!; "$@"; "$@"; kill $beside; }' sh "$@"`;
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', script, 'sh', process.execPath, '--disable-warning=ExperimentalWarning', program],
    { timeout: 30_000 },
  );
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Seen);
}

describe.runIf(can)("at a container's root", () => {
  test('all processes move to a leaf, and groups below get controllers, also at the next start', async () => {
    const [first, second, ...rest] = await inContainer();
    expect(rest).toEqual([]);
    for (const seen of [first!, second!]) {
      expect(seen.parent).toMatchObject({
        version: 2,
        folders: [join(scratch, 'cgroup/headrace-sandboxes')],
      });
      expect(seen.enabled.split(' ').sort()).toEqual([...CONTROLLERS].sort());
      // The shell, the process beside it, and the program.
      expect([seen.atRoot, seen.inLeaf.length]).toEqual([[], 3]);
      expect(seen.own).toBe('0::/headrace-host');
    }
  });
});
