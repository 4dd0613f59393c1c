/** The component in a document, as a user operates it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { Window } from 'happy-dom';

const ROOT = join(import.meta.dirname, '..');
const window = new Window();
for (const name of ['window', 'document', 'navigator', 'HTMLElement', 'HTMLIFrameElement']) Object.defineProperty(globalThis, name, { value: name === 'window' ? window : window[name], configurable: true });
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const { act, createElement } = await import('react');
const { createRoot } = await import('react-dom/client');

let folder;
let ConflictEditor;
before(async () => {
  // Inside the package: React is found from there.
  folder = await mkdtemp(join(ROOT, '.test-'));
  const outfile = join(folder, 'ConflictEditor.js');
  await build({ entryPoints: [join(ROOT, 'ConflictEditor.jsx')], bundle: true, format: 'esm', jsx: 'automatic', packages: 'external', outfile });
  ({ ConflictEditor } = await import(outfile));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
  await window.happyDOM.close();
});

const side = (content) => ({ sha256: content, byteSize: content.length, encoding: 'utf8', executable: false, content });
const text = (path, head, draft) => ({
  path, kind: 'content', base: side('base\n'), head: side(head), draft: side(draft),
  merged: { content: `same\n<<<<<<< head\n${head}=======\n${draft}>>>>>>> draft\n`, regions: [{ fromLine: 2, toLine: 6 }] },
});
const binary = { path: 'logo.png', kind: 'binary', base: null, head: { ...side('x'), encoding: 'base64' }, draft: null, merged: null };

async function show(files, onDecide = () => {}) {
  const place = document.body.appendChild(document.createElement('div'));
  const root = createRoot(place);
  const render = (shown) => act(async () => root.render(createElement(ConflictEditor, { files: shown, onDecide })));
  await render(files);
  const find = (selector, name) => [...place.querySelectorAll(selector)].find((element) => element.textContent.includes(name) || element.getAttribute('aria-label') === name);
  return {
    render,
    find,
    place,
    click: (element) => act(async () => element.click()),
    radio: (path, group, value) => find('fieldset', path).querySelector(`[aria-label="${group}"] input[value="${value}"]`),
    send: () => act(async () => place.querySelector('form').requestSubmit()),
    button: () => find('button', 'Apply'),
  };
}

test('nothing can be applied before all is decided; decisions are by file, by place', async () => {
  const sent = [];
  const { click, radio, button, send, place } = await show([text('a.txt', 'head\n', 'draft\n'), binary], (decisions) => sent.push(decisions));
  assert.equal(button().disabled, true);
  await click(radio('a.txt', 'Place 1', 'both'));
  assert.match(place.textContent, /1 of 2 files open/);
  await click(radio('logo.png', 'The whole file', 'draft'));
  assert.equal(button().disabled, false);
  await send();
  assert.deepEqual(sent, [[{ path: 'a.txt', content: 'same\nhead\ndraft\n' }, { path: 'logo.png', take: 'draft' }]]);
});

test("the user's own text counts once no marker is left in it", async () => {
  const { click, find, button, place } = await show([text('a.txt', 'head\n', 'draft\n')]);
  await click(find('button', 'Write it myself'));
  assert.match(place.textContent, /There are still markers/);
  assert.equal(button().disabled, true);
  const area = place.querySelector('textarea');
  await act(async () => {
    Object.getOwnPropertyDescriptor(window.HTMLTextAreaElement.prototype, 'value').set.call(area, 'own\n');
    area.dispatchEvent(new window.Event('input', { bubbles: true }));
  });
  assert.equal(button().disabled, false);
});

test('what is refused is shown, and after new files only those that changed are open', async () => {
  const { click, radio, send, render, place } = await show([text('a.txt', 'head\n', 'draft\n'), text('b.txt', 'head\n', 'draft\n')], () => {
    throw new Error('The head has moved.');
  });
  await click(radio('a.txt', 'The whole file', 'head'));
  await click(radio('b.txt', 'The whole file', 'head'));
  await send();
  assert.match(place.querySelector('[role=alert]').textContent, /The head has moved/);
  await render([text('a.txt', 'newer\n', 'draft\n'), text('b.txt', 'head\n', 'draft\n')]);
  assert.match(place.textContent, /1 of 2 files open/);
});
