import type { X509Certificate } from 'node:crypto';

/** What a process may be to another: the certificate of each names its roles. */
export type TlsRole = 'api' | 'worker' | 'runner';
export const TLS_ROLES: readonly TlsRole[] = ['api', 'worker', 'runner'];

/** The name of a role in a certificate, a URI among its subject's alternative names. */
export const roleUri = (role: TlsRole): string => `headrace://role/${role}`;

/**
 * One alternative name: Node shows the value as JSON where it has characters that could be taken for another
 * name's beginning.
 */
const NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;

/** The alternative names of a certificate, as kind (`DNS`, `URI`, `IP Address`) and value. */
export function alternativeNames(certificate: X509Certificate): { kind: string; value: string }[] {
  const text = certificate.subjectAltName ?? '';
  const names: { kind: string; value: string }[] = [];
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found?.[0]; found = NAME.exec(text)) {
    const [, kind, value] = found as unknown as [string, string, string];
    names.push({ kind, value: value.startsWith('"') ? (JSON.parse(value) as string) : value });
    if (NAME.lastIndex >= text.length) return names;
  }
  // What is not understood names nobody.
  return [];
}

/** The roles that a certificate names. It says nothing about who signed it. */
export function rolesOf(certificate: X509Certificate): TlsRole[] {
  const uris = alternativeNames(certificate)
    .filter(({ kind }) => kind === 'URI')
    .map(({ value }) => value);
  return TLS_ROLES.filter((role) => uris.includes(roleUri(role)));
}

/** The host names and addresses that a certificate names. */
export const hostsOf = (certificate: X509Certificate): string[] =>
  alternativeNames(certificate)
    .filter(({ kind }) => kind === 'DNS' || kind === 'IP Address')
    .map(({ value }) => value);

/** Whether a certificate names one of these roles. */
export const hasRole = (certificate: X509Certificate | undefined, roles: readonly TlsRole[]): boolean =>
  certificate !== undefined && rolesOf(certificate).some((role) => roles.includes(role));
