import { rmSync } from 'node:fs';
import type { RunnerStatus } from '../protocol.ts';
import { collect } from './collect.ts';
import { DEFAULT_LIMITS, WORKSPACE, type Driver } from './driver.ts';
import { makeSandboxFolder, type Host } from './host.ts';

export type Probe = Pick<RunnerStatus, 'driver' | 'ok' | 'missing' | 'limits'>;

/** Prints one fact per line; work is admitted only when each is as in `EXPECTED`. */
const SCRIPT = `echo uid=$( [ "$(id -u)" -ne 0 ] && echo user || echo root)
echo caps=$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
echo seccomp=$(sed -n 's/^Seccomp:[^0-9]*//p' /proc/self/status)
echo processes=$( [ "$(ls /proc | grep -c '^[0-9]')" -lt 16 ] && echo own || echo all)
echo nets=$(ls /proc/sys/net/ipv4/conf 2>/dev/null | grep -v -e all -e default | tr '\\n' ' ')
echo host=$( [ -e /root/. ] || [ -e /home/. -a "$(ls /home)" != agent ] && echo seen || echo hidden)
echo write=$( (: > /usr/x || : > /etc/x || : > /x) 2>/dev/null && echo yes || echo no)
echo userns=$(unshare -U true 2>/dev/null && echo yes || echo no)
echo node=$(node -p 'process.versions.node.split(".")[0] >= 22')`;
const EXPECTED: Record<string, string> = {
  uid: 'user',
  caps: '0000000000000000',
  seccomp: '2',
  processes: 'own',
  nets: 'lo',
  host: 'hidden',
  write: 'no',
  userns: 'no',
  node: 'true',
};

/** Runs a real sandbox of this driver and checks from inside that it isolates; otherwise nothing runs. */
export async function probe(host: Host, driver: Driver): Promise<Probe> {
  const missing =
    process.platform === 'linux'
      ? await faults(host, driver)
      : ['sandboxes need Linux: run the service in a Linux virtual machine or container'];
  const ok = missing.length === 0;
  return { driver: ok ? driver.name : null, ok, missing, limits: driver.limits };
}

async function faults(host: Host, driver: Driver): Promise<string[]> {
  let folder: string | undefined;
  try {
    const lacking = await driver.missing();
    if (lacking.length > 0) return lacking;
    folder = makeSandboxFolder(host, 'probe');
    const sandbox = driver.start({
      command: ['/bin/sh', '-c', SCRIPT],
      binds: [{ host: folder, inside: WORKSPACE, readOnly: true }],
      limits: DEFAULT_LIMITS,
    });
    sandbox.stdin.end();
    const { stdout, stderr, code } = await collect(sandbox, { maxBytes: 64 * 1024, timeoutMs: 20_000 });
    const facts = Object.fromEntries(
      stdout
        .toString()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).trim()]),
    );
    if (code !== 0 && stdout.length === 0) return [driver.remedy(stderr.trim().slice(0, 500))];
    return Object.entries(EXPECTED)
      .filter(([name, value]) => facts[name] !== value)
      .map(
        ([name, value]) =>
          `the sandbox does not isolate: ${name} is ${JSON.stringify(facts[name])}, not ${value}`,
      );
  } catch (error) {
    return [`the sandbox does not start: ${(error as Error).message}`];
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
