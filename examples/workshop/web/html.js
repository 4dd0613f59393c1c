// Pages are functions from data to markup. Everything that is put into a template is
// escaped, unless it came out of a template itself.

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

class Markup {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

export function escape(text) {
  return String(text).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

function fill(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(fill).join('');
  return value === null || value === undefined || value === false ? '' : escape(value);
}

/** Template tag: arrays are joined; null, undefined and false vanish; the rest is escaped. */
export function html(strings, ...values) {
  return new Markup(strings.reduce((text, part, index) => text + fill(values[index - 1]) + part));
}
