/** What `headrace doctor` says of the link between workers and runners, where there are several machines. */
import { addressText, askPeer, ownFaults, parseAddress, TlsCredentials } from '@headrace/runner/tls';
import type { Config } from '@headrace/server/config.ts';
import type { MachinesConfig } from '@headrace/server/machines-config.ts';
import type { Finding } from './findings.ts';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** The certificate, and for a runner whether each worker answers and takes it. */
export async function examineLink(
  { roles }: Pick<Config, 'roles'>,
  machines: MachinesConfig,
): Promise<Finding[]> {
  let tls: TlsCredentials;
  try {
    tls = new TlsCredentials(machines.tls);
  } catch (error) {
    return [{ name: 'certificate', ok: false, detail: (error as Error).message, warnings: [] }];
  }
  const certificate = examineCertificate(tls, roles, machines);
  if (!roles.has('runner')) return [certificate];
  return [certificate, ...(await Promise.all(machines.workers.map((worker) => examineWorker(tls, worker))))];
}

function examineCertificate(tls: TlsCredentials, roles: Config['roles'], machines: MachinesConfig): Finding {
  const faults = ownFaults(tls, {
    roles: [...roles],
    ...(roles.has('runner') && { host: parseAddress(machines.runner.address)!.host }),
  });
  const { facts } = tls;
  const apiHost = roles.has('api') ? parseAddress(machines.api.address)!.host : null;
  const daysTo = (date: Date) => Math.floor((date.getTime() - Date.now()) / DAY_MS);
  const isSoon = (days: number) => days >= 0 && days < SOON_DAYS;
  const days = daysTo(facts.expiresAt);
  const until = tls.revocations?.goodUntil;
  const listDays = until ? daysTo(until) : Infinity;
  return {
    name: 'certificate',
    ok: faults.length === 0,
    detail:
      faults.join(' ') ||
      `${facts.roles.join(', ')}, for ${facts.hosts.join(', ') || 'no host'}, until ${facts.expiresAt.toISOString().slice(0, 10)}`,
    warnings: [
      ...(apiHost !== null && !facts.isFor(apiHost)
        ? [
            `it is not for ${apiHost}, so other machines do not reach the hosts that connect here: set HEADRACE_API_ADDRESS`,
          ]
        : []),
      ...(isSoon(days) ? [`it expires in ${days} days: renew it`] : []),
      ...(isSoon(listDays) ? [`${tls.files.crl} is out of date in ${listDays} days: replace it`] : []),
    ],
  };
}

async function examineWorker(
  tls: TlsCredentials,
  worker: MachinesConfig['workers'][number],
): Promise<Finding> {
  const name = `worker ${addressText(worker)}`;
  try {
    await askPeer({ ...worker, tls }, 'worker');
    return { name, ok: true, detail: 'answers', warnings: [] };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message, warnings: [] };
  }
}
