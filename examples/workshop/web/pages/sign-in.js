import { field } from '../components/field.js';
import { html } from '../html.js';

export function load() {
  return {};
}

export function render(_content, { t }) {
  return html`<section class="panel narrow"><h1>${t('signIn.title')}</h1>
    <form data-action="signIn">
      ${field('email', t('signIn.email'), { type: 'email' })}
      ${field('password', t('signIn.password'), { type: 'password' })}
      <button>${t('nav.signIn')}</button>
    </form></section>`;
}

export const actions = {
  async signIn(input, api) {
    return { member: await api.post('/api/session', input), go: '#/' };
  },
};
