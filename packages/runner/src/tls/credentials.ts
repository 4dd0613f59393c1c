import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { hostsOf, rolesOf, type TlsRole } from './peer-roles.ts';

/** Paths of PEM files: a certificate (with its chain), its key, and the authorities that sign the peers'. */
export interface TlsFiles {
  cert: string;
  key: string;
  ca: string;
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
  /** Whether it names this host or address. */
  isFor(this: void, host: string): boolean;
}

/** The contents of the files. */
export type TlsPems = TlsFiles;

interface Loaded {
  pems: TlsPems;
  context: SecureContext;
  facts: CertificateFacts;
}

/** Files are looked at again at most this often. */
const LOOK_MS = 1_000;

/**
 * A process's certificate, key and authorities. The files are read again when they have changed: connections
 * from then on have the new ones, those that are open keep theirs. Files that do not fit each other, as in the
 * middle of a renewal, are left out until they do.
 */
export class TlsCredentials {
  readonly files: TlsFiles;
  #loaded: Loaded;
  #seen: string;
  #lookedAt = performance.now();
  #fault: TlsFault | null = null;

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
    } catch (error) {
      this.#fault = error as TlsFault;
    }
    return this.#loaded;
  }
}

/** Changes with each replacement of a file, also by another link as Kubernetes does it. */
function stampOf({ cert, key, ca }: TlsFiles): string {
  return [cert, key, ca]
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
  const facts = factsOf(
    certificate,
    chain.length > 1 ? null : authorities.map((one) => parse(one, files.ca)),
  );
  if (facts.roles.length === 0)
    throw new TlsFault(`${files.cert} names no role: \`headrace certs\` makes certificates that do.`);
  const pems = { cert, key, ca };
  return { pems, context: createSecureContext({ ...pems, minVersion: 'TLSv1.3' }), facts };
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

function factsOf(certificate: X509Certificate, authorities: X509Certificate[] | null): CertificateFacts {
  return {
    roles: rolesOf(certificate),
    hosts: hostsOf(certificate),
    validFrom: certificate.validFromDate,
    expiresAt: certificate.validToDate,
    isSigned: authorities && authorities.some(({ publicKey }) => certificate.verify(publicKey)),
    isFor: (host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined,
  };
}
