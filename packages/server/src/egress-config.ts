/**
 * The part `egress` of the configuration file: which private hosts and registries of the operator sandboxes
 * may reach, and which authorities they trust.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Type from 'typebox';
import type { Static } from 'typebox';

const closed = { additionalProperties: false };
/** A name, also of one part, whose last part is no number: no address, however written. */
const NAME = String.raw`([A-Za-z0-9_]([A-Za-z0-9_\-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z]([A-Za-z0-9\-]{0,61}[A-Za-z0-9])?`;
const Registry = Type.Optional(Type.String({ format: 'uri', pattern: '^https?://', maxLength: 2000 }));

export const Egress = Type.Object(
  {
    private: Type.Optional(
      Type.Array(Type.String({ pattern: String.raw`^(\*\.)?${NAME}$`, maxLength: 253 }), { maxItems: 1000 }),
    ),
    caFile: Type.Optional(Type.String({ minLength: 1 })),
    registries: Type.Optional(Type.Object({ npm: Registry, pypi: Registry }, closed)),
  },
  closed,
);

export interface EgressConfig {
  /** Names, or `*.` and a name: what may have private addresses. */
  private: string[];
  /** PEM, certificates alone; null: nothing but the system's. */
  authorities: string | null;
  /** What mode `registries` opens; null where the operator has none of that kind. */
  registries: { npm: string | null; pypi: string | null };
}

export const NO_EGRESS: EgressConfig = {
  private: [],
  authorities: null,
  registries: { npm: null, pypi: null },
};

type Say = (place: string, message: string) => void;

/** Reads the part. Faults are said with their place; paths are relative to `folder`. */
export function readEgress(
  { private: names = [], caFile, registries = {} }: Static<typeof Egress>,
  folder: string,
  say: Say,
): EgressConfig {
  for (const kind of ['npm', 'pypi'] as const) {
    const url = registries[kind];
    const fault = url === undefined ? null : registryFault(new URL(url), names);
    if (fault !== null) say(`/egress/registries/${kind}`, fault);
  }
  return {
    private: names,
    authorities: caFile === undefined ? null : readAuthorities(resolve(folder, caFile), say),
    registries: { npm: registries.npm ?? null, pypi: registries.pypi ?? null },
  };
}

/** Plain HTTP, and ports of other services, are for the operator's own network alone. */
function registryFault({ protocol, hostname, port }: URL, names: string[]): string | null {
  if (!new RegExp(`^${NAME}$`).test(hostname)) return 'has to name its host by a name, not by an address';
  const isPrivate = names.some((name) => {
    const wanted = name.toLowerCase();
    return wanted.startsWith('*.') ? hostname.endsWith(wanted.slice(1)) : hostname === wanted;
  });
  if (isPrivate || (protocol === 'https:' && port === '')) return null;
  return `may have ${protocol === 'http:' ? 'http:' : 'a port'} only if egress.private names ${hostname}`;
}

/** The file's certificates and nothing else of it: a key next to them must reach no sandbox. */
function readAuthorities(file: string, say: Say): string | null {
  try {
    const text = readFileSync(file, 'utf8');
    const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (found.length > 0) return found.map((one) => new X509Certificate(one).toString()).join('');
    say('/egress/caFile', `${file} holds no certificate in PEM`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    say(
      '/egress/caFile',
      code.startsWith('E') && !code.startsWith('ERR_')
        ? `${file} cannot be read (${code})`
        : `${file} holds a certificate that cannot be read`,
    );
  }
  return null;
}
