import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { build, bundle, sign } from '../scripts/bundle/build.mjs';
import { takeApart } from '../scripts/bundle/module.mjs';
import { moduleGraph } from '../scripts/bundle/graph.mjs';
import { tokens } from '../scripts/bundle/scan.mjs';
import { minifyCss } from '../scripts/bundle/styles.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');

async function scratch(t) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'workshop-build-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** As much of a browser as the page touches; `settled` resolves when `#app` shows `wanted`. */
function standInBrowser(wanted) {
  const browser = {};
  const shown = new Promise((resolve) => {
    browser.app = {
      set innerHTML(text) {
        if (text.includes(wanted)) resolve(text);
      },
    };
  });
  const root = { dataset: {} };
  const listeners = { addEventListener() {} };
  const context = {
    document: { ...listeners, documentElement: root, querySelector: () => browser.app },
    window: { ...listeners },
    location: { hash: '#/' },
    navigator: { languages: ['de-AT'] },
    fetch: () => Promise.reject(new TypeError('no network')),
    URLSearchParams,
    setTimeout,
  };
  return { context, root, shown };
}

describe('build', () => {
  test('equal sources give equal bytes, and the report tells their sizes', async (t) => {
    const folder = await scratch(t);
    await build(ROOT, path.join(folder, 'one'));
    await build(ROOT, path.join(folder, 'two'));
    const names = (await readdir(path.join(folder, 'one'), { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
    for (const { name, parentPath } of names) {
      const file = path.join(parentPath, name);
      assert.deepEqual(await readFile(file), await readFile(file.replace('/one/', '/two/')), name);
    }
    const report = JSON.parse(await readFile(path.join(folder, 'one/build.json'), 'utf8'));
    assert.equal(Object.keys(report.files).length, names.length - 1);
  });

  test('a signature is the report\'s, by the key', async (t) => {
    const folder = await scratch(t);
    await build(ROOT, folder);
    await sign(folder, 'a release key');
    const report = await readFile(path.join(folder, 'build.json'));
    const expected = createHmac('sha256', 'a release key').update(report).digest('hex');
    assert.equal(await readFile(path.join(folder, 'build.sig'), 'utf8'), `${expected}\n`);
  });

  test('the bundle draws the catalogue in the language of the browser', async () => {
    const { files } = await bundle(ROOT);
    const [name] = [...files.keys()].filter((one) => one.endsWith('.js'));
    const { context, root, shown } = standInBrowser('class="card"');
    vm.runInNewContext(files.get(name), context, { filename: name });
    assert.match(await shown, /Elektrowerkzeug/);
    assert.equal(root.lang, 'de');
    assert.match(files.get('index.html'), new RegExp(`src="\\./${name}"`));
  });
});

describe('bundler', () => {
  test('the scanner tells strings, templates, comments and regular expressions apart', () => {
    const source = 'a = /[/"]/g; b = `x${`}` + "}"}` / 2; // "c"';
    const kinds = [...tokens(source)].filter((token) => token.kind !== 'space').map((token) => token.kind);
    assert.deepEqual(kinds, [
      'word', 'sign', 'regexp', 'sign', 'word', 'sign', 'template', 'sign', 'number', 'sign', 'comment',
    ]);
  });

  test('imports and exports are found, also across lines', () => {
    const source = "import {\n  a,\n  b as c,\n} from './x.js';\nexport const d = `export const no = 1`;\nexport async function e() {}\n";
    const { imports, exports, body } = takeApart('y.js', source);
    assert.deepEqual(imports, [{ target: './x.js', names: [{ imported: 'a', local: 'a' }, { imported: 'b', local: 'c' }] }]);
    assert.deepEqual(exports, ['d', 'e']);
    assert.equal(body, 'const d = `export const no = 1`;\nasync function e() {}');
  });

  test('what it does not understand stops the build', async (t) => {
    assert.throws(() => takeApart('y.js', 'export default 1;'), /does not take/);
    assert.throws(() => takeApart('y.js', "import x from 'left-pad';"), /does not take/);
    assert.throws(() => takeApart('y.js', "const x = () => import('./x.js');"), /does not take/);
    const folder = await scratch(t);
    await writeFile(path.join(folder, 'a.js'), "import { b } from './b.js';\n");
    await writeFile(path.join(folder, 'b.js'), "import { a } from './a.js';\n");
    await assert.rejects(moduleGraph(path.join(folder, 'a.js')), /import cycle: a\.js → b\.js → a\.js/);
  });

  test('CSS keeps its meaning', () => {
    const source = "a , b {\n  width: calc(2 * var(--x) + 1px); /* why */\n  content: ' ; ';\n}\n.c .d:hover {\n  color: red;\n}\n";
    assert.equal(minifyCss(source), "a,b{width:calc(2 * var(--x) + 1px);content:' ; '}.c .d:hover{color:red}");
  });
});
