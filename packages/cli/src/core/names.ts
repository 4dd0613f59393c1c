/** What people type for a thing: its id, the beginning of one, `~` and a part of its name, or `@last`. */
import { EXIT } from './exit.ts';
import { Fault, usage } from './fault.ts';
import { oneLine } from '../terminal/escape.ts';

export interface Named {
  id: string;
  /** Name or title. */
  label: string | null;
}
export interface Kind {
  /** For messages: `app`. */
  what: string;
  /** The prefix of its ids, with `_`. */
  prefix: string;
  /** The newest first; `query` restricts it to names that contain it, if the operation can. */
  list(query: string | undefined): AsyncIterable<Named>;
  /** The one that the user worked with last. */
  last?(): string | undefined;
  /** The command that shows them. */
  listing: string;
}

/** After its prefix. */
const ID_LENGTH = 26;
const LEAST_OF_ID = 8;
/** A beginning of an id is looked up among so many. */
const LOOKED_AT = 2_000;

export async function idOf(text: string, kind: Kind): Promise<string> {
  if (text === '@last') {
    const id = kind.last?.();
    if (id === undefined) throw usage(`There is no last ${kind.what} here yet.`, kind.listing);
    return id;
  }
  if (text.startsWith('~')) return byName(text.slice(1), kind);
  if (text.startsWith(kind.prefix) && text.length === kind.prefix.length + ID_LENGTH) return text;
  return byBeginning(text, kind);
}

async function byName(name: string, kind: Kind): Promise<string> {
  if (name === '') throw usage(`Name the ${kind.what} after the \`~\`.`);
  const found: Named[] = [];
  const wanted = name.toLowerCase();
  for await (const one of kind.list(name)) {
    const label = one.label?.toLowerCase();
    if (label === wanted) return one.id;
    if (label?.includes(wanted)) found.push(one);
    if (found.length > 5) break;
  }
  return single(found, `named ${JSON.stringify(name)}`, kind);
}

async function byBeginning(text: string, kind: Kind): Promise<string> {
  const start = text.startsWith(kind.prefix) ? text : kind.prefix + text;
  if (start.length - kind.prefix.length < LEAST_OF_ID)
    throw usage(
      `${JSON.stringify(text)} is no ${kind.what}: give its id, at least ${LEAST_OF_ID} characters of it, or ~NAME.`,
      kind.listing,
    );
  const found: Named[] = [];
  let seen = 0;
  for await (const one of kind.list(undefined)) {
    if (one.id.startsWith(start)) found.push(one);
    if (++seen === LOOKED_AT) break;
  }
  return single(found, `whose id begins with ${JSON.stringify(text)}`, kind);
}

function single(found: readonly Named[], which: string, { what, listing }: Kind): string {
  const [one, ...others] = found;
  if (!one) throw new Fault(EXIT.notFound, `There is no ${what} ${which}.`, { hint: listing });
  if (others.length === 0) return one.id;
  const some = found.slice(0, 5).map(({ id, label }) => `${id} ${oneLine(label ?? '')}`.trim());
  throw usage(
    `Several ${what.replace(/y$/, 'ie')}s are ${which}: ${some.join(', ')}.`,
    'Give the id of one.',
  );
}
