import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import tools from '../data/tools.json' with { type: 'json' };
import { paginate } from '../shared/paginate.js';
import { searchTools } from '../shared/search.js';
import { memberSchema, toolSchema } from '../shared/schemas.js';
import { fold, shorten } from '../shared/text.js';
import { validate } from '../shared/validate.js';

const names = (query) => searchTools(tools, query).map((tool) => tool.name);

describe('search', () => {
  test('a hit in the name comes first', () => assert.equal(names('drill')[0], 'Cordless drill'));
  test('whole words beat prefixes', () => {
    const found = searchTools([{ name: 'Sawhorse' }, { name: 'Table saw' }], 'saw');
    assert.deepEqual(found.map((tool) => tool.name), ['Table saw', 'Sawhorse']);
  });
  test('every word must be found', () => assert.deepEqual(names('makita saw'), ['Circular saw']));
  test('accents and case do not matter', () => assert.deepEqual(names('KARCHER'), ['Dust extractor']));
  test('no query lists everything', () => assert.equal(names('  ').length, tools.length));
  test('folding keeps what German needs', () => assert.equal(fold('Straße Säge'), 'strasse sage'));
});

describe('lists', () => {
  test('a page past the end is empty', () => {
    assert.deepEqual(paginate([1, 2, 3], 2, 2), { items: [3], page: 2, pageSize: 2, pageCount: 2, total: 3 });
    assert.deepEqual(paginate([1, 2, 3], 9, 2).items, []);
  });
  test('long texts are cut at a word', () => {
    assert.equal(shorten('drills concrete and brick', 18), 'drills concrete…');
    assert.equal(shorten('short', 18), 'short');
  });
});

describe('validation', () => {
  const tool = { name: ' Plane ', category: 'hand', shelf: 'B9', valueCents: '2500' };
  test('cleans and fills in', () => {
    assert.deepEqual(validate(toolSchema, { ...tool, tags: 'Wood, wood,' }), {
      value: { name: 'Plane', brand: '', category: 'hand', description: '', shelf: 'B9', valueCents: 2500, tags: ['wood'], condition: 'good' },
      problems: {},
    });
  });
  test('names every wrong field', () => {
    const { problems } = validate(memberSchema, { name: '', email: 'x', plan: 'gold', password: 'short', role: 'staff' });
    assert.deepEqual(problems, {
      name: 'invalid.required', email: 'invalid.email', plan: 'invalid.choice', password: 'invalid.tooShort', role: 'invalid.unknown',
    });
  });
  test('what is no object has every field missing', () => {
    for (const input of [null, [], 'text', 7]) assert.equal(validate(toolSchema, input).problems.name, 'invalid.required');
  });
});
