/** Secrets that the service shows once: alone on stdout, so that a script can store them; the rest is talk. */
import type { Cli } from './cli.ts';
import { EXIT } from './exit.ts';
import type { Exit } from './exit.ts';

interface Shown {
  /** For messages: `key`. */
  what: string;
  /** Undefined: an earlier answer had it, and was lost. */
  secret: string | undefined;
  /** The API's answer, for --json. */
  document: Record<string, unknown>;
  /** What it belongs to. */
  about: string;
  /** The command that makes another one. */
  again: string;
}

export function showSecret(cli: Cli, { what, secret, document, about, again }: Shown): Exit {
  cli.say(about);
  if (cli.isJson) cli.show(document, () => '');
  else if (secret !== undefined) cli.print(secret);
  if (secret !== undefined) {
    cli.say(cli.paintTalk('yellow', `Store the ${what} now: it is not shown again.`));
    return EXIT.done;
  }
  cli.say(`The ${what} was in an answer that did not arrive, and is not shown again. → ${again}`);
  return EXIT.failed;
}
