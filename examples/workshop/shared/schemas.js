import { day, email, integer, oneOf, optional, tags, text } from './validate.js';
import { PLAN_NAMES } from './plans.js';

export const CONDITIONS = ['good', 'repair', 'retired'];
export const LANGUAGES = ['en', 'de', 'fr'];

export const toolSchema = {
  name: text({ max: 80 }),
  brand: optional(text({ max: 40 }), ''),
  category: text({ max: 40 }),
  description: optional(text({ max: 600 }), ''),
  shelf: text({ max: 12 }),
  valueCents: integer({ min: 0, max: 1_000_000 }),
  tags: optional(tags(), []),
  condition: optional(oneOf(CONDITIONS), 'good'),
};

export const memberSchema = {
  name: text({ max: 80 }),
  email: email(),
  plan: oneOf(PLAN_NAMES),
  language: optional(oneOf(LANGUAGES), 'en'),
  password: text({ min: 8, max: 200 }),
};

export const loanSchema = { toolId: text(), memberId: text() };

export const reservationSchema = { toolId: text(), from: day(), to: day() };

export const damageSchema = { loanId: text(), cents: integer({ min: 1, max: 100_000 }) };

export const closureSchema = { date: day(), reason: text({ max: 80 }) };

export const credentialsSchema = { email: email(), password: text({ max: 200 }) };
