import { de } from './de.js';
import { en } from './en.js';
import { fr } from './fr.js';

export const MESSAGES = { en, de, fr };
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch', fr: 'Français' };

/** The best language for a list of browser preferences such as `['de-AT', 'en']`. */
export function pickLanguage(preferred) {
  const short = preferred.map((tag) => tag.slice(0, 2).toLowerCase());
  return short.find((tag) => Object.hasOwn(MESSAGES, tag)) ?? 'en';
}

/**
 * A function from key and parameters to text. `{name}` is replaced by a parameter; with a
 * `count`, the plural form `key.one` or `key.other` is used. A missing key shows itself.
 */
export function createTranslator(language) {
  const messages = MESSAGES[language] ?? MESSAGES.en;
  const plurals = new Intl.PluralRules(language);

  function lookup(key, params) {
    const plural = params.count === undefined ? null : `${key}.${plurals.select(params.count)}`;
    // French has a third form for millions, which a tool library never needs.
    return messages[plural] ?? messages[`${key}.other`] ?? messages[key] ?? MESSAGES.en[key] ?? key;
  }

  return (key, params = {}) =>
    lookup(key, params).replace(/\{(\w+)\}/g, (whole, name) => params[name] ?? whole);
}
