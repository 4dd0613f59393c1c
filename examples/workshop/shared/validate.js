import { isDay } from './dates.js';

// A schema is an object of checks. A check takes a value and returns the cleaned value,
// or throws a `Problem`. Both the forms and the handlers run the same schemas.

class Problem extends Error {}

function fail(key) {
  throw new Problem(key);
}

export function text({ min = 1, max = 200 } = {}) {
  return (value) => {
    if (typeof value !== 'string') return fail('invalid.text');
    const trimmed = value.trim();
    if (trimmed.length < min) return fail(min === 1 ? 'invalid.required' : 'invalid.tooShort');
    return trimmed.length > max ? fail('invalid.tooLong') : trimmed;
  };
}

export function integer({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  return (value) => {
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number)) return fail('invalid.integer');
    return number < min || number > max ? fail('invalid.range') : number;
  };
}

export function oneOf(allowed) {
  return (value) => (allowed.includes(value) ? value : fail('invalid.choice'));
}

export function day() {
  return (value) => (isDay(value) ? value : fail('invalid.day'));
}

export function email() {
  return (value) => {
    const cleaned = text({ max: 254 })(value).toLowerCase();
    return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cleaned) ? cleaned : fail('invalid.email');
  };
}

/** A list of short words, or a comma-separated text as a form sends it. */
export function tags() {
  return (value) => {
    const list = typeof value === 'string' ? value.split(',') : value;
    if (!Array.isArray(list) || list.some((tag) => typeof tag !== 'string')) return fail('invalid.text');
    const cleaned = list.map((tag) => tag.trim().toLowerCase()).filter(Boolean);
    return cleaned.length > 12 ? fail('invalid.tooLong') : [...new Set(cleaned)];
  };
}

export function optional(check, fallback) {
  return (value) => (value === undefined || value === '' ? fallback : check(value));
}

/**
 * Runs a schema over an input.
 * @returns {{value: object, problems: Record<string, string>}} problems are translation
 * keys by field; fields that the schema does not name are problems too.
 */
export function validate(schema, input) {
  const source = input !== null && typeof input === 'object' && !Array.isArray(input) ? input : {};
  const value = {};
  const problems = {};
  for (const [field, check] of Object.entries(schema)) {
    try {
      value[field] = check(Object.hasOwn(source, field) ? source[field] : undefined);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems[field] = error.message === 'invalid.text' && source[field] === undefined ? 'invalid.required' : error.message;
    }
  }
  for (const field of Object.keys(source)) {
    if (!Object.hasOwn(schema, field)) problems[field] = 'invalid.unknown';
  }
  return { value, problems };
}
