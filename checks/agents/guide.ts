/** Reads the settings in docs/guides/agents.md, adapted to the folder where this machine keeps the agents. */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GUIDE = join(import.meta.dirname, '../../docs/guides/agents.md');
const WRITTEN = '/opt/headrace-agents';

/** Installed packages are kept between runs. */
export const AGENTS_DIR = process.env['HEADRACE_AGENTS_DIR'] ?? join(tmpdir(), 'headrace-agents');

export interface GuideAgent {
  name: string;
  /** Its entry of the configuration file. */
  entry: { folder: string; install: string; wire: string; models: string[] };
}

/** Throws when a documented install command differs from the entry's. */
export function agentsOfGuide(): GuideAgent[] {
  const guide = readFileSync(GUIDE, 'utf8');
  const files = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
    ([, text]) =>
      JSON.parse(text!.replaceAll(WRITTEN, AGENTS_DIR)) as { agents?: Record<string, GuideAgent['entry']> },
  );
  const agents = files.flatMap(({ agents = {} }) =>
    Object.entries(agents).map(([name, entry]) => ({ name, entry })),
  );
  const shown = [...guide.matchAll(/^```sh\n(npm install .*)\n```$/gm)].map(([, command]) =>
    command!.replaceAll(WRITTEN, AGENTS_DIR),
  );
  if (agents.map(({ entry }) => entry.install).join('\n') !== shown.join('\n'))
    throw new Error('The install commands of docs/guides/agents.md are not those of its JSON blocks.');
  return agents;
}
