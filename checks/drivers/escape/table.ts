import type { Result } from './probe.ts';

/**
 * A table for a person: by theme, how many probes succeeded without and with a sandbox; then those that
 * succeeded inside, and those that prove nothing here.
 */
export function table(engine: string, control: Result[], sandbox: Result[]): string {
  const succeeded = new Set(control.filter((result) => result.succeeded).map((result) => result.name));
  const row = (theme: string, results: Result[]): string =>
    `| ${theme} | ${results.length} | ${results.filter(({ name }) => succeeded.has(name)).length} | ${results.filter((result) => result.succeeded).length} |`;
  const themes = [...new Set(sandbox.map((result) => result.theme))];
  const faults = sandbox
    .filter((result) => result.succeeded)
    .map(({ name, said }) => `OUT: ${name}: ${said}`);
  const vain = control.filter((result) => !result.succeeded).map((result) => result.name);
  return [
    `| Out of ${engine} | probes | succeed without a sandbox | succeed in one |`,
    '| --- | --- | --- | --- |',
    ...themes.map((theme) =>
      row(
        theme,
        sandbox.filter((result) => result.theme === theme),
      ),
    ),
    row('all', sandbox),
    ...faults,
    `Not even without a sandbox: ${vain.join(', ')}`,
  ].join('\n');
}
