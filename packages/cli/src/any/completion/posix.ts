/** The functions with data that bash and zsh share. */
import type { Lines, Offer } from './lines.ts';

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const printed = (offers: readonly Offer[]): string =>
  `printf '%s\\t%s\\n' ${offers.map(({ word, about }) => `${quoted(word)} ${quoted(about)}`).join(' ')}`;

function switchOf(name: string, cases: Iterable<[pattern: string, body: string]>, otherwise: string): string {
  const lines = [...cases].map(([pattern, body]) => `    ${pattern}) ${body} ;;`);
  return [`${name}() {`, '  case "$1" in', ...lines, `    *) ${otherwise} ;;`, '  esac', '}'].join('\n');
}

/** `add *` matches every place. */
const patternOf = (key: string) => (key.endsWith(' *') ? `${quoted(key.slice(0, -1))}*` : quoted(key));

export function dataFunctions({ first, second, names, options, values, arguments: kinds }: Lines): string {
  return [
    switchOf('_headrace_is_command', [[names.map(quoted).join('|'), 'return 0']], 'return 1'),
    switchOf(
      '_headrace_words',
      [
        ["''", printed(first)],
        ...[...second].map(([word, offers]): [string, string] => [quoted(word), printed(offers)]),
      ],
      'return 1',
    ),
    switchOf(
      '_headrace_options',
      [...options].map(([name, offers]) => [quoted(name), printed(offers)]),
      'return 1',
    ),
    switchOf(
      '_headrace_value',
      [...values].map(([key, kind]) => [quoted(key), `echo ${quoted(kind)}`]),
      'return 1',
    ),
    switchOf(
      '_headrace_argument',
      [...kinds].map(([key, kind]) => [patternOf(key), `echo ${quoted(kind)}`]),
      'echo none',
    ),
  ].join('\n');
}
