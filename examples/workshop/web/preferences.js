import { MESSAGES, pickLanguage } from './i18n/index.js';

export const THEMES = ['light', 'contrast'];
const KEY = 'workshop.preferences';

function stored(storage) {
  try {
    return JSON.parse(storage.getItem(KEY)) ?? {};
  } catch {
    // A page in a sandboxed frame has no storage, and an old value may not parse.
    return {};
  }
}

/** Language and theme: what was chosen on this device before, or what the browser prefers. */
export function readPreferences(storage, browserLanguages) {
  const { language, theme } = stored(storage);
  return {
    language: Object.hasOwn(MESSAGES, language ?? '') ? language : pickLanguage(browserLanguages),
    theme: THEMES.includes(theme) ? theme : THEMES[0],
  };
}

export function savePreferences(storage, { language, theme }) {
  try {
    storage.setItem(KEY, JSON.stringify({ language, theme }));
  } catch {
    // Without storage the choice holds until the page is closed, which is enough.
  }
}

/** Shows the preferences: CSS looks at the theme, screen readers at the language. */
export function applyPreferences(root, { language, theme }) {
  root.lang = language;
  root.dataset.theme = theme;
}
