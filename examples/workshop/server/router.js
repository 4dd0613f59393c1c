import { HttpError, notFound } from './errors.js';

// Paths are compared segment by segment instead of by regular expression: with some
// fifty routes the list is short, and a literal segment always beats a parameter.

function compile(route) {
  return { ...route, segments: route.path.split('/').slice(1) };
}

function matchSegments(pattern, actual) {
  if (pattern.length !== actual.length) return null;
  const params = {};
  for (const [index, segment] of pattern.entries()) {
    if (segment.startsWith(':')) params[segment.slice(1)] = actual[index];
    else if (segment !== actual[index]) return null;
  }
  return params;
}

function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound();
  }
}

/**
 * @param {{method: string, path: string, allow: string, handle: Function}[]} routes
 * @returns a function from method and path to `{route, params}`; throws 404 or 405.
 */
export function createRouter(routes) {
  const compiled = routes.map(compile).sort((a, b) => a.path.split(':').length - b.path.split(':').length);
  return (method, path) => {
    const actual = path.split('/').slice(1).map(decode);
    const allowed = [];
    for (const route of compiled) {
      const params = matchSegments(route.segments, actual);
      if (!params) continue;
      if (route.method === method) return { route, params };
      allowed.push(route.method);
    }
    if (allowed.length > 0) throw new HttpError(405, 'error.methodNotAllowed', { allowed });
    throw notFound();
  };
}
