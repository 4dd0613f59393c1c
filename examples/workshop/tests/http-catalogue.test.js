import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startServer } from './support/library.js';

describe('200', () => {
  test('a visitor browses, searches and pages through the catalogue', async (t) => {
    const { visitor } = await startServer(t);
    const { json } = await visitor('GET', '/api/tools?pageSize=5&page=2');
    assert.equal(json.items.length, 5);
    assert.equal(json.total, 25);
    const found = await visitor('GET', '/api/tools?q=hammer&category=power');
    assert.deepEqual(found.json.items.map((tool) => [tool.name, tool.availability]), [['Hammer drill', 'lent']]);
    const free = await visitor('GET', '/api/tools?available=1&pageSize=100');
    assert.ok(free.json.items.every((tool) => tool.availability === 'available'));
  });

  test('a tool says when it comes back and who waits', async (t) => {
    const { visitor } = await startServer(t);
    const { json } = await visitor('GET', '/api/tools/t-1');
    assert.equal(json.backOn, '2026-03-08');
    assert.equal(json.waitingCount, 2);
    assert.deepEqual(json.taken.map((range) => range.kind), ['loan']);
  });

  test('categories count their tools; hours show closures', async (t) => {
    const { visitor } = await startServer(t);
    const categories = (await visitor('GET', '/api/categories')).json;
    assert.equal(categories.reduce((sum, category) => sum + category.tools, 0), 25);
    const { days } = (await visitor('GET', '/api/hours')).json;
    assert.equal(days.length, 14);
    assert.equal(days[6].reason, 'Stocktaking');
  });
});

describe('201', () => {
  test('staff add and change a tool', async (t) => {
    const { signIn } = await startServer(t);
    const staff = await signIn('ines@workshop.example');
    const tool = { name: 'Block plane', category: 'hand', shelf: 'B5', valueCents: 4900 };
    const added = await staff('POST', '/api/tools', tool);
    assert.equal(added.status, 201);
    const changed = await staff('PUT', `/api/tools/${added.json.id}`, { ...tool, condition: 'repair' });
    assert.equal(changed.json.availability, 'repair');
  });
});

describe('refusals', () => {
  test('bad input, bad queries and unknown paths', async (t) => {
    const { signIn, visitor, base } = await startServer(t);
    const staff = await signIn('ines@workshop.example');
    const wrong = await staff('POST', '/api/tools', { name: 'X', category: 'kitchen', shelf: 'Z', valueCents: 1 });
    assert.deepEqual([wrong.status, wrong.json.problems], [422, { category: 'invalid.choice' }]);
    assert.equal((await visitor('GET', '/api/tools?page=0')).status, 400);
    assert.equal((await visitor('GET', '/api/tools/t-999')).status, 404);
    assert.equal((await visitor('PATCH', '/api/tools')).status, 405);
    assert.equal((await visitor('GET', '/etc/passwd')).status, 404);
    const form = await fetch(`${base}/api/session`, { method: 'POST', body: 'email=x', headers: { 'content-type': 'text/plain' } });
    assert.equal(form.status, 415);
    const huge = await staff('POST', '/api/tools', { name: 'x'.repeat(70_000) });
    assert.equal(huge.status, 413);
  });

  test('retiring a tool that is out', async (t) => {
    const { signIn } = await startServer(t);
    const staff = await signIn('ines@workshop.example');
    const body = { name: 'Hammer drill', category: 'power', shelf: 'A1', valueCents: 1, condition: 'retired' };
    assert.equal((await staff('PUT', '/api/tools/t-1', body)).status, 409);
  });
});
