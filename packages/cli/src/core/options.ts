/** Options of commands, and the types of their values. */

export interface Option {
  type: 'boolean' | 'string' | 'number' | 'duration';
  short?: string;
  /** What the value is called, for example `ID`. */
  value?: string;
  help: string;
  /** May be given several times. */
  multiple?: boolean;
  choices?: readonly string[];
  /** Of a number. */
  min?: number;
  max?: number;
  /** What its value names, for completion. */
  completes?: Completes;
}
export type Options = Readonly<Record<string, Option>>;
export type Completes = 'app' | 'thread' | 'file' | 'folder' | 'context';

type ValueOf<O extends Option> = O['type'] extends 'boolean'
  ? boolean
  : O['type'] extends 'number' | 'duration'
    ? number
    : O extends { choices: readonly (infer C)[] }
      ? C
      : string;
/** Durations are in milliseconds. */
export type Values<O extends Options> = {
  [K in keyof O]: O[K] extends { multiple: true }
    ? ValueOf<O[K]>[]
    : O[K]['type'] extends 'boolean'
      ? boolean
      : ValueOf<O[K]> | undefined;
};
/** Every command takes them. */
export const GLOBAL_OPTIONS = {
  app: {
    type: 'string',
    short: 'a',
    value: 'APP',
    help: 'the app: an id, the first 8 characters of one, ~NAME or @last',
    completes: 'app',
  },
  url: { type: 'string', value: 'URL', help: 'the address of the service' },
  context: {
    type: 'string',
    value: 'NAME',
    help: 'the sign-in to use, of `headrace context list`',
    completes: 'context',
  },
  json: { type: 'boolean', help: 'print one JSON document, in the shape of the API' },
  jsonl: { type: 'boolean', help: 'print a list or a stream as JSON lines' },
  quiet: { type: 'boolean', short: 'q', help: 'print only data and errors' },
  yes: { type: 'boolean', short: 'y', help: 'answer yes to questions' },
  'no-color': { type: 'boolean', help: 'print no colours; NO_COLOR does the same' },
  fresh: { type: 'boolean', help: 'do not continue an interrupted run of the same command' },
  help: { type: 'boolean', short: 'h', help: 'print this help' },
  version: { type: 'boolean', help: 'print the version of headrace' },
} as const satisfies Options;
export type Globals = Values<typeof GLOBAL_OPTIONS>;

/** What names a thread; `THREAD_DEFAULT` where it may be left out. */
export const THREAD = 'an id, the first 8 characters of one, ~TITLE or @last';
export const THREAD_DEFAULT = `${THREAD}; by default @last`;

/** Of commands that list. */
export const LIST_OPTIONS = {
  limit: { type: 'number', short: 'L', value: 'N', help: 'how many to print (30)', min: 1, max: 100_000 },
} as const satisfies Options;

/** Of commands that take a whole body. */
export const INPUT_OPTION = {
  input: {
    type: 'string',
    value: 'FILE',
    help: 'the JSON body of the request, from a file or - for stdin; options win over it',
    completes: 'file',
  },
} as const satisfies Options;
