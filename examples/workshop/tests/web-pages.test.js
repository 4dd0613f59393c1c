import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect } from '../web/api.js';
import { shell } from '../web/components/shell.js';
import { createFormat } from '../web/format.js';
import { html } from '../web/html.js';
import { createTranslator } from '../web/i18n/index.js';
import { resolveHash, ROUTES } from '../web/routes.js';
import { TODAY } from './support/library.js';

const noServer = () => Promise.reject(new TypeError('fetch failed'));
const openPreview = () => connect(noServer, () => Date.parse(`${TODAY}T12:00:00Z`));

/** What a page is rendered with, in English and as staff unless told otherwise. */
function viewAt(hash, { language = 'en', member = { id: 'm-1', name: 'Ines', role: 'staff' }, ...rest } = {}) {
  return {
    t: createTranslator(language),
    format: createFormat(language),
    language,
    theme: 'light',
    member,
    location: resolveHash(hash),
    ...rest,
  };
}

async function renderAt(hash, options) {
  const view = viewAt(hash, options);
  const content = await view.location.route.page.load(await openPreview(), view.location);
  return String(shell({ ...view, content, preview: true }));
}

describe('templates', () => {
  test('values are escaped, markup and lists are not escaped twice', () => {
    const name = '<img src=x onerror="alert(1)">';
    assert.equal(String(html`<p title="${name}">${[html`<b>${name}</b>`, null, false]}</p>`),
      '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"><b>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</b></p>');
  });
});

describe('addresses', () => {
  test('hashes lead to pages', () => {
    assert.deepEqual(resolveHash('#/tools/t-3').params, { id: 't-3' });
    assert.equal(resolveHash('#/?q=saw').query.get('q'), 'saw');
    assert.equal(resolveHash('').route.pattern, '/');
    assert.ok(!ROUTES.includes(resolveHash('#/nowhere').route));
  });
});

describe('pages', () => {
  for (const { pattern } of ROUTES) {
    test(`${pattern} renders in every language without a missing text`, async () => {
      const hash = `#${pattern.replace('/tools/:id', '/tools/t-1').replace('/members/:id', '/members/m-9')}`;
      for (const language of ['en', 'de', 'fr']) {
        const text = await renderAt(hash, { language });
        assert.doesNotMatch(text, /undefined|\[object|>\s*(?:rule|nav|tool|loans|page|theme|members|reports)\.\w+/);
      }
    });
  }

  test('the catalogue lists cards and the next page', async () => {
    const page = await renderAt('#/');
    assert.equal(page.match(/<article class="card">/g).length, 12);
    assert.match(page, /href="#\/\?page=2"/);
  });

  test('staff see the forms of the desk, visitors do not', async () => {
    assert.match(await renderAt('#/tools/t-8'), /data-action="lend"/);
    assert.doesNotMatch(await renderAt('#/tools/t-8', { member: null }), /data-action="(?:lend|reserve)"/);
  });

  test('a refusal is shown with its reasons', async () => {
    const api = await openPreview();
    const failure = await api.post('/api/loans', { toolId: 't-1', memberId: 'm-6' }).catch((error) => error);
    const text = String(shell({ ...viewAt('#/'), content: null, failure }));
    assert.match(text, /The tool is out\./);
  });

  test('the preview works like the library', async () => {
    const api = await openPreview();
    const { fine } = await api.post('/api/loans/l-24/return');
    assert.equal(fine.cents, 50);
    assert.equal((await api.get('/api/tools/t-1')).availability, 'held');
  });
});
