import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testCertificate } from '../../runner/src/egress/certificate.fixture.ts';
import { readConfigFile } from './config-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ENV = { TOKEN: 'a token', SHORT: 'short' };
let files = 0;
const written = (content: unknown): string => {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};
const read = (content: unknown) => {
  const faults: string[] = [];
  const file = written(content);
  return {
    config: readConfigFile(file, '', { env: ENV, faults }),
    faults: faults.map((fault) => fault.replace(file, 'FILE')),
  };
};
const AGENT = { command: ['agent', '--acp'], wire: 'anthropic', models: ['anthropic/*'] };

test('without a file there are the built-in providers alone', () => {
  const faults: string[] = [];
  const config = readConfigFile(null, join(folder, 'none.json'), { env: ENV, faults });
  expect([config.agents, config.prices, faults]).toEqual([{}, {}, []]);
  expect(Object.entries(config.providers).map(([name, one]) => [name, one.key, one.wires])).toEqual([
    ['anthropic', 'required', ['anthropic']],
    ['openai', 'required', ['openai-responses', 'openai-chat']],
  ]);
});

test('what a file leaves out has a default; folders are relative to the file', () => {
  const { config, faults } = read({
    agents: { other: { ...AGENT, folder: 'agents/other' }, plain: AGENT },
    providers: {
      local: { baseUrl: 'http://127.0.0.1:8080/v1/', wires: ['openai-chat'], key: 'none' },
      openai: { baseUrl: 'https://proxy.example/v1', wires: ['openai-chat'] },
    },
    prices: { 'local/*': { inputMicros: 5, outputMicros: 7 } },
  });
  expect(faults).toEqual([]);
  expect(config.agents['other']).toEqual({
    ...AGENT,
    folder: join(folder, 'agents/other'),
    env: {},
    home: {},
    instructionsFile: null,
    skillsFolder: null,
    mode: { allow: null, ask: null },
    asks: true,
    install: null,
  });
  expect(config.agents['plain']!.folder).toBeNull();
  expect(config.providers).toMatchObject({
    anthropic: { key: 'required' },
    local: { baseUrl: 'http://127.0.0.1:8080/v1', key: 'none' },
    openai: { baseUrl: 'https://proxy.example/v1', key: 'required' },
  });
  expect(config.prices['local/*']).toEqual({
    inputMicros: 5,
    outputMicros: 7,
    cachedMicros: 5,
    cacheWriteMicros: 5,
  });
});

describe('where agents find instructions and skills', () => {
  const given = (more: object) => read({ agents: { other: { ...AGENT, ...more } } });

  test('paths in HOME', () => {
    const paths = { instructionsFile: '.other/..notes.md', skillsFolder: 'skills' };
    expect(
      given({ ...paths, home: { 'skills/own': 'x', skillsx: 'x' } }).config.agents['other'],
    ).toMatchObject(paths);
  });

  const OUTSIDE = [
    '/x',
    '../x',
    'a/../x',
    './x',
    'a//x',
    'a/',
    '',
    '.',
    '..',
    'a/.',
    'a\0b',
    'x'.repeat(301),
  ];
  const CASES: [object, string][] = [
    ...OUTSIDE.flatMap((path): [object, string][] => [
      [{ instructionsFile: path }, 'instructionsFile'],
      [{ skillsFolder: path }, 'skillsFolder'],
    ]),
    [{ instructionsFile: 'a', home: { a: 'text' } }, 'instructionsFile'],
    [{ instructionsFile: 'a/b', home: { a: 'text' } }, 'instructionsFile'],
    [{ instructionsFile: 'a', home: { 'a/b': 'text' } }, 'instructionsFile'],
    [{ skillsFolder: 'a', home: { a: 'text' } }, 'skillsFolder'],
    [{ skillsFolder: 'a/b', home: { a: 'text' } }, 'skillsFolder'],
    [{ instructionsFile: 'a/x', skillsFolder: 'a' }, 'skillsFolder'],
    [{ instructionsFile: 'a', skillsFolder: 'a/x' }, 'skillsFolder'],
    [{ instructionsFile: 'a', skillsFolder: 'a' }, 'skillsFolder'],
  ];
  test.each(CASES)('%j is a fault at %s', (more, member) => {
    expect(given(more).faults).toEqual([
      expect.stringMatching(new RegExp(`^FILE: agents\\.other\\.${member}: .`)),
    ]);
  });
});

