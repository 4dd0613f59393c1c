/** The rig's own test: what goes wrong in a page is seen, and the proxy breaks what it is told to break. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, openVisit } from './browser.ts';
import { browserTest } from './rig.ts';
import type { Visit } from './browser.ts';
import { axe, open, tooWide } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Fault, Proxy } from './proxy.ts';

let upstream: Server;
let proxy: Proxy;
/** What the upstream answers at `/page`. */
let page = '';
/** Frames of each stream. */
const FRAMES = [1, 2, 3].map((i) => `id: cursor-${i}\nevent: run.running\ndata: {"i":${i}}\n\n`);

beforeAll(async () => {
  upstream = createServer(({ url }, response) => {
    if (url!.startsWith('/page'))
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'",
        })
        .end(page);
    else if (url!.startsWith('/script.js'))
      response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(
          "console.error('said'); Promise.reject(new Error('unhandled')); setTimeout(() => { throw new Error('thrown') })",
        );
    else if (url!.includes('/events/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(FRAMES.join(''));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  proxy = await startProxy(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
});
afterEach(() => proxy.plan(() => null));
afterAll(async () => {
  await proxy.close();
  upstream.close();
  upstream.closeAllConnections();
});

describe('a visit', () => {
  let visit: Visit | undefined;
  const see = async (html: string, width = 1280) => {
    page = `<!doctype html><html lang="en"><title>Test</title><link rel="icon" href="data:,"><main id="root">${html}</main>`;
    const browser = await launchBrowser();
    visit = await openVisit(browser, { base: proxy.base, width });
    visit.allows(/img-src.*data/, /violates.*data:/);
    await open(visit, '/page');
    return { visit, browser };
  };

  browserTest('reports what a page says, throws, rejects, lacks and is refused', async () => {
    const { visit: seen, browser } = await see(
      '<h1 style="color: red">Test</h1><script src="/script.js"></script><script src="/missing.js"></script>',
    );
    await seen.page.waitForLoadState('load');
    await expect
      .poll(() => seen.problems().join('\n'))
      .toMatch(/csp: style-src[^]*GET \/missing\.js: 404[^]*|GET \/missing\.js: 404[^]*csp: style-src/);
    await expect.poll(() => seen.problems().join('\n')).toMatch(/console: said/);
    await expect.poll(() => seen.problems().join('\n')).toMatch(/error: Error: unhandled/);
    await expect.poll(() => seen.problems().join('\n')).toMatch(/error: Error: thrown/);
    await expect(seen.close()).rejects.toThrow('The page had problems');
    await browser.close();
  });

  browserTest('lets pass what a test allows; axe and the width speak under a strict policy', async () => {
    const { visit: seen, browser } = await see(
      '<h1>Test</h1><img src="/missing.png"><table><tr><td>a-very-long-word-that-does-not-break-'.concat(
        'x'.repeat(60),
        '</table>',
      ),
      320,
    );
    seen.allows(/missing\.png: csp/, /img-src/);
    expect((await axe(seen.page)).join('\n')).toMatch(/image-alt/);
    expect((await tooWide(seen.page))[0]).toMatch(/^page: \d+ > 320/);
    await seen.close();
    await browser.close();
  });
});

describe('the proxy', () => {
  const STREAM = '/api/platform/v1/events/stream?cursor=a';
  const once = (fault: Fault) => {
    let left = 1;
    proxy.plan(() => (left-- > 0 ? fault : null));
  };
  /** The text of a stream until it has this many characters, or ends. */
  const read = async (characters: number) => {
    const aborted = new AbortController();
    const { body } = await fetch(proxy.base + STREAM, { signal: aborted.signal });
    let text = '';
    try {
      for await (const part of body!) {
        text += Buffer.from(part).toString();
        if (text.length >= characters) break;
      }
    } catch {
      text += '|cut';
    }
    aborted.abort();
    return text;
  };
  const whole = FRAMES.join('');

  test('passes on what it is not told to break', async () => {
    expect(await read(whole.length)).toBe(whole);
  });
  test('cuts within a frame', async () => {
    once({ kind: 'cut', after: 70 });
    expect(await read(Infinity)).toBe(`${whole.slice(0, 70)}|cut`);
  });
  test.each(['cut', 'stall'] as const)('a %s before the first byte passes none', async (kind) => {
    once({ kind, after: 0 });
    const reading = read(Infinity).catch(() => '|cut');
    if (kind === 'stall') {
      await expect.poll(() => proxy.streams().open).toBe(1);
      setTimeout(() => proxy.release(), 50);
    }
    expect(await reading).toBe('|cut');
  });
  test('repeats the last frames of a feed', async () => {
    await read(whole.length);
    once({ kind: 'repeat' });
    expect(await read(2 * whole.length)).toBe(whole + whole);
  });
  test('stalls, and ends stalled streams when told', async () => {
    once({ kind: 'stall', after: 20 });
    const reading = read(Infinity);
    await expect.poll(() => proxy.streams().open).toBe(1);
    setTimeout(() => proxy.release(), 50);
    expect(await reading).toBe(`${whole.slice(0, 20)}|cut`);
  });
  test('answers as the service does', async () => {
    once({ kind: 'answer', status: 429, code: 'rate_limited', retryAfterSeconds: 7 });
    const answer = await fetch(proxy.base + STREAM);
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toMatchObject([
      429,
      '7',
      { ok: false, error: { code: 'rate_limited' } },
    ]);
  });
  test('refuses one request, or all', async () => {
    once({ kind: 'refuse' });
    await expect(fetch(proxy.base + STREAM)).rejects.toThrow();
    proxy.goAway(true);
    await expect(fetch(proxy.base + STREAM)).rejects.toThrow();
    proxy.goAway(false);
    expect((await fetch(`${proxy.base}/page`)).status).toBe(200);
  });
});
