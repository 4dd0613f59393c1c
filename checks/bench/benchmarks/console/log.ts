/** The log of a build, as long as the service keeps one: opened, and followed. */
import { longestTask, untilSo } from '../../lib/page-probe.ts';
import { untilThread } from '../../../console/ground.ts';
import { workOfFrames } from '../../lib/trace.ts';
import { bytesAt, contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

/** A little less than what the service keeps of a log. */
const BYTES = 2_000_000;
const LINE = '\\033[32m12:00:00\\033[0m bundled a module of the page in 12 ms and wrote it';
const LINE_BYTES = LINE.length - 2 * '033'.length + ' 100000\n'.length;

export async function log(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const { thread } = await client.threads.create(app.id, { title: 'A long build' });
  await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
  const seconds = setup.quick ? 4 : 20;
  const lines = Math.floor(BYTES / LINE_BYTES);
  const perStep = Math.ceil(lines / seconds / 10);
  // The first wait lets the page be there before the first line.
  const command = `sleep 3; seq 100000 ${100_000 + lines} | awk '{ printf "${LINE} %d\\n", $1; if (NR % ${perStep} == 0) { fflush(); system("sleep 0.1") } }'; echo The end of the log`;
  const build = await client.builds.create(app.id, thread.id, {
    command,
    outputDirectory: '.',
    timeoutSeconds: 600,
  });
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  const path = `/console/apps/${app.id}/builds/${build.id}`;
  await page.goto(path);
  const followed = await workOfFrames(field.browser, page, async () => {
    await untilSo(page, HAS_END);
  });
  const task = await longestTask(page);
  await context.close();
  const opened: number[] = [];
  const tasks: number[] = [];
  for (let i = 0; i < (setup.quick ? 2 : 5); i++) {
    const other = await contextOf(field, field.base);
    const again = await other.newPage();
    await again.goto(path, { waitUntil: 'commit' });
    const at = await untilSo(again, IS_WHOLE);
    opened.push(at - (await bytesAt(again, '/logs?')));
    tasks.push(await longestTask(again));
    await other.close();
  }
  const work = row('a log of 2 MiB, followed: work of a frame', followed);
  return {
    rows: [
      work,
      row('a log of 2 MiB, followed: longest task (under 50: 0)', [task]),
      row('a log of 2 MiB, opened: whole, after the last byte', opened),
      row('a log of 2 MiB, opened: longest task (under 50: 0)', tasks),
    ],
    aims: [
      most('a log of 2 MiB, followed: longest task', task, [100, 'ms']),
      most('a log of 2 MiB, opened: longest task', Math.max(...tasks), [200, 'ms']),
    ],
  };
}

const IS_WHOLE = `document.querySelector('main')?.textContent.includes('The end.') === true && performance.now()`;
/** Followed, its last line is on the screen. */
const HAS_END = `[...document.querySelectorAll('main .code .code-row .code-text')].at(-1)?.textContent === 'The end of the log'`;
