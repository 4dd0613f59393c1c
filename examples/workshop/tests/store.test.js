import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openApp } from '../server/app.js';
import { readData } from '../server/store/json-file.js';
import { createStore } from '../server/store/memory-store.js';

async function scratch(t) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'workshop-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('memory store', () => {
  test('ids are never used twice', () => {
    const store = createStore({ tools: [{ id: 't-7' }] });
    store.transaction(() => {
      assert.equal(store.tools.insert({}).id, 't-8');
      store.tools.remove('t-8');
      assert.equal(store.tools.insert({}).id, 't-9');
    });
  });

  test('a transaction that throws leaves nothing behind', () => {
    let commits = 0;
    const store = createStore({ tools: [{ id: 't-1', name: 'Saw' }] }, { onCommit: () => (commits += 1) });
    assert.throws(() => store.transaction(() => {
      store.tools.update('t-1', { name: 'Axe' });
      store.transaction(() => store.loans.insert({ toolId: 't-1' }));
      throw new Error('no');
    }), /no/);
    assert.equal(store.tools.get('t-1').name, 'Saw');
    assert.equal(store.loans.count(), 0);
    assert.equal(commits, 0);
  });

  test('records are written in transactions only', () => {
    const store = createStore({ tools: [{ id: 't-1' }] });
    assert.throws(() => store.tools.update('t-1', {}), /outside a transaction/);
    assert.throws(() => { store.tools.get('t-1').name = 'x'; }, TypeError);
  });
});

describe('data file', () => {
  test('what was committed is there after a restart', async (t) => {
    const dataFile = path.join(await scratch(t), 'deep/library.json');
    const options = { dataFile, demoPassword: 'borrow-a-drill', passwordCost: 2 };
    const first = await openApp(options);
    for (let count = 0; count < 20; count += 1) {
      first.ctx.store.transaction(() => first.ctx.store.closures.insert({ date: '2030-01-01', reason: `${count}` }));
    }
    await first.settled();
    const second = await openApp(options);
    assert.deepEqual(second.ctx.store.dump(), first.ctx.store.dump());
    assert.deepEqual(await readdir(path.dirname(dataFile)), ['library.json']);
  });

  test('a broken file is an error, not an empty library', async (t) => {
    const file = path.join(await scratch(t), 'library.json');
    await writeFile(file, '{"tools": [');
    await assert.rejects(readData(file), /cannot read/);
  });
});
