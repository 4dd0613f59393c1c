import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Markdown } from './markdown.tsx';
import { segmentsOf } from './safe-text.ts';

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

/** Each tries to become more than text in another way. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'before <b onclick="alert(1)">bold</b> after',
  '<svg><script>alert(1)</script></svg>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<!-- comment --><style>*{display:none}</style>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\nscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:alert(1))',
  '[x](file:///etc/passwd)',
  '[x](blob:http://example.com/1)',
  '[x](//example.com/evil)',
  '[x](/console/apps)',
  '[x][y]\n\n[y]: javascript:alert(1) "title"',
  '<javascript:alert(1)>',
  '![x](javascript:alert(1))',
  '![x](https://example.com/pixel.png)',
  '[![x](javascript:alert(1))](javascript:alert(2))',
  '| a |\n|--|\n| <img src=x onerror=alert(1)> |',
  '# <a href="javascript:alert(1)">x</a>',
  '- <input autofocus onfocus=alert(1)>',
  '```"><script>alert(1)</script>\ncode\n```',
  '`<script>alert(1)</script>`',
  '[x](https://example.com/"onmouseover="alert(1))',
  '[x](https://example.com "\\" onmouseover=\\"alert(1)")',
];

test.each(HOSTILE)('%j stays text', (text) => {
  const shown = html(text);
  // What is left after removing what the page itself makes has no element of the text's.
  expect(shown).not.toMatch(/<(script|img|iframe|style|input|object|embed|form)\b/i);
  for (const [tag] of shown.matchAll(/<[a-z][^>]*>/gi)) expect(tag).not.toMatch(/\son\w+=/i);
  for (const [, href] of shown.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(https?:|mailto:)/);
});

test('HTML is shown as it was written', () => {
  expect(html('a <b>bold</b> word')).toContain('a &lt;b&gt;bold&lt;/b&gt; word');
  expect(html('<div>\nblock\n</div>')).toContain('&lt;div&gt;\nblock\n&lt;/div&gt;');
});

test('links open outside, without a way back', () => {
  const shown = html('[docs](https://example.com/a?b=1&c=2) and [mail](mailto:a@example.com)');
  expect(shown).toContain('href="https://example.com/a?b=1&amp;c=2"');
  expect(shown.match(/target="_blank" rel="noopener noreferrer"/g)).toHaveLength(2);
});

test('an image is a link, nothing is fetched', () => {
  const shown = html('![a cat](https://example.com/cat.png)');
  expect(shown).toContain('href="https://example.com/cat.png"');
  expect(shown).toContain('image: a cat');
});

test('hidden characters are marks', () => {
  expect(html('a\u202Eb')).toContain('RLO');
  expect(html('`a\u200Bb`')).toContain('ZWSP');
  expect(html('```\na\u2066b\n```')).toContain('LRI');
});

test('lists, tables, tasks, headings and code', () => {
  const shown = html(
    '# Title\n\n1. one\n2. two\n\n- [x] done\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n```ts\nconst a = 1 < 2;\n```',
  );
  expect(shown).toMatch(/<h3[^>]*>Title<\/h3>/);
  expect(shown).toMatch(/<ol[^>]*start="1"/);
  expect(shown).toContain('aria-label="done"');
  expect(shown).toMatch(/<td[^>]*text-right[^>]*>2<\/td>/);
  expect(shown).toContain('const a = 1 &lt; 2;');
});

test('long text is read in parts, which show the same', () => {
  const blocks = Array.from(
    { length: 400 },
    (_, i) => `- item ${i}\n\n  more of ${i}\n\n\`\`\`\ncode ${i}\n\n# no heading\n\`\`\`\n\nParagraph ${i}.`,
  );
  const text = blocks.join('\n\n');
  const segments = segmentsOf(text);
  expect(segments.length).toBeGreaterThan(3);
  expect(segments.join('')).toBe(text);
  expect(html(text)).not.toMatch(/<h3/);
  expect(html(text).match(/Paragraph \d+\./g)).toHaveLength(400);
  // A text that grows keeps its parts.
  expect(segmentsOf(`${text}\n\nmore`).slice(0, -1)).toEqual(segments.slice(0, -1));
});

test('a long word has places to break, which split no character', () => {
  const shown = html('😀'.repeat(2_000));
  expect(shown.match(/<wbr/g)!.length).toBeGreaterThanOrEqual(4);
  expect(shown).not.toMatch(/\uFFFD|U\+D8/);
  expect(html('short words '.repeat(200))).not.toContain('<wbr');
});

test.each([
  ['quotes in quotes', '>'.repeat(5_000) + ' deep'],
  ['lists in lists', Array.from({ length: 200 }, (_, i) => `${'  '.repeat(i)}- x`).join('\n')],
  ['open brackets', '['.repeat(12_000)],
  ['stars', '*a '.repeat(4_000)],
  ['backticks', '`a'.repeat(6_000)],
  ['one line of a megabyte', 'x'.repeat(1_000_000)],
])('%s are shown without a long wait', (_, text) => {
  const began = performance.now();
  expect(html(text).length).toBeGreaterThan(0);
  expect(performance.now() - began).toBeLessThan(5_000);
});
