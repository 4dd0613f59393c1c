/** The console in Chromium with much to show: differences, files, a long thread, a long reply as it grows, a long log. */
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { difference, longPatch } from './console/difference.ts';
import { draft } from './console/draft.ts';
import { writerEnv } from '../lib/writer.ts';
import { makeField, measured } from './console/field.ts';
import { files } from './console/files.ts';
import { log } from './console/log.ts';
import { thread } from './console/thread.ts';

const MEASURES = { thread, files, draft, log, difference, longPatch };

export const consoleLargeBenchmark: Benchmark = {
  name: 'console-large',
  title: 'The console in Chromium, with much to show',
  async run(setup) {
    const postgres = await startDatabase(setup.scratch);
    setup.atEnd(() => postgres.stop());
    const field = await makeField(setup, await startServiceOn(setup, postgres, writerEnv(setup)));
    const database = openDatabase({ connectionString: postgres.url }, { max: 2 });
    setup.atEnd(() => database.close());
    return {
      ...(await measured({ ...field, database }, MEASURES)),
      notes: [
        'The messages of the long thread, and a run for every second one, are written into the database: their agent would take longer than all benchmarks. The reply that grows is written by an agent without a model. All else is made over the API.',
        'A jump is the way of a row on the screen in a frame beyond what the wheel asked for, or against it.',
        'The work of a frame is the time of all tasks of the main thread from one frame to the next, by a trace of Chromium; the time in which the machine did other work counts too.',
      ],
    };
  },
};
