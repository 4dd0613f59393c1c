/** Bodies that are no JSON of ours, or say a thing twice: broken in their bytes. */
import type { Random } from '../../../harness/random.ts';
import type { Operation } from '../document.ts';
import { requestOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import { due, INVALID_BODY } from './mutation.ts';
import type { Broken, Mutation } from './mutation.ts';
import { closedObjects, placesOf, token } from './places.ts';
import type { Place } from './places.ts';

const MARK = '@the place@';
const NUL = '\\u0000';
const LONE = ['\\ud800', '\\udfff', '\\udc00\\ud800', '\\uD83D', 'a\\udbffb'];
const NO_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80]];
const NO_NUMBER = [
  'NaN',
  'Infinity',
  '-Infinity',
  '01',
  '1.',
  '.5',
  '+1',
  '0x10',
  '1e',
  '--1',
  '1_000',
  'undefined',
  "'text'",
  '`text`',
  'True',
];
const HUGE = ['1e400', '-1e400', '1e309', '123456789012345678901234567890', `1${'0'.repeat(400)}`];
const NO_OBJECT = [
  'null',
  'true',
  '0',
  '"text"',
  '[]',
  '[{}]',
  '{}{}',
  '{},',
  '{',
  '}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  '/* */{}',
  '{}//',
  '\ufeff{}',
  ' ',
  '\u00a0',
  '{"a":1,}',
  '"',
  '[',
  '{}\0',
  '\0',
];
/** In a file's content NUL is content. */
const MAY_HOLD_NUL = /^\/(files|changes)\/\d+\/content$/;

const takesJson = ({ body }: Operation) => body !== null;
const hasMembers = ({ body }: Operation) => Object.keys(body?.schema.properties ?? {}).length > 0;

const sent = (specimen: Specimen, bytes: Buffer, at: string[] | undefined): Broken => ({
  request: requestOf(specimen, bytes),
  operation: specimen.operation,
  ...INVALID_BODY,
  at,
});

/** The body with `raw` as the JSON of one of its values. */
function withRaw(
  specimen: Specimen,
  random: Random,
  isRight: (place: Place) => boolean,
  raw: Buffer | string,
): Broken | undefined {
  const body = structuredClone(specimen.body!);
  const places = placesOf(body, specimen.operation.body!.schema).filter(isRight);
  if (places.length === 0) return undefined;
  const place = random.pick(places);
  place.set(MARK);
  const [before, after] = JSON.stringify(body).split(`"${MARK}"`) as [string, string];
  return sent(
    specimen,
    Buffer.concat([Buffer.from(before), Buffer.from(raw), Buffer.from(after)]),
    due([place.pointer]),
  );
}

const ofNoPlace = (broken: Broken | undefined): Broken | undefined => broken && { ...broken, at: [''] };
const isLeaf = ({ value }: Place) => value === null || typeof value !== 'object';
const jsonOf = ({ body }: Specimen) => JSON.stringify(body);

/** One member given twice, next to itself. */
function twice(specimen: Specimen, random: Random): Broken | undefined {
  const body = structuredClone(specimen.body!);
  const objects = closedObjects(body, specimen.operation.body!.schema).filter(
    ({ value }) => Object.keys(value).length > 0,
  );
  if (objects.length === 0) return undefined;
  const { pointer, value } = random.pick(objects);
  const name = random.pick(Object.keys(value));
  const again =
    random.next() < 0.5 ? JSON.stringify(value[name]) : random.pick(['null', '1', '"other"', '{}']);
  value[MARK] = MARK;
  return sent(
    specimen,
    Buffer.from(
      JSON.stringify(body).replace(
        `"${MARK}":"${MARK}"`,
        () => `${random.next() < 0.5 ? JSON.stringify(name) : escaped(name)}:${again}`,
      ),
    ),
    [`${pointer}/${token(name)}`],
  );
}
/** The same name in other letters. */
const escaped = (name: string) =>
  `"${[...name].map((one) => [...Array(one.length).keys()].map((i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')).join('')}"`;

