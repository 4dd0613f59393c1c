/** Text that must stay text, in every field that a user, an agent or a command makes. */
import type { Client } from '@headrace/client';
import { makeApp, sh, untilThread } from './ground.ts';
import type { App } from './ground.ts';

/** Each would call `xss()` or leave an element with `data-xss` if a page took it for markup, an address or code. */
export const PAYLOADS = [
  '<img src=x onerror=xss() data-xss>',
  '<script data-xss>xss()</script>',
  '"><svg/onload=xss() data-xss>',
  "'-xss()-'",
  '</textarea></title></style><iframe srcdoc="<script>parent.xss()</script>" data-xss></iframe>',
  '[click](javascript:xss())',
  '![image](javascript:xss())',
  '<a href="javascript:xss()" data-xss>link</a>',
  '<javascript:xss()>',
  '[data](data:text/html,<script>xss()</script>)',
  '{{constructor.constructor("xss()")()}}',
  '${xss()}',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=xss() data-xss>',
  '<details open ontoggle=xss() data-xss>',
  '&lt;img src=x onerror=xss()&gt;',
  '__proto__',
  'constructor',
] as const;

/** Texts that mislead, or make a page wide or high. */
export const MISLEADING = {
  /** Ends in `.exe`, but would be shown as if it ended in `txt`. */
  rightToLeft: 'invoice\u202Etxt.exe',
  /** Directional isolates around a letter. */
  isolate: 'a\u2066b\u2069c',
  /** Characters of no width: it looks like the word without them. */
  zeroWidth: 'pay\u200B\u2060pal\uFEFF',
  arabic: 'مرحبا بالعالم',
  long: 'W'.repeat(200),
  /** Four people, joined to one sign. */
  emoji: '👩‍👩‍👧‍👦 family',
  combining: `Z${'\u0335'.repeat(60)}algo`,
} as const;

/** Of the app and of the thread: pages have to show them as they are. */
export const [NAME, TITLE] = [PAYLOADS[0], PAYLOADS[2]];

export interface Hostile {
  app: App;
  /** With a message of every payload, and tools whose output is one. */
  threadId: string;
  buildId: string;
  /** It failed. */
  setupId: string;
  /** What the thread's run has left. */
  latestSourceId: string;
}

/** An app whose every text is hostile. */
export async function hostileApp(client: Client): Promise<Hostile> {
  const files = [
    ...PAYLOADS.filter((text) => !/["<>|:*?\\]/.test(text)).map((text, i) => ({
      path: `p${i}/${text}`,
      content: text,
    })),
    { path: `img src=x onerror=xss()/${MISLEADING.arabic}.txt`, content: PAYLOADS.join('\n') },
    { path: `${'very-long-folder-name/'.repeat(8)}${'n'.repeat(80)}.ts`, content: 'x\n' },
    { path: `${MISLEADING.emoji}.txt`, content: 'family\n' },
    { path: 'long-line.js', content: `const a = "${'x'.repeat(200_000)}";\n` },
  ];
  const app = await makeApp(client, NAME, files);
  await client.environment.set(app.id, 'SHOWN', {
    value: [...PAYLOADS, ...Object.values(MISLEADING)].join(' '),
  });
  await client.apps.update(app.id, { metadata: { '<b data-xss>': PAYLOADS[1] } });
  const { thread } = await client.threads.create(app.id, {
    title: TITLE,
    message: {
      content: [
        ...PAYLOADS,
        ...Object.values(MISLEADING),
        sh(`printf '%s\\n' '${PAYLOADS[1]}' "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\x1b[1000D"`),
        sh('head -c 300000 /dev/zero | tr "\\0" y'),
        `\`\`\`file notes.md\n${PAYLOADS.join('\n\n')}\n\`\`\``,
      ].join('\n\n'),
    },
  });
  const { latestSourceId } = await untilThread(
    client,
    app,
    thread.id,
    (now) => now.latestRunId !== null && now.status === 'ready',
  );
  const build = await client.builds
    .create(app.id, thread.id, {
      command: `mkdir dist && echo '${PAYLOADS[1]}' && printf '\\033]8;;javascript:xss()\\033\\\\link\\033]8;;\\033\\\\\\n' && cp notes.md 'dist/img src=x onerror=xss().md'`,
      outputDirectory: 'dist',
    })
    .done();
  await client.settings.update(app.id, {
    setup: {
      command: `echo '${PAYLOADS[1]}' && printf '\\033]8;;javascript:xss()\\033\\\\link\\033]8;;\\033\\\\\\n'; exit 1 # ${Object.values(MISLEADING).join(' ')}`,
      paths: ['img src=x onerror=xss()/'],
    },
  });
  const setup = await client.setups.create(app.id).done();
  return {
    app,
    threadId: thread.id,
    buildId: build.id,
    setupId: setup.id,
    latestSourceId: latestSourceId!,
  };
}

/** Before any script of the page: what a payload that runs would leave behind. */
export const TRAP = `window.xss = () => { window.__xss = (window.__xss ?? 0) + 1; console.error('a payload ran'); };
for (const name of ['alert', 'confirm', 'prompt']) window[name] = window.xss;`;

/** What payloads have left in a page. Empty is good. */
export const FOUND = `[
  ...(window.__xss ? ['a payload ran ' + window.__xss + ' times'] : []),
  ...[...document.querySelectorAll('[data-xss], a[href^="javascript:" i], a[href^="data:" i], iframe[srcdoc], img[src^="javascript:" i]')]
    .map((el) => el.outerHTML.slice(0, 200)),
]`;
