import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bind } from './driver.ts';
import type { Host } from './host.ts';
import { insideRoot } from './inside-root.ts';

/** Where a sandbox finds the certificates that it trusts in addition to the system's. */
const TRUST = '/opt/headrace/trust';
const OWN = 'authorities.pem',
  ALL = 'bundle.pem';
/** Where programs look that read no variable: Debian and Alpine, Fedora, openSUSE. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
];
/** By path in a root file system, and by path in an /etc. */
const ROOT_BUNDLES = Object.fromEntries(BUNDLES.map((path) => [path, path]));
const ETC_BUNDLES = Object.fromEntries(BUNDLES.map((path) => [path.slice('/etc'.length), path]));

/**
 * Makes programs trust more authorities. Node, and npm with it, add to their own; the others replace theirs,
 * and get a bundle with the system's.
 */
const ENV: Record<string, string> = {
  NODE_EXTRA_CA_CERTS: `${TRUST}/${OWN}`,
  SSL_CERT_FILE: `${TRUST}/${ALL}`,
  CURL_CA_BUNDLE: `${TRUST}/${ALL}`,
  GIT_SSL_CAINFO: `${TRUST}/${ALL}`,
  PIP_CERT: `${TRUST}/${ALL}`,
  REQUESTS_CA_BUNDLE: `${TRUST}/${ALL}`,
};

/** What a sandbox needs to trust these certificates (PEM), with this machine's system or a runtime's. */
export function trustOf(
  host: Host,
  authorities: string,
  root: string | null,
): { env: Record<string, string>; binds: Bind[] } {
  const own = bundlesIn(host.etc, ETC_BUNDLES);
  const found = root === null ? own : bundlesIn(root, ROOT_BUNDLES);
  const system = (found.length > 0 ? found : own)[0]?.text ?? '';
  const folder = join(
    host.base,
    `trust-${createHash('sha256').update(system).update(authorities).digest('hex')}`,
  );
  if (!existsSync(folder)) {
    const part = `${folder}.part`;
    mkdirSync(part, { recursive: true, mode: 0o755 });
    writeFileSync(join(part, OWN), authorities, { mode: 0o644 });
    writeFileSync(join(part, ALL), `${system}${authorities}`, { mode: 0o644 });
    renameSync(part, folder);
  }
  const seen = (from: string, inside: string): Bind => ({ host: from, inside, readOnly: true });
  return {
    env: ENV,
    binds: [seen(folder, TRUST), ...found.map(({ inside }) => seen(join(folder, ALL), inside))],
  };
}

/** The system's own bundles below a folder, and their paths inside a sandbox. Links are followed inside of it. */
function bundlesIn(folder: string, paths: Record<string, string>): { inside: string; text: string }[] {
  return Object.entries(paths).flatMap(([path, inside]) => {
    const file = insideRoot(folder, path);
    // A link has nothing that could be mounted on; what it leads to is mounted on by its own name.
    if (file !== join(folder, path) || !statSync(file).isFile()) return [];
    return [{ inside, text: `${readFileSync(file, 'utf8').trimEnd()}\n` }];
  });
}
