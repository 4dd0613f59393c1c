/** `headrace certs`: an authority of one's own, and certificates for the link between workers and runners. */
import { execFile } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hostsOf, roleUri, rolesOf } from '@headrace/runner/tls';
import type { TlsRole } from '@headrace/runner/tls';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';

const OPENSSL_LIMIT_MS = 30_000;
const AUTHORITY = 'ca';
const AUTHORITY_DAYS = 3650;
const DAYS = 365;
const DAY_MS = 86_400_000;
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const HOST = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)*$/i;
const NAME = /^[a-z0-9][a-z0-9._-]{0,100}$/i;

interface Options {
  dir: string | undefined;
  role: TlsRole[];
  host: string[];
  name: string | undefined;
  days: number | undefined;
  renew: boolean;
  revoke: string[];
}

/** What a certificate says, and the name of its files. */
interface Subject {
  name: string;
  roles: TlsRole[];
  hosts: string[];
}

interface Made extends Subject {
  cert: string;
  key: string;
  expiresAt: string;
}

export async function makeCertificates(cli: Cli, options: Options): Promise<void> {
  if (options.dir === undefined)
    throw usage('--dir names the folder for the authority and the certificates.');
  const folder = resolve(options.dir);
  const revoked = await namedForRevocation(folder, options);
  const subjects = options.renew ? await existing(folder, options) : wanted(options);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(folder, '.new-'));
  try {
    const isNew = await makeAuthority(folder, scratch);
    const list = await keepList(folder, scratch, revoked);
    const made: Made[] = [];
    for (const subject of subjects)
      made.push(await makeCertificate({ folder, scratch, days: options.days ?? DAYS }, subject));
    const authority = join(folder, `${AUTHORITY}.crt`);
    const names = revoked.map(({ name }) => name);
    cli.show({ authority, list, isNewAuthority: isNew, certificates: made, revoked: names }, () =>
      [
        `${authority}  ${isNew ? 'a new authority' : 'the authority that was there'}; its key ${AUTHORITY}.key signs: keep it away from the machines`,
        ...(names.length > 0
          ? [
              `${list}  lists ${names.join(', ')} as revoked: copy it to all machines, as HEADRACE_TLS_CRL_FILE`,
            ]
          : []),
        ...made.map(
          ({ cert, roles, hosts, expiresAt }) =>
            `${cert}  ${roles.join(', ')}; ${hosts.join(', ') || 'no host'}; until ${expiresAt.slice(0, 10)}`,
        ),
      ].join('\n'),
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function wanted({ role: roles, host: hosts, name, dir }: Options): Subject[] {
  if (roles.length === 0) {
    if (hosts.length > 0 || name !== undefined) throw usage('--host and --name go with --role.');
    return [];
  }
  const wrong = hosts.find((host) => isIP(host) === 0 && !HOST.test(host));
  if (wrong !== undefined) throw usage(`--host ${wrong} is no host name and no address.`);
  if (hosts.length === 0 && roles.some((role) => role !== 'api'))
    throw usage(
      '--host is missing: workers and runners are connected to, under a name or an address that their certificate has.',
    );
  const called = name ?? [...roles, ...hosts.slice(0, 1)].join('-').replaceAll(/[*:]/g, '_');
  if (!NAME.test(called) || called === AUTHORITY) throw usage(`--name ${called} is no name for files.`);
  const taken = [`${called}.crt`, `${called}.key`].find((file) => existsSync(join(dir!, file)));
  if (taken !== undefined)
    throw new Fault(EXIT.conflict, `${join(dir!, taken)} exists. Nothing was written.`, {
      hint: `To replace it by one that lasts longer: headrace certs --dir ${dir} --renew --name ${called}`,
    });
  return [{ name: called, roles: [...new Set(roles)], hosts: [...new Set(hosts)] }];
}

/** The certificates of the folder, or the named one, which are to be made again. */
async function existing(folder: string, { role, host, name }: Options): Promise<Subject[]> {
  if (role.length + host.length > 0)
    throw usage('--renew keeps roles and hosts: leave out --role and --host.');
  const files: string[] = await readdir(folder).catch(() => []);
  const names = files
    .filter((file) => file.endsWith('.crt') && files.includes(file.replace(/crt$/, 'key')))
    .map((file) => file.slice(0, -'.crt'.length))
    .filter((one) => one !== AUTHORITY && (name === undefined || one === name))
    .toSorted();
  if (names.length === 0)
    throw new Fault(EXIT.notFound, `${folder} holds no certificate${name === undefined ? '' : ` ${name}`}.`);
  return Promise.all(
    names.map(async (one) => {
      const certificate = new X509Certificate(await readFile(join(folder, `${one}.crt`)));
      return { name: one, roles: rolesOf(certificate), hosts: hostsOf(certificate) };
    }),
  );
}

/** Returns whether there was none. */
async function makeAuthority(folder: string, scratch: string): Promise<boolean> {
  const [cert, key] = [join(folder, `${AUTHORITY}.crt`), join(folder, `${AUTHORITY}.key`)];
  if (existsSync(cert) && existsSync(key)) return false;
  if (existsSync(cert) || existsSync(key))
    throw new Fault(
      EXIT.conflict,
      `${folder} holds a part of an authority: ${existsSync(cert) ? key : cert} is missing.`,
    );
  const fresh = { cert: join(scratch, 'ca.crt'), key: join(scratch, 'ca.key') };
  await openssl(
    ['req', '-x509', ...EC, '-keyout', fresh.key, '-out', fresh.cert, '-days', String(AUTHORITY_DAYS)],
    ['-subj', '/CN=Headrace link authority', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
  );
  await place(fresh, { cert, key });
  return true;
}

interface Revoked {
  name: string;
  /** As the list of openssl has it. */
  entry: string;
}

async function namedForRevocation(folder: string, options: Options): Promise<Revoked[]> {
  const { revoke: names, role, host, name, renew } = options;
  if (names.length === 0) return [];
  if (renew || role.length + host.length > 0 || name !== undefined)
    throw usage('--revoke goes alone: leave out --role, --host, --name and --renew.');
  return Promise.all(
    [...new Set(names)].map(async (one) => {
      if (!NAME.test(one) || one === AUTHORITY) throw usage(`--revoke ${one} is no name of a certificate.`);
      const pem = await readFile(join(folder, `${one}.crt`)).catch(() => null);
      if (!pem) throw new Fault(EXIT.notFound, `${folder} holds no certificate ${one}.`);
      const { serialNumber, validToDate } = new X509Certificate(pem);
      return {
        name: one,
        entry: ['R', opensslTime(validToDate), opensslTime(new Date()), serialNumber, 'unknown', '/'].join(
          '\t',
        ),
      };
    }),
  );
}

/** In UTC: with two digits for a year before 2050, as certificates have it. */
function opensslTime(date: Date): string {
  const digits = date.toISOString().replaceAll(/[-:T]|\..*/g, '');
  return `${date.getUTCFullYear() < 2050 ? digits.slice(2) : digits}Z`;
}

/**
 * Adds certificates to the list of revoked ones, which counts as long as the authority; makes an empty list where there
 * is none, so that machines can have it from the beginning. Returns its path.
 */
async function keepList(folder: string, scratch: string, revoked: readonly Revoked[]): Promise<string> {
  const [list, index] = [join(folder, `${AUTHORITY}.crl`), join(folder, 'revoked.txt')];
  if (existsSync(list) && revoked.length === 0) return list;
  const [freshList, freshIndex, settings] = ['ca.crl', 'revoked.txt', 'ca.cnf'].map((name) =>
    join(scratch, name),
  ) as [string, string, string];
  const former = (await readFile(index, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const isListed = ({ entry }: Revoked) =>
    former.some((line) => line.split('\t')[3] === entry.split('\t')[3]);
  const entries = [...former, ...revoked.filter((one) => !isListed(one)).map(({ entry }) => entry)];
  await writeFile(freshIndex, entries.map((entry) => `${entry}\n`).join(''));
  await writeFile(settings, `[ca]\ndefault_ca = own\n[own]\ndatabase = ${freshIndex}\ndefault_md = sha256\n`);
  const authority = join(folder, `${AUTHORITY}.crt`);
  const { validToDate } = new X509Certificate(await readFile(authority));
  const days = Math.max(1, Math.floor((validToDate.getTime() - Date.now()) / DAY_MS));
  await openssl(
    ['ca', '-gencrl', '-config', settings, '-keyfile', join(folder, `${AUTHORITY}.key`), '-cert', authority],
    ['-crldays', String(days), '-out', freshList],
  );
  await chmod(freshList, 0o644);
  // Whoever revokes after a crash in between has all entries.
  await rename(freshIndex, index);
  await rename(freshList, list);
  return list;
}

async function makeCertificate(
  { folder, scratch, days }: { folder: string; scratch: string; days: number },
  subject: Subject,
): Promise<Made> {
  const { name, roles, hosts } = subject;
  const fresh = { cert: join(scratch, `${name}.crt`), key: join(scratch, `${name}.key`) };
  const [request, extensions] = [join(scratch, `${name}.csr`), join(scratch, `${name}.ext`)];
  const names = [
    ...hosts.map((host) => `${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`),
    ...roles.map((role) => `URI:${roleUri(role)}`),
  ];
  await writeFile(
    extensions,
    [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature',
      'extendedKeyUsage=serverAuth,clientAuth',
      `subjectAltName=${names.join(',')}`,
    ].join('\n'),
  );
  await openssl(
    ['req', '-new', ...EC, '-keyout', fresh.key, '-out', request],
    ['-subj', `/CN=${name.slice(0, 64)}`],
  );
  await openssl(
    ['x509', '-req', '-in', request, '-CA', join(folder, 'ca.crt'), '-CAkey', join(folder, 'ca.key')],
    ['-set_serial', `0x${randomBytes(16).toString('hex')}`],
    ['-out', fresh.cert, '-days', String(days), '-extfile', extensions],
  );
  const placed = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  await place(fresh, placed);
  const { validToDate } = new X509Certificate(await readFile(placed.cert));
  return { ...subject, ...placed, expiresAt: validToDate.toISOString() };
}

interface Pair {
  cert: string;
  key: string;
}

/** Each file is whole at any moment: a process that reads them meanwhile goes on with the former pair. */
async function place(fresh: Pair, placed: Pair): Promise<void> {
  await chmod(fresh.key, 0o600);
  await chmod(fresh.cert, 0o644);
  await rename(fresh.key, placed.key);
  await rename(fresh.cert, placed.cert);
}

async function openssl(...args: string[][]): Promise<void> {
  try {
    await promisify(execFile)('openssl', args.flat(), { timeout: OPENSSL_LIMIT_MS });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT')
      throw new Error('openssl is missing: install it (Debian: apt-get install openssl)', { cause: error });
    throw new Error(`openssl failed: ${stderr?.trim().split('\n')[0] ?? (error as Error).message}`, {
      cause: error,
    });
  }
}
