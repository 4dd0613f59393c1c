/** The configuration in the guide is valid for the service. Needs no agent, so it is part of `npm test`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { turnAgent } from '../../packages/server/src/agents/index.ts';
import { readConfigFile } from '../../packages/server/src/config-file.ts';
import { agentsOfGuide } from './guide.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/agents.md'), 'utf8');
const blocks = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
const folder = mkdtempSync(join(tmpdir(), 'headrace-guide-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(blocks)('configuration %#', (text) => {
  const file = join(folder, 'config.json');
  const faults: string[] = [];
  writeFileSync(file, text);
  readConfigFile(file, '', { env: {}, faults });
  expect(faults).toEqual([]);
});

describe.each(agentsOfGuide())('$name', ({ name, entry }) => {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ agents: { [name]: entry } }));
  const provider = entry.models[0]!.split('/')[0]!;
  const agent = turnAgent(readConfigFile(file, '', { env: {}, faults: [] }), {
    agent: name,
    modelId: `${provider}/some-model`,
    token: 'the-token',
    asks: false,
  });

  test('its placeholders are those that are filled in', () => {
    expect(agent).not.toHaveProperty('missing');
    const told = JSON.stringify(agent);
    for (const value of ['http://127.0.0.1:4401', 'the-token', 'some-model']) expect(told).toContain(value);
    expect(told).not.toMatch(/\{(gateway|token|provider|model|modelId)\}/);
  });

  test('its files of JSON are JSON', () => {
    for (const [path, content] of Object.entries('home' in agent ? agent.home : {}))
      if (path.endsWith('.json')) expect(() => JSON.parse(content) as unknown).not.toThrow();
  });

  test('its versions are pinned', () => {
    const packages = entry.install
      .split(' ')
      .filter((word) => /^@?[a-z][a-z-]*(\/|@|$)/.test(word) && !['npm', 'install'].includes(word));
    expect(packages.length).toBeGreaterThan(0);
    for (const one of packages) expect(one).toMatch(/@\d+\.\d+\.\d+$/);
  });
});
