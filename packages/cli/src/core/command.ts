/**
 * Commands as data: help, completion, the reference and the parser read the same table. A command's code is imported
 * when it runs, so `--help` loads none of it.
 */
import type { Cli } from './cli.ts';
import { GLOBAL_OPTIONS } from './options.ts';
import type { Completes, Options, Values } from './options.ts';

/** `NAME` is required, `[NAME]` is not, and `NAME...` takes all that follow. */
export type Arguments<A extends readonly string[]> = {
  -readonly [K in keyof A]: A[K] extends `${string}...` | `[${string}...]`
    ? string[]
    : A[K] extends `[${string}]`
      ? string | undefined
      : string;
};

export interface Input<A extends readonly string[] = readonly string[], O extends Options = Options> {
  args: Arguments<A>;
  options: Values<O>;
  /** What follows `--`; empty without it. */
  rest: string[];
}

export type Group =
  | 'Start'
  | 'Source'
  | 'Threads'
  | 'Applies'
  | 'Builds'
  | 'Events'
  | 'Repositories'
  | 'Automation'
  | 'Organization'
  | 'Any operation'
  | 'Operator';

interface Spec<A extends readonly string[], O extends Options> {
  /** One or two words. */
  name: string;
  group: Group;
  /** One sentence without an object of its own: `Create an app`. */
  summary: string;
  /** More than the summary, in paragraphs. */
  details?: string;
  args?: A;
  /** What each argument is; the key is its name. */
  argHelp?: Readonly<Record<string, string>>;
  argCompletes?: Readonly<Record<string, Completes>>;
  /** What follows `--`, for example `COMMAND...`. */
  rest?: string;
  options?: O;
  /** Command lines that work as they are. At least one. */
  examples: readonly string[];
  /** What the command works with: an app (`--app`), the service, or nothing remote. */
  scope: 'app' | 'service' | 'none';
  /** Whether only a signed-in person can do it, not a service key. */
  needsSession?: boolean;
  /**
   * Whether it changes something in the service. An interrupted command that is run again then sends its writes
   * with the same keys.
   */
  writes?: boolean;
  /** The operationId whose answer is the document of `--json`; without one, `details` says what it is. */
  answer?: string;
  /** Returns the exit code: of EXIT, or that of a command that ran for this one. */
  run(cli: Cli, input: Input<A, O>): Promise<number | void>;
}
export type Command = Spec<readonly string[], Options>;

/** Types `run` by the command's own arguments and options. */
export const command = <
  const A extends readonly string[] = [],
  const O extends Options = Readonly<Record<string, never>>,
>(
  spec: Spec<A, O>,
): Command => spec;

/** Those that mean something for the command. */
export const globalsOf = ({ scope, writes }: Command): Options =>
  Object.fromEntries(
    Object.entries(GLOBAL_OPTIONS).filter(
      ([name]) =>
        name !== 'version' &&
        (name !== 'app' || scope === 'app') &&
        (name !== 'fresh' || writes === true) &&
        (!['url', 'context'].includes(name) || scope !== 'none'),
    ),
  );