describe('egress and runtimes', () => {
  test('what is left out is none; paths are relative to the file', () => {
    expect(read({}).config).toMatchObject({
      egress: { private: [], authorities: null, registries: { npm: null, pypi: null } },
      runtimes: [],
    });
    const { config, faults } = read({
      egress: {
        private: ['nexus', '*.Corp.example'],
        registries: { npm: 'http://npm.corp.example:4873/', pypi: 'https://pypi.example/simple' },
      },
      runtimes: [
        { name: 'a.b', root: 'roots/a' },
        { name: 'b', description: 'B', image: 'b:1', env: { X: '1' } },
      ],
    });
    expect(faults).toEqual([]);
    expect(config.egress.registries).toEqual({
      npm: 'http://npm.corp.example:4873/',
      pypi: 'https://pypi.example/simple',
    });
    expect(config.runtimes).toEqual([
      { name: 'a.b', description: null, root: join(folder, 'roots/a'), image: null, env: {} },
      { name: 'b', description: 'B', root: null, image: 'b:1', env: { X: '1' } },
    ]);
  });

  test('of a certificate file only the certificates are taken', () => {
    const { key, cert } = testCertificate(['corp.example']);
    written(`${key}\n# ours\n${cert}`);
    const { config, faults } = read({ egress: { caFile: `${files - 1}.json` } });
    expect([config.egress.authorities, faults]).toEqual([cert, []]);
  });

  test.each([
    [{ egress: { caFile: 'none.pem' } }, 'egress.caFile'],
    [{ egress: { caFile: '.' } }, 'egress.caFile'],
    [{ egress: { private: ['*.corp.example', '10.0.0.1'] } }, 'egress.private.1'],
    [{ egress: { private: ['a.*.example'] } }, 'egress.private.0'],
    [{ egress: { private: ['corp.example:80'] } }, 'egress.private.0'],
    [{ egress: { registries: { npm: 'http://npm.example/' } } }, 'egress.registries.npm'],
    [{ egress: { registries: { pypi: 'https://pypi.example:8443/' } } }, 'egress.registries.pypi'],
    [
      { egress: { private: ['*.corp.example'], registries: { npm: 'http://corp.example/' } } },
      'egress.registries.npm',
    ],
    [{ egress: { private: ['a'], registries: { npm: 'http://10.0.0.1/' } } }, 'egress.registries.npm'],
    [{ egress: { registries: { npm: 'ftp://npm.example/' } } }, 'egress.registries.npm'],
    [{ egress: { registries: { rust: 'https://x.example/' } } }, 'egress.registries.rust'],
    [{ egress: { mode: 'none' } }, 'egress.mode'],
    [{ runtimes: [{ name: 'Big', root: 'x' }] }, 'runtimes.0.name'],
    [{ runtimes: [{ name: 'a' }] }, 'runtimes.0'],
    [
      {
        runtimes: [
          { name: 'a', root: 'x' },
          { name: 'a', image: 'y' },
        ],
      },
      'runtimes.1.name',
    ],
    [{ runtimes: [{ name: 'a', root: 'x', env: { 'A=B': 'c' } }] }, 'runtimes.0.env.A=B'],
  ])('%j is a fault at %s', (content, place) => {
    expect(read(content).faults).toEqual([
      expect.stringMatching(new RegExp(`^FILE: ${RegExp.escape(place)}: .`)),
    ]);
  });
});

