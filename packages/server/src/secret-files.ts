/**
 * Secrets from files, as Docker, Kubernetes and systemd mount them: `<name>_FILE` is the path of a file that holds
 * the value of `<name>`.
 */
import { readFileSync } from 'node:fs';

const FROM_FILES = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'HEADRACE_SECRET_KEY',
  'HEADRACE_FORMER_SECRET_KEYS',
  'HEADRACE_OWNER_PASSWORD',
  'HEADRACE_BOOTSTRAP_KEY',
] as const;

type Env = Record<string, string | undefined>;

/** The variables with the files' contents, without a newline at their end; and what is wrong with the files. */
export function withSecretFiles(env: Env): { env: Env; faults: string[] } {
  const [read, faults]: [Env, string[]] = [{ ...env }, []];
  for (const name of FROM_FILES) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) {
      faults.push(`${name}_FILE: is set, and so is ${name}; set one of them`);
      continue;
    }
    try {
      read[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (!read[name]) faults.push(`${name}_FILE: the file ${path} is empty`);
    } catch (error) {
      faults.push(
        `${name}_FILE: the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      );
    }
  }
  return { env: read, faults };
}
