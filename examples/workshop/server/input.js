import { validate } from '../shared/validate.js';
import { HttpError, invalid, notFound } from './errors.js';
import { paginate } from '../shared/paginate.js';

/** The body of a request cleaned by a schema; throws 422 with every problem. */
export function read(schema, body) {
  const { value, problems } = validate(schema, body);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return value;
}

/** The record with this id; throws 404. */
export function find(collection, id) {
  const record = collection.get(id);
  if (!record) throw notFound();
  return record;
}

function positive(query, name, fallback) {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new HttpError(400, 'error.badQuery', { parameter: name });
  return Number(text);
}

/** The page of `list` that `?page=` and `?pageSize=` ask for. */
export function pageOf(list, query) {
  return paginate(list, positive(query, 'page', 1), positive(query, 'pageSize', undefined));
}
