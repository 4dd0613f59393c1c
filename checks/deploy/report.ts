/** Runs one check and prints its line, passed or FAILED. A failed one makes the process end with 1. */
export async function check(
  name: string,
  run: () => string | void | Promise<string | void>,
): Promise<boolean> {
  const from = performance.now();
  const seconds = () => ((performance.now() - from) / 1000).toFixed(1);
  try {
    const saw = await run();
    console.log(`${name.padEnd(14)} passed (${seconds()} s)${saw ? `: ${saw}` : ''}`);
    return true;
  } catch (error) {
    process.exitCode = 1;
    const { message, stderr } = error as { message: string; stderr?: string };
    console.log(`${name.padEnd(14)} FAILED (${seconds()} s): ${message}${stderr ? `\n${stderr}` : ''}`);
    return false;
  }
}
