/** `headrace usage`, `models`, `runtimes` */
import type { Model, Runtime, Usage } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { momentOf } from '../core/input.ts';
import type { Column } from '../terminal/table.ts';
import { usd } from '../terminal/money.ts';

type Grouping = 'day' | 'app' | 'thread' | 'model';

const GROUPS: Readonly<Record<Grouping, { header: string; of(usage: Usage): string | null }>> = {
  day: { header: 'DAY', of: ({ day }) => day },
  app: { header: 'APP', of: ({ projectId }) => projectId },
  thread: { header: 'THREAD', of: ({ threadId }) => threadId },
  model: { header: 'MODEL', of: ({ modelId }) => modelId },
};
const count = new Intl.NumberFormat('en');

const columnsBy = (by: Grouping): Column<Usage>[] => [
  { header: GROUPS[by].header, value: GROUPS[by].of, whole: true },
  { header: 'RUNS', value: ({ runs }) => count.format(runs), right: true },
  { header: 'INPUT', value: ({ inputTokens }) => count.format(inputTokens), right: true },
  { header: 'CACHED', value: ({ cachedTokens }) => count.format(cachedTokens), right: true },
  { header: 'OUTPUT', value: ({ outputTokens }) => count.format(outputTokens), right: true },
  { header: 'COST', value: ({ costMicros }) => usd(costMicros), right: true, color: () => 'bold' },
];

interface UsageOptions {
  from: string | undefined;
  to: string | undefined;
  by: Grouping | undefined;
  limit: number | undefined;
}

export async function showUsage(cli: Cli, { from, to, by = 'day', limit }: UsageOptions): Promise<void> {
  const range = { from: momentOf(from), to: momentOf(to) };
  const groupBy = by === 'app' ? 'project' : by;
  const rows: Usage[] = [];
  await cli.list({
    member: 'usage',
    async page(options) {
      const page = await cli.client.usage.read({ ...options, ...range, groupBy });
      rows.push(...page.items);
      return page;
    },
    columns: columnsBy(by),
    empty: 'There were no runs in this time.',
    limit,
  });
  if (rows.length < 2 || cli.isJson) return;
  const runs = rows.reduce((sum, row) => sum + row.runs, 0);
  const micros = rows.reduce((sum, row) => sum + row.costMicros, 0);
  cli.say(cli.paintTalk('dim', `In all: ${count.format(runs)} runs, ${usd(micros)}`));
}

const perMillion = (micros: number | undefined) => (micros === undefined ? null : usd(micros));
const MODEL_COLUMNS: readonly Column<Model>[] = [
  { header: 'MODEL', value: ({ id }) => id, whole: true, color: () => 'bold' },
  { header: 'INPUT /M', value: ({ prices }) => perMillion(prices?.inputMicros), right: true },
  { header: 'CACHED /M', value: ({ prices }) => perMillion(prices?.cachedMicros), right: true },
  { header: 'OUTPUT /M', value: ({ prices }) => perMillion(prices?.outputMicros), right: true },
];

export const listModels = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'models',
    page: (options) => cli.client.models.list(options),
    columns: MODEL_COLUMNS,
    empty: 'No model can be used yet. → headrace model-keys set PROVIDER',
    limit,
  });

const RUNTIME_COLUMNS: readonly Column<Runtime>[] = [
  { header: 'NAME', value: ({ name }) => name, whole: true, color: () => 'bold' },
  { header: 'STATE', value: ({ available }) => (available ? 'available' : 'not available') },
  { header: 'DEFAULT', value: ({ isDefault }) => (isDefault ? 'yes' : '') },
  { header: 'DESCRIPTION', value: ({ description }) => description },
];

export const listRuntimes = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'runtimes',
    page: (options) => cli.client.settings.runtimes(options),
    columns: RUNTIME_COLUMNS,
    empty: 'This service has no runtime but its own system.',
    limit,
  });
