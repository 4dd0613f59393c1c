/** Long text on a terminal, through the user's pager. */
import { spawn } from 'node:child_process';
import type { Io } from '../core/io.ts';

/**
 * Shows a text through $HEADRACE_PAGER or $PAGER, a command line for the shell, else `less`. Without a terminal, with
 * an empty variable or `cat`, and where there is no such program, it prints the text.
 */
export async function page({ env, stdout }: Pick<Io, 'env' | 'stdout'>, text: string): Promise<void> {
  const pager = env.HEADRACE_PAGER ?? env.PAGER ?? 'less';
  const isPaged = stdout.isTTY === true && env.TERM !== 'dumb' && pager !== '' && pager !== 'cat';
  if (!isPaged || !(await isShownBy(pager, text, env))) stdout.write(text);
}

/** The shell's answers for a program that is not there, or cannot be started. */
const NO_PROGRAM = new Set([126, 127]);

/** False if the pager could not be started. */
function isShownBy(pager: string, text: string, env: Io['env']): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(pager, {
      // Without it, a missing `less` makes no noise.
      shell: pager !== 'less',
      stdio: ['pipe', 'inherit', 'inherit'],
      // Colours; no pager for less than a screen; the text stays when it ends.
      env: { ...env, LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(!NO_PROGRAM.has(code ?? 0)));
    // The reader may leave before the end.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
