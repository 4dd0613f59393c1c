import categories from '../../data/categories.json' with { type: 'json' };
import closures from '../../data/closures.json' with { type: 'json' };
import fines from '../../data/fines.json' with { type: 'json' };
import loans from '../../data/loans.json' with { type: 'json' };
import members from '../../data/members.json' with { type: 'json' };
import reservations from '../../data/reservations.json' with { type: 'json' };
import tools from '../../data/tools.json' with { type: 'json' };
import waiting from '../../data/waiting.json' with { type: 'json' };
import week from '../../data/week.json' with { type: 'json' };
import { resolveDay } from '../../shared/dates.js';

const RAW = { categories, closures, fines, loans, members, reservations, tools, waiting, week };

function resolve(record, today) {
  const entries = Object.entries(record).map(([field, value]) => [
    field,
    typeof value === 'string' && value.startsWith('today') ? resolveDay(value, today) : value,
  ]);
  return Object.fromEntries(entries);
}

/**
 * The demonstration library as of `today`.
 * @param {string} passwordHash given to every member; the fixtures hold no credentials
 */
export function fixtures(today, passwordHash) {
  const data = {};
  for (const [name, records] of Object.entries(RAW)) data[name] = records.map((one) => resolve(one, today));
  data.members = data.members.map((member) => ({ ...member, passwordHash }));
  return data;
}