describe('source control', () => {
  const host = { name: 'Host', provider: 'github', token: { env: 'TOKEN' } };

  test('without the part the service commits under its own name', () => {
    expect(read({}).config.scm).toEqual({
      installations: [],
      commit: { name: 'Headrace', email: 'headrace@localhost', coAuthors: false, signingKey: null },
      branchPrefix: 'headrace/',
      historyDepth: 50,
    });
  });

  test('secrets come from variables and files; files are relative to the file', () => {
    writeFileSync(join(folder, 'key.pem'), 'a key\n');
    const { config, faults } = read({
      scm: {
        installations: [
          { ...host, webhookSecret: { file: 'key.pem' }, organization: 'org_1' },
          {
            name: 'App',
            provider: 'github',
            baseUrl: 'https://git.example/api/v3',
            app: { appId: '1', installationId: '2', privateKey: { file: 'key.pem' } },
          },
        ],
        commit: { name: 'Robot', coAuthors: true, signingKey: 'key.pem' },
        branchPrefix: '',
        historyDepth: 1000,
      },
    });
    expect(faults).toEqual(['FILE: scm.installations.0.webhookSecret: has to have 16 to 200 characters']);
    expect(config.scm).toEqual({
      installations: [
        {
          organization: 'org_1',
          name: 'Host',
          provider: 'github',
          baseUrl: null,
          credential: { token: 'a token' },
          webhookSecret: 'a key',
        },
        {
          organization: null,
          name: 'App',
          provider: 'github',
          baseUrl: 'https://git.example/api/v3',
          credential: { appId: '1', installationId: '2', privateKey: 'a key' },
          webhookSecret: null,
        },
      ],
      commit: {
        name: 'Robot',
        email: 'headrace@localhost',
        coAuthors: true,
        signingKey: join(folder, 'key.pem'),
      },
      branchPrefix: '',
      historyDepth: 1000,
    });
  });

  test.each([
    [{ installations: [{ ...host, token: 'in clear' }] }, 'scm.installations.0.token'],
    [{ installations: [{ ...host, token: { env: 'NONE' } }] }, 'scm.installations.0.token'],
    [{ installations: [{ ...host, token: { file: 'none' } }] }, 'scm.installations.0.token'],
    [{ installations: [{ ...host, token: { env: 'TOKEN', file: 'x' } }] }, 'scm.installations.0.token'],
    [{ installations: [{ ...host, token: undefined }] }, 'scm.installations.0'],
    [{ installations: [{ ...host, provider: 'local' }] }, 'scm.installations.0.provider'],
    [{ installations: [host, host] }, 'scm.installations.1.name'],
    [{ installations: [{ ...host, webhookSecret: { env: 'SHORT' } }] }, 'scm.installations.0.webhookSecret'],
    [{ commit: { name: 'A <a@b>' } }, 'scm.commit.name'],
    [{ commit: { email: 'a\nb' } }, 'scm.commit.email'],
    [{ commit: { signingKey: 'none' } }, 'scm.commit.signingKey'],
    [{ branchPrefix: 'a b/' }, 'scm.branchPrefix'],
    [{ branchPrefix: '-' }, 'scm.branchPrefix'],
    [{ historyDepth: 0 }, 'scm.historyDepth'],
    [{ historyDepth: 1001 }, 'scm.historyDepth'],
    [{ branches: [] }, 'scm.branches'],
  ])('%j is a fault at %s, without the secret', (scm, place) => {
    const { faults } = read({ scm });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^FILE: ${RegExp.escape(place)}: .`))]);
    expect(faults.join()).not.toContain('in clear');
  });
});

describe('faults are told together, each with its place', () => {
  test.each([
    ['{', ['FILE: is not JSON']],
    [
      { agents: { other: { command: [], models: [], wire: 'x' } }, more: 1 },
      [
        'FILE: more: is not a known field',
        'FILE: agents.other.command: must NOT have fewer than 1 items',
        'FILE: agents.other.wire: must be equal to constant',
      ],
    ],
    [{ agents: { scripted: AGENT } }, ['FILE: agents.scripted: is built in; choose another name']],
    [
      { providers: { local: { baseUrl: 'ftp://x', wires: ['openai-chat'] } } },
      ['FILE: providers.local.baseUrl: must match pattern "^https?://"'],
    ],
    [
      { prices: { 'a/b': { inputMicros: -1, outputMicros: 0.5 } } },
      ['FILE: prices.a/b.inputMicros: must be >= 0', 'FILE: prices.a/b.outputMicros: must be integer'],
    ],
  ])('%j', (content, expected) => {
    expect(read(content).faults.toSorted()).toEqual(expected.toSorted());
  });

  test('a file that was asked for has to be there', () => {
    const faults: string[] = [];
    readConfigFile(join(folder, 'missing.json'), '', { env: ENV, faults });
    expect(faults).toEqual([expect.stringMatching(/missing\.json: cannot be read \(ENOENT\)$/)]);
  });
});
