import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { hostsOf, rolesOf, type TlsRole } from './peer-roles.ts';
import { Revocations } from './revocations.ts';

/**
 * Paths of PEM files: a certificate (with its chain), its key, the authorities that sign the peers', and their lists of
 * revoked ones.
 */
export interface TlsFiles {
  cert: string;
  key: string;
  ca: string;
  crl?: string | undefined;
}

/** What is wrong with a process's certificate, its key or its authority; names the file. */
export class TlsFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TlsFault';
  }
}

/** Of the process's own certificate. */
export interface CertificateFacts {
  roles: TlsRole[];
  /** Host names and addresses. */
  hosts: string[];
  validFrom: Date;
  expiresAt: Date;
  /** Whether one of the authorities signed it; null where others are between. */
  isSigned: boolean | null;
  isRevoked: boolean;
  /** Whether it names this host or address. */
  isFor(this: void, host: string): boolean;
}

/** The contents of the files. */
export interface TlsPems {
  cert: string;
  key: string;
  ca: string;
  /** Each list by itself: of a text with several, TLS reads the first alone. */
  crl?: string[];
}

interface Loaded {
  pems: TlsPems;
  revocations: Revocations | null;
  context: SecureContext;
  facts: CertificateFacts;
}

/** Files are looked at again at most this often. */
const LOOK_MS = 1_000;

/**
 * A process's certificate, key and authorities. The files are read again when they have changed: connections
 * from then on have the new ones, those that are open keep theirs, unless the peer's certificate was revoked: they end.
 * Files that do not fit each other, as in the middle of a renewal, are left out until they do.
 */
export class TlsCredentials {
  readonly files: TlsFiles;
  #loaded: Loaded;
  #seen: string;
  #lookedAt = performance.now();
  #fault: TlsFault | null = null;
  /** Open connections, with the certificates of their peers. */
  readonly #open = new Map<TLSSocket, X509Certificate>();
  #looking: NodeJS.Timeout | undefined;

  /** Throws TlsFault. */
  constructor(files: TlsFiles) {
    this.files = files;
    this.#seen = stampOf(files);
    this.#loaded = load(files);
  }

  /** The contents that are used; another object once they have changed. */
  get pems(): TlsPems {
    return this.#current().pems;
  }

  /** For the next connection to a peer. */
  get context(): SecureContext {
    return this.#current().context;
  }

  /** Of the certificate that the next connection has. */
  get facts(): CertificateFacts {
    return this.#current().facts;
  }

  /** When the certificate expires, or the list of revoked ones is out of date: afterwards nobody can connect. */
  get goodUntil(): Date {
    const { facts, revocations } = this.#current();
    const until = revocations?.goodUntil;
    return until && until < facts.expiresAt ? until : facts.expiresAt;
  }

  /** Of the peers' certificates; null without such a file. */
  get revocations(): Revocations | null {
    return this.#current().revocations;
  }

  /** Ends the connection as soon as its peer's certificate is revoked. */
  watch(socket: TLSSocket): void {
    const certificate = socket.getPeerX509Certificate();
    if (this.files.crl === undefined || !certificate) return;
    this.#open.set(socket, certificate);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    });
    // A list may have come during the handshake.
    if (this.#current().revocations?.has(certificate)) socket.destroy();
    this.#looking ??= setInterval(() => this.#current(), LOOK_MS).unref();
  }

  #endRevoked(): void {
    const { revocations } = this.#loaded;
    for (const [socket, certificate] of this.#open) if (revocations?.has(certificate)) socket.destroy();
  }

  /** Why the files as they are now are not used; null where they are. */
  get fault(): TlsFault | null {
    this.#current();
    return this.#fault;
  }

  #current(): Loaded {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return this.#loaded;
    this.#lookedAt = now;
    const stamp = stampOf(this.files);
    if (stamp === this.#seen) return this.#loaded;
    try {
      this.#loaded = load(this.files);
      // Only now: files that are half replaced are tried again, whether or not they change.
      this.#seen = stamp;
      this.#fault = null;
      this.#endRevoked();
    } catch (error) {
      this.#fault = error as TlsFault;
    }
    return this.#loaded;
  }
}

/** Changes with each replacement of a file, also by another link as Kubernetes does it. */
function stampOf({ cert, key, ca, crl }: TlsFiles): string {
  return [cert, key, ca, ...(crl === undefined ? [] : [crl])]
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` : '';
    })
    .join('\n');
}

function load(files: TlsFiles): Loaded {
  const cert = read(files.cert, 'certificate');
  const key = read(files.key, 'key');
  const ca = read(files.ca, 'authority');
  const certificate = parse(cert, files.cert);
  const authorities = certificatesIn(ca);
  if (authorities.length === 0) throw new TlsFault(`${files.ca} holds no certificate.`);
  for (const one of authorities)
    if (!parse(one, files.ca).ca) throw new TlsFault(`${files.ca} holds a certificate that is no authority.`);
  let fits: boolean;
  try {
    fits = certificate.checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new TlsFault(`${files.key} holds no readable key.`, { cause });
  }
  if (!fits) throw new TlsFault(`${files.key} is not the key of ${files.cert}.`);
  const chain = certificatesIn(cert);
  const signers = authorities.map((one) => parse(one, files.ca));
  const revocations = files.crl === undefined ? null : readLists(files.crl, files, signers);
  const facts: CertificateFacts = {
    ...factsOf(certificate, chain.length > 1 ? null : signers),
    isRevoked: revocations?.has(certificate) ?? false,
  };
  if (facts.roles.length === 0)
    throw new TlsFault(`${files.cert} names no role: \`headrace certs\` makes certificates that do.`);
  const pems: TlsPems = { cert, key, ca, ...(revocations && { crl: [...revocations.lists] }) };
  const context = createSecureContext({ ...pems, minVersion: 'TLSv1.3' });
  return { pems, context, facts, revocations };
}

/** Each authority needs a list: TLS refuses whom it signed otherwise. */
function readLists(path: string, { ca }: TlsFiles, authorities: X509Certificate[]): Revocations {
  const text = read(path, 'list of revoked certificates');
  let revocations: Revocations;
  try {
    revocations = new Revocations(text);
  } catch (cause) {
    throw new TlsFault(`${path} holds no readable list of revoked certificates.`, { cause });
  }
  const without = authorities.find((authority) => !revocations.isOf(authority));
  if (without)
    throw new TlsFault(
      `${path} holds no list of the authority ${without.subject.replaceAll('\n', ', ')} of ${ca}.`,
    );
  return revocations;
}

const certificatesIn = (pem: string): string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

function read(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new TlsFault(`The ${what} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

function parse(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new TlsFault(`${path} holds no readable certificate.`, { cause });
  }
}

function factsOf(
  certificate: X509Certificate,
  authorities: X509Certificate[] | null,
): Omit<CertificateFacts, 'isRevoked'> {
  return {
    roles: rolesOf(certificate),
    hosts: hostsOf(certificate),
    validFrom: certificate.validFromDate,
    expiresAt: certificate.validToDate,
    isSigned: authorities && authorities.some(({ publicKey }) => certificate.verify(publicKey)),
    isFor: (host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined,
  };
}
