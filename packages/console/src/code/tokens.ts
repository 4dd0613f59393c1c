/** Lezer's trees as classes of characters. Runs in the worker; tests call it directly. */
import type { Parser, Tree, TreeFragment } from '@lezer/common';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import type { Language } from './language.ts';
import { MAX_HIGHLIGHTED, MAX_HIGHLIGHTED_LINE } from './limits.ts';
import { lineStarts } from './lines.ts';

/**
 * Coloured pieces of a text. Those of line `n` are `spans[3 * lines[n]]` to `spans[3 * lines[n + 1]]`: from and to
 * within the line, and the class.
 */
export interface Highlights {
  lines: Uint32Array;
  spans: Uint32Array;
}

const STYLE = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.self, tags.null, tags.bool, tags.atom], class: '1' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue, tags.url], class: '2' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], class: '3' },
  { tag: [tags.number, tags.color, tags.escape, tags.unit], class: '4' },
  {
    tag: [
      tags.typeName,
      tags.className,
      tags.tagName,
      tags.namespace,
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.function(tags.definition(tags.variableName)),
      tags.definition(tags.propertyName),
      tags.macroName,
      tags.labelName,
    ],
    class: '5',
  },
  { tag: [tags.heading, tags.strong], class: '6' },
]);

/** Highlights `text`, as far as `milliseconds` reach; null for texts that stay plain. */
export async function highlight(
  text: string,
  language: Language,
  milliseconds: number,
): Promise<Highlights | null> {
  if (text.length > MAX_HIGHLIGHTED || hasLongLine(text)) return null;
  const parser = await PARSERS[language]();
  return collect(text, parseFor(parser, text, performance.now() + milliseconds));
}

function parseFor(parser: Parser, text: string, deadline: number): Tree {
  const parse = parser.startParse(text, [] as TreeFragment[]);
  for (;;) {
    const tree = parse.advance();
    if (tree !== null) return tree;
    if (performance.now() > deadline && parse.stoppedAt === null) parse.stopAt(parse.parsedPos);
  }
}

function collect(text: string, tree: Tree): Highlights {
  const starts = lineStarts(text);
  const lines = new Uint32Array(starts.length + 1);
  const spans: number[] = [];
  let line = 0;
  highlightTree(tree, STYLE, (from, to, classes) => {
    // A piece over several lines is one in each.
    for (let at = from; at < to;) {
      while (line + 1 < starts.length && starts[line + 1]! <= at) lines[++line] = spans.length / 3;
      const end = Math.min(to, line + 1 < starts.length ? starts[line + 1]! - 1 : text.length);
      if (end > at) spans.push(at - starts[line]!, end - starts[line]!, Number(classes.at(-1)));
      at = end + 1;
    }
  });
  while (line < starts.length) lines[++line] = spans.length / 3;
  return { lines, spans: Uint32Array.from(spans) };
}

function hasLongLine(text: string): boolean {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    if ((end < 0 ? text.length : end) - at > MAX_HIGHLIGHTED_LINE) return true;
    if (end < 0) return false;
    at = end + 1;
  }
  return false;
}

const script = (dialect: string) => async () => {
  const { parser } = await import('@lezer/javascript');
  return dialect === '' ? parser : parser.configure({ dialect });
};

const PARSERS: Record<Language, () => Promise<Parser>> = {
  javascript: script('jsx'),
  typescript: script('ts'),
  jsx: script('jsx'),
  tsx: script('ts jsx'),
  css: async () => (await import('@lezer/css')).parser,
  sass: async () => (await import('@lezer/sass')).parser.configure({ dialect: 'indented' }),
  scss: async () => (await import('@lezer/sass')).parser,
  html: () => htmlParser(),
  json: async () => (await import('@lezer/json')).parser,
  markdown: async () => (await import('@lezer/markdown')).parser,
  python: async () => (await import('@lezer/python')).parser,
  rust: async () => (await import('@lezer/rust')).parser,
  cpp: async () => (await import('@lezer/cpp')).parser,
  java: async () => (await import('@lezer/java')).parser,
  php: async () => {
    const [{ parser }, { parseMixed }, html] = await Promise.all([
      import('@lezer/php'),
      import('@lezer/common'),
      htmlParser(),
    ]);
    return parser.configure({
      wrap: parseMixed((node) =>
        node.type.isTop ? { parser: html, overlay: (inner) => inner.name === 'Text' } : null,
      ),
    });
  },
  go: async () => (await import('@lezer/go')).parser,
  xml: async () => (await import('@lezer/xml')).parser,
  yaml: async () => (await import('@lezer/yaml')).parser,
};

async function htmlParser(): Promise<Parser> {
  const [{ parser, configureNesting }, css, js] = await Promise.all([
    import('@lezer/html'),
    import('@lezer/css'),
    import('@lezer/javascript'),
  ]);
  const typescript = js.parser.configure({ dialect: 'ts' });
  return parser.configure({
    wrap: configureNesting([
      {
        tag: 'script',
        attrs: ({ lang, type }) => lang === 'ts' || type === 'text/typescript',
        parser: typescript,
      },
      { tag: 'script', attrs: ({ type }) => !type || /javascript|module/.test(type), parser: js.parser },
      { tag: 'style', parser: css.parser },
    ]),
  });
}
