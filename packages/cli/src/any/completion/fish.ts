import type { Lines, Offer } from './lines.ts';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const printed = (offers: readonly Offer[]): string =>
  `printf '%s\\t%s\\n' ${offers.map(({ word, about }) => `${quoted(word)} ${quoted(about)}`).join(' ')}`;

function switchOf(name: string, cases: Iterable<[pattern: string, body: string]>, otherwise: string): string {
  const lines = [...cases].flatMap(([pattern, body]) => [`    case ${pattern}`, `      ${body}`]);
  return [
    `function ${name}`,
    '  switch "$argv[1]"',
    ...lines,
    "    case '*'",
    `      ${otherwise}`,
    '  end',
    'end',
  ].join('\n');
}

export function fishScript({ first, second, names, options, values, arguments: kinds }: Lines): string {
  return [
    '# Completion of headrace for fish. Made by `headrace completion fish`.',
    switchOf('__headrace_is_command', [[names.map(quoted).join(' '), 'return 0']], 'return 1'),
    switchOf(
      '__headrace_words',
      [
        ["''", printed(first)],
        ...[...second].map(([word, offers]): [string, string] => [quoted(word), printed(offers)]),
      ],
      'return 1',
    ),
    switchOf(
      '__headrace_options',
      [...options].map(([name, offers]) => [quoted(name), printed(offers)]),
      'return 1',
    ),
    switchOf(
      '__headrace_value',
      [...values].map(([key, kind]) => [quoted(key), `echo ${quoted(kind)}`]),
      'return 1',
    ),
    // A star in a case is a pattern in fish.
    switchOf(
      '__headrace_argument',
      [...kinds].map(([key, kind]) => [quoted(key), `echo ${quoted(kind)}`]),
      'echo none',
    ),
    FUNCTIONS,
  ].join('\n');
}

const FUNCTIONS = String.raw`function __headrace_fill
  switch "$argv[1]"
    case 'words *'
      string split ' ' -- (string sub -s 7 -- "$argv[1]")
    case file
      __fish_complete_path "$argv[2]"
    case folder
      __fish_complete_directories "$argv[2]" ''
    case app thread context
      command headrace __complete $argv[1] "$argv[2]" $argv[3..] 2>/dev/null
  end
end
function __headrace_complete
  set -l words (commandline -opc)
  set -l cur (string replace -ra '[\'"\\\\]' '' -- (commandline -ct))
  set -l cmd ''
  set -l first ''
  set -l option ''
  set -l n 0
  set -l count 0
  for word in $words[2..]
    if test -n "$option"
      set option ''
    else if test "$word" = --
      __fish_complete_path "$cur"
      return
    else if string match -q -- '-*' "$word"
      __headrace_value "$cmd $word" >/dev/null; and set option $word
    else
      set count (math $count + 1)
      if test $count = 1
        set first $word
        __headrace_is_command "$word"; and set cmd $word
      else if test $count = 2; and __headrace_is_command "$first $word"
        set cmd "$first $word"
      else
        set n (math $n + 1)
      end
    end
  end
  if test -n "$option"
    __headrace_fill (__headrace_value "$cmd $option") "$cur" $words[2..]
  else if string match -q -- '--*=*' "$cur"
    set -l parts (string split -m 1 = -- "$cur")
    for line in (__headrace_fill (__headrace_value "$cmd $parts[1]") "$parts[2]" $words[2..])
      echo "$parts[1]=$line"
    end
  else if string match -q -- '-*' "$cur"
    __headrace_options "$cmd"
  else if test $count = 0
    __headrace_words ''
  else
    test $count = 1; and __headrace_words "$first"
    test -n "$cmd"; and __headrace_fill (__headrace_argument "$cmd $n") "$cur" $words[2..]
  end
end
complete -c headrace -f -k -a '(__headrace_complete)'
`;