function unknownName(specimen: Specimen, name: string): Broken {
  const body = jsonOf(specimen);
  return sent(specimen, Buffer.from(`{${name}:1${body === '{}' ? '' : ','}${body.slice(1)}`), undefined);
}

export const TEXT_MUTATIONS: Mutation[] = [
  {
    name: 'NUL',
    weight: 2,
    fits: hasMembers,
    apply: (specimen, random) =>
      withRaw(
        specimen,
        random,
        (p) => isLeaf(p) && !MAY_HOLD_NUL.test(p.pointer),
        random.pick([`"a${NUL}b"`, `"${NUL}"`, `"${'a'.repeat(30)}${NUL}"`]),
      ),
  },
  { name: 'NUL in a name', fits: takesJson, apply: (specimen) => unknownName(specimen, `"a${NUL}"`) },
  {
    name: 'raw control character',
    fits: hasMembers,
    apply: (specimen, random) =>
      ofNoPlace(withRaw(specimen, random, isLeaf, `"a${random.pick(['\0', '\n', '\u0001', '\u001f'])}b"`)),
  },
  {
    name: 'lone surrogate',
    weight: 2,
    fits: hasMembers,
    apply: (specimen, random) => withRaw(specimen, random, isLeaf, `"${random.pick(LONE)}"`),
  },
  {
    name: 'lone surrogate in a name',
    fits: takesJson,
    apply: (specimen, random) => unknownName(specimen, `"${random.pick(LONE)}"`),
  },
  { name: 'member given twice', weight: 2, fits: hasMembers, apply: twice },
  {
    name: 'invalid UTF-8',
    weight: 2,
    fits: hasMembers,
    apply: (specimen, random) =>
      ofNoPlace(withRaw(specimen, random, isLeaf, Buffer.from([0x22, ...random.pick(NO_UTF8), 0x22]))),
  },
  {
    name: 'no number',
    fits: hasMembers,
    apply: (specimen, random) => ofNoPlace(withRaw(specimen, random, isLeaf, random.pick(NO_NUMBER))),
  },
  {
    name: 'huge number',
    fits: hasMembers,
    apply: (specimen, random) => {
      const raw = random.pick(HUGE);
      // Where any JSON goes, a large number that is finite goes too.
      const isWrong = ({ value, schema }: Place) =>
        typeof value === 'number' && (schema.type !== undefined || !Number.isFinite(Number(raw)));
      return withRaw(specimen, random, isWrong, raw);
    },
  },
  {
    name: 'deep nesting',
    weight: 0.5,
    fits: hasMembers,
    apply: (specimen, random) => {
      // Public operations refuse a body of more than 16 KiB for its size.
      const depth = random.pick(specimen.operation.isPublic ? [70, 1000] : [70, 1000, 20_000]);
      return ofNoPlace(
        withRaw(
          specimen,
          random,
          () => true,
          random.next() < 0.5
            ? '['.repeat(depth) + ']'.repeat(depth)
            : '{"a":'.repeat(depth) + '0' + '}'.repeat(depth),
        ),
      );
    },
  },
  {
    name: 'cut off',
    weight: 2,
    fits: takesJson,
    apply: (specimen, random) => {
      const json = Buffer.from(jsonOf(specimen));
      return sent(specimen, json.subarray(0, 1 + random.below(json.length - 1)), ['']);
    },
  },
  {
    name: 'more behind it',
    fits: takesJson,
    apply: (specimen, random) =>
      sent(
        specimen,
        Buffer.from(jsonOf(specimen) + random.pick(['x', '{}', ',', ']', '\0', '//', ' null'])),
        [''],
      ),
  },
  {
    name: 'no object',
    fits: takesJson,
    apply: (specimen, random) => sent(specimen, Buffer.from(random.pick(NO_OBJECT)), ['']),
  },
  {
    name: 'garbage',
    fits: takesJson,
    apply: (specimen, random) =>
      sent(
        specimen,
        Buffer.from(Array.from({ length: 1 + random.below(300) }, () => 128 + random.below(128))),
        [''],
      ),
  },
];
