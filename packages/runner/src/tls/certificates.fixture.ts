import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from './credentials.ts';

interface Made {
  /** Subject alternative names, as openssl writes them. */
  names: string[];
  /** From now on; a negative number makes one that has expired. */
  days?: number;
}

const openssl = (...args: string[][]): void => {
  execFileSync('openssl', args.flat(), { stdio: ['ignore', 'ignore', 'pipe'] });
};

/** An authority made by openssl in this folder, which signs certificates there. */
export class TestAuthority {
  readonly ca: string;
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name = 'ca') {
    this.#folder = folder;
    this.#name = name;
    this.ca = join(folder, `${name}.crt`);
    if (existsSync(this.ca)) return;
    openssl(
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ['-keyout', this.#path('key'), '-out', this.ca, '-days', '30', '-subj', `/CN=${name}`],
      ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
    );
  }

  #path(extension: string): string {
    return join(this.#folder, `${this.#name}.${extension}`);
  }

  /** The files of a certificate; made again, they replace those of that name. */
  sign(name: string, { names, days = 30 }: Made): TlsFiles {
    const files = {
      cert: join(this.#folder, `${name}.crt`),
      key: join(this.#folder, `${name}.key`),
      ca: this.ca,
    };
    const request = join(this.#folder, `${name}.csr`);
    const extensions = join(this.#folder, `${name}.ext`);
    openssl(
      ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ['-keyout', files.key, '-out', request, '-subj', `/CN=${name}`],
    );
    writeFileSync(extensions, `subjectAltName=${names.join(',')}\n`);
    openssl(
      ['x509', '-req', '-in', request, '-CA', this.ca, '-CAkey', this.#path('key'), '-out', files.cert],
      ['-extfile', extensions, '-days', String(days)],
    );
    return files;
  }

  /** The list that revokes these certificates, as a file; it replaces a former one of that name. */
  revoke(
    revoked: readonly TlsFiles[],
    { name = 'list', days = 30 }: { name?: string; days?: number } = {},
  ): string {
    const [list, index, settings] = ['crl', 'index', 'cnf'].map((end) =>
      join(this.#folder, `${name}.${end}`),
    ) as [string, string, string];
    const serials = revoked.map(({ cert }) => new X509Certificate(readFileSync(cert)).serialNumber);
    writeFileSync(
      index,
      serials.map((serial) => `R\t490101000000Z\t250101000000Z\t${serial}\tunknown\t/\n`).join(''),
    );
    writeFileSync(settings, `[ca]\ndefault_ca = own\n[own]\ndatabase = ${index}\ndefault_md = sha256\n`);
    const valid =
      days > 0
        ? ['-crldays', String(days)]
        : ['-crl_lastupdate', '250101000000Z', '-crl_nextupdate', '250102000000Z'];
    openssl(
      ['ca', '-gencrl', '-config', settings, '-keyfile', this.#path('key'), '-cert', this.ca],
      [...valid, '-out', `${list}.new`],
    );
    renameSync(`${list}.new`, list);
    return list;
  }

  /** A certificate of these roles for this machine. */
  of(...roles: string[]): TlsFiles {
    return this.sign(roles.join('-'), {
      names: ['DNS:localhost', 'IP:127.0.0.1', ...roles.map((role) => `URI:headrace://role/${role}`)],
    });
  }
}
