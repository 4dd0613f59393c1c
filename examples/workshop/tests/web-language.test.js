import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { routes } from '../server/routes.js';
import { createFormat } from '../web/format.js';
import { createTranslator, MESSAGES, pickLanguage } from '../web/i18n/index.js';
import { readPreferences, savePreferences, THEMES } from '../web/preferences.js';

const holders = (text) => (text.match(/\{\w+\}/g) ?? []).sort();

describe('translations', () => {
  for (const language of ['de', 'fr']) {
    test(`${language} has every text of English, with the same places`, () => {
      assert.deepEqual(Object.keys(MESSAGES[language]), Object.keys(MESSAGES.en));
      for (const [key, text] of Object.entries(MESSAGES.en)) {
        assert.deepEqual(holders(MESSAGES[language][key]), holders(text), key);
      }
    });
  }

  test('plurals, parameters and what is missing', () => {
    const t = createTranslator('de');
    assert.equal(t('loans.late', { count: 1 }), '1 Tag zu spät');
    assert.equal(t('loans.late', { count: 3 }), '3 Tage zu spät');
    assert.equal(t('no.such.key'), 'no.such.key');
    assert.equal(createTranslator('fr')('loans.late', { count: 1_000_000 }), '1000000 jours de retard');
  });

  test('every rule that the handlers name has a text', async () => {
    const { readFile, readdir } = await import('node:fs/promises');
    const root = new URL('..', import.meta.url);
    assert.ok(routes.length > 20);
    for (const folder of ['shared', 'server/services', 'server/handlers', 'server']) {
      for (const name of await readdir(new URL(folder, root))) {
        if (!name.endsWith('.js')) continue;
        const source = await readFile(new URL(`${folder}/${name}`, root), 'utf8');
        for (const [, key] of source.matchAll(/'((?:rule|invalid|error)\.\w+)'/g)) assert.ok(MESSAGES.en[key], `${name}: ${key}`);
      }
    }
  });
});

describe('preferences', () => {
  const storage = () => {
    const values = new Map();
    return { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => values.set(key, value) };
  };

  test('the browser decides until somebody chooses', () => {
    const kept = storage();
    assert.deepEqual(readPreferences(kept, ['it', 'fr-CH']), { language: 'fr', theme: 'light' });
    savePreferences(kept, { language: 'de', theme: 'contrast' });
    assert.deepEqual(readPreferences(kept, ['en']), { language: 'de', theme: 'contrast' });
  });

  test('no storage and nonsense in it are no obstacle', () => {
    assert.equal(readPreferences(null, ['de']).language, 'de');
    assert.equal(readPreferences({ getItem: () => '{"theme":"plaid","language":"xx"}' }, []).theme, THEMES[0]);
    assert.equal(pickLanguage([]), 'en');
  });

  test('every theme has a name in every language', () => {
    for (const theme of THEMES) for (const messages of Object.values(MESSAGES)) assert.ok(messages[`theme.${theme}`]);
  });

  test('amounts and days follow the language', () => {
    assert.equal(createFormat('en').money(1250), '€12.50');
    assert.match(createFormat('de').money(1250), /^12,50\s€$/);
    assert.match(createFormat('de').longDay('2026-03-10'), /Dienstag, 10\. März/);
  });
});
