/** Failures of commands. Help loads this file, so it loads no client: `report.ts` does. */
import { EXIT } from './exit.ts';
import type { Exit } from './exit.ts';

interface FaultParts {
  /** The command or step that helps. */
  hint?: string;
  code?: string;
}

/** A service key: one that was typed by mistake is not repeated, where logs and screens would keep it. */
const KEY = /hrk_[\w-]{8,}/g;

/** A command that cannot go on, with its exit code. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly exit: Exit;
  readonly hint: string | undefined;
  /** For `--json`. */
  readonly code: string;

  constructor(exit: Exit, message: string, { hint, code }: FaultParts = {}) {
    super(message.replace(KEY, 'hrk_…'));
    this.exit = exit;
    this.hint = hint;
    this.code = code ?? CODES[exit] ?? 'failed';
  }
}

const CODES: Readonly<Partial<Record<Exit, string>>> = {
  [EXIT.usage]: 'usage',
  [EXIT.unreachable]: 'unreachable',
  [EXIT.denied]: 'not_signed_in',
  [EXIT.notFound]: 'not_found',
  [EXIT.conflict]: 'conflict',
  [EXIT.busy]: 'busy',
  [EXIT.timeout]: 'timeout',
  [EXIT.interrupted]: 'interrupted',
};

/** The command line is wrong: nothing was sent. */
export const usage = (message: string, hint?: string): Fault =>
  new Fault(EXIT.usage, message, hint === undefined ? {} : { hint });

/** The user pressed Ctrl-C. */
export const interrupted = (hint?: string): Fault =>
  new Fault(EXIT.interrupted, 'Interrupted.', hint === undefined ? {} : { hint });
