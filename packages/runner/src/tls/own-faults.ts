import type { TlsCredentials } from './credentials.ts';
import type { TlsRole } from './peer-roles.ts';

interface Use {
  roles: readonly TlsRole[];
  /** Where peers connect to this process; absent where none does. */
  host?: string;
}

/** Why peers would refuse this process's certificate, each as a sentence; none where they would not. */
export function ownFaults(tls: TlsCredentials, { roles, host }: Use, now = new Date()): string[] {
  const { files, facts } = tls;
  const faults: string[] = [];
  const missing = roles.filter((role) => !facts.roles.includes(role));
  if (missing.length > 0)
    faults.push(`${files.cert} is of the role ${facts.roles.join(', ')}, not of ${missing.join(', ')}.`);
  if (facts.expiresAt <= now)
    faults.push(`${files.cert} has expired, on ${facts.expiresAt.toISOString()}: renew it.`);
  if (facts.validFrom > now)
    faults.push(`${files.cert} is not valid before ${facts.validFrom.toISOString()}: is this clock right?`);
  if (facts.isRevoked) faults.push(`${files.cert} is revoked, by ${files.crl}.`);
  const until = tls.revocations?.goodUntil;
  if (until && until <= now)
    faults.push(
      `${files.crl} is out of date since ${until.toISOString()}, so everybody is refused: replace it.`,
    );
  if (facts.isSigned === false) faults.push(`${files.cert} is not signed by an authority of ${files.ca}.`);
  if (host !== undefined && !facts.isFor(host))
    faults.push(`${files.cert} is not for the host ${host}, but for ${facts.hosts.join(', ') || 'none'}.`);
  return faults;
}
