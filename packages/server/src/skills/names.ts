import { invalid } from '../http/errors.ts';

const NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;

/** The name, if a skill may have it. Throws 400. */
export function requireName(name: string): string {
  if (NAME.test(name)) return name;
  throw invalid({
    path: '/params/name',
    message: 'must be 1 to 64 of a-z and 0-9, in words that single hyphens join',
  });
}
