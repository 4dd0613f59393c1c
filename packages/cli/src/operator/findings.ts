/** What `headrace doctor` finds. */
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';

export interface Finding {
  name: string;
  ok: boolean;
  /** What was found, or what to do. */
  detail: string;
  /** It works, but not as well as it could. */
  warnings: string[];
}

/** Fails if something required is missing. */
export function showFindings(cli: Cli, findings: readonly Finding[]): Exit {
  const width = Math.max(...findings.map(({ name }) => name.length));
  cli.show({ findings }, () =>
    findings
      .flatMap(({ name, ok, detail, warnings }) => [
        `${ok ? cli.paint('green', 'ok     ') : cli.paint('red', 'missing')}  ${name.padEnd(width)}  ${detail}`,
        ...warnings.map((warning) => `${cli.paint('yellow', 'warning')}  ${name.padEnd(width)}  ${warning}`),
      ])
      .join('\n'),
  );
  return findings.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}
