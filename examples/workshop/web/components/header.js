import { html } from '../html.js';
import { mayAct } from '../../shared/roles.js';
import { LANGUAGE_NAMES } from '../i18n/index.js';
import { THEMES } from '../preferences.js';
import { ROUTES } from '../routes.js';
import { icon } from './icon.js';

function navigation({ location, member, t }) {
  const entries = ROUTES.filter((route) => route.nav && mayAct(member, route.allow));
  return html`<nav class="nav">
    ${entries.map((route) => html`<a href="#${route.pattern}"
      ${route.pattern === location.path && html`aria-current="page"`}>${t(route.nav)}</a>`)}
  </nav>`;
}

function choice(name, label, options, current) {
  return html`<label class="choice"><span>${label}</span>
    <select data-action="${name}">${options.map(([value, text]) =>
      html`<option value="${value}" ${value === current && html`selected`}>${text}</option>`)}
    </select></label>`;
}

export function header(view) {
  const { language, member, t, theme } = view;
  return html`<header class="header">
    <a class="brand" href="#/">${icon('logo')}<span><strong>${t('app.name')}</strong><small>${t('app.tagline')}</small></span></a>
    ${navigation(view)}
    <div class="header-tools">
      ${choice('language', t('language.label'), Object.entries(LANGUAGE_NAMES), language)}
      ${choice('theme', t('theme.label'), THEMES.map((name) => [name, t(`theme.${name}`)]), theme)}
      ${member
        ? html`<a href="#/members/${member.id}">${member.name}</a><button class="plain" data-action="signOut">${t('nav.signOut')}</button>`
        : html`<a href="#/sign-in">${t('nav.signIn')}</a>`}
    </div>
  </header>`;
}
