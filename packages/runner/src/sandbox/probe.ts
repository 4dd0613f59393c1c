import { rmSync } from 'node:fs';
import type { RunnerStatus } from '../protocol.ts';
import { WORKSPACE } from './bubblewrap.ts';
import { collect } from './collect.ts';
import { makeSandboxFolder, type Host } from './host.ts';
import { DEFAULT_LIMITS, startSandbox } from './sandbox.ts';

export type Probe = Pick<RunnerStatus, 'driver' | 'ok' | 'missing' | 'limits'>;

/** Prints one fact per line; each must be as `EXPECTED` says for work to be admitted. */
const SCRIPT = `echo uid=$(id -u)
echo caps=$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
echo seccomp=$(sed -n 's/^Seccomp:[^0-9]*//p' /proc/self/status)
echo pid1=$(cat /proc/1/comm)
echo nets=$(ls /proc/sys/net/ipv4/conf 2>/dev/null | grep -v -e all -e default | tr '\\n' ' ')
echo host=$( [ -e /root/. ] || [ -e /home/. -a "$(ls /home)" != agent ] && echo seen || echo hidden)
echo write=$( (: > /usr/x || : > /etc/x || : > /x) 2>/dev/null && echo yes || echo no)
echo userns=$(unshare -U true 2>/dev/null && echo yes || echo no)
echo node=$(node -p 'process.versions.node.split(".")[0] >= 22')`;
const EXPECTED: Record<string, string> = { uid: '1000', caps: '0000000000000000', seccomp: '2', pid1: 'bwrap', nets: 'lo', host: 'hidden', write: 'no', userns: 'no', node: 'true' };

/** Runs a real sandbox and checks from inside that it isolates; nothing runs where it does not. */
export async function probe(host: Host): Promise<Probe> {
  const missing = process.platform === 'linux' ? await faults(host) : ['sandboxes need Linux: run the service in a Linux virtual machine or container'];
  const ok = missing.length === 0;
  const warnings = host.cgroups ? [] : ['no control groups can be made here: memory and processes are bounded by rlimits and a watchdog; delegate a cgroup (systemd-run --user --scope -p Delegate=yes) or run as root'];
  return { driver: ok ? 'bubblewrap' : null, ok, missing, limits: { memory: host.cgroups ? 'cgroup' : 'watchdog', processes: host.cgroups ? 'cgroup' : 'rlimit', warnings } };
}

async function faults(host: Host): Promise<string[]> {
  if (host.bwrap === undefined) return ['install bubblewrap: apt-get install bubblewrap'];
  const folder = makeSandboxFolder(host, 'probe');
  try {
    const sandbox = startSandbox(host, { command: ['/bin/sh', '-c', SCRIPT], binds: [{ host: folder, inside: WORKSPACE, readOnly: true }], limits: DEFAULT_LIMITS });
    sandbox.stdin.end();
    const { stdout, stderr, code } = await collect(sandbox, { maxBytes: 64 * 1024, timeoutMs: 20_000 });
    const facts = Object.fromEntries(stdout.toString().split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).trim()]));
    if (code !== 0 && stdout.length === 0) return [remedy(stderr)];
    return Object.entries(EXPECTED).filter(([name, value]) => facts[name] !== value).map(([name, value]) => `the sandbox does not isolate: ${name} is ${JSON.stringify(facts[name])}, not ${value}`);
  } catch (error) {
    return [`the sandbox does not start: ${(error as Error).message}`];
  } finally { rmSync(folder, { recursive: true, force: true }); }
}

function remedy(stderr: string): string {
  const said = stderr.trim().slice(0, 500);
  if (/disable-userns|Unknown option/i.test(said)) return `install bubblewrap 0.8 or newer (this one said: ${said})`;
  if (/permission|not permitted|user namespace|No space left/i.test(said)) return `allow unprivileged user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=15000 (bubblewrap said: ${said})`;
  return `the sandbox does not start: ${said}`;
}
