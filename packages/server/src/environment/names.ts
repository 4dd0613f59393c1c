import { invalid } from '../http/errors.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** The sandbox's own, and those that change how programs load or where they connect to. */
const TAKEN =
  /^(HEADRACE_.*|LD_.*|.*_[Pp][Rr][Oo][Xx][Yy]|PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|ENV|BASH_ENV)$/;

/** The name, if a variable may have it. Throws 400. */
export function requireName(name: string): string {
  const fault = (message: string) => invalid({ path: '/params/name', message });
  if (!NAME.test(name)) throw fault('must be 1 to 128 of A-Z, a-z, 0-9 and _, and not begin with a digit');
  if (TAKEN.test(name)) throw fault('is a name that the sandbox sets, or that no variable may have');
  return name;
}
