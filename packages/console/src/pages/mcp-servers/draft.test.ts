import type { McpServer } from '@headrace/client';
import { expect, test } from 'vitest';
import { bodyOf, changesOf, draftOf, isMoved, trimmed } from './draft.ts';
import { rowsFault, rowsOf } from './secret-rows.tsx';

const SERVER: McpServer = {
  id: 'mcp_1',
  orgId: 'org_1',
  name: 'tickets',
  transport: 'http',
  url: 'https://mcp.example.com/v1',
  command: null,
  headers: ['authorization'],
  env: [],
  projectIds: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const row = { at: 0, name: ' Authorization ', value: 'Bearer 1' };

test('a new server has only the fields of its transport', () => {
  const draft = {
    ...draftOf(null),
    name: ' a ',
    url: ' https://a.example/ ',
    command: 'true',
    secrets: [row],
  };
  expect(bodyOf(draft)).toEqual({
    name: 'a',
    transport: 'http',
    url: 'https://a.example/',
    headers: { Authorization: 'Bearer 1' },
  });
  expect(bodyOf({ ...draft, transport: 'stdio', secrets: [], projectIds: ['prj_1'] })).toEqual({
    name: 'a',
    transport: 'stdio',
    command: 'true',
    env: {},
    projectIds: ['prj_1'],
  });
});

test('a change has only what is another, and headers only as a whole', () => {
  const draft = draftOf(SERVER);
  expect(changesOf(SERVER, draft)).toEqual({});
  expect(changesOf(SERVER, { ...draft, name: 'b', projectIds: ['prj_1'] })).toEqual({
    name: 'b',
    projectIds: ['prj_1'],
  });
  expect(changesOf(SERVER, { ...draft, secrets: [] })).toEqual({ headers: {} });
  expect(changesOf({ ...SERVER, projectIds: ['prj_1'] }, draft)).toEqual({ projectIds: null });
});

test('headers stay with another path, and go with another origin or transport', () => {
  const draft = draftOf(SERVER);
  expect(isMoved(SERVER, { ...draft, url: 'https://mcp.example.com/v2' })).toBe(false);
  expect(isMoved(SERVER, { ...draft, url: 'https://mcp.example.com:444/v1' })).toBe(true);
  expect(isMoved(SERVER, { ...draft, url: 'https://mc' })).toBe(true);
  expect(isMoved(SERVER, { ...draft, transport: 'stdio' })).toBe(true);
  expect(isMoved({ ...SERVER, headers: [] }, { ...draft, url: 'https://other.example/' })).toBe(false);
});

test('none is sent in the place of some, wherever the server is now', () => {
  const none = { ...draftOf(SERVER), secrets: [] };
  const moved = { ...none, url: 'https://other.example/' };
  expect(changesOf(SERVER, trimmed(SERVER, moved))).toEqual({ url: moved.url, headers: {} });
  expect(changesOf(SERVER, trimmed(SERVER, none))).toEqual({ headers: {} });
  const bare = { ...SERVER, headers: [] };
  expect(changesOf(bare, trimmed(bare, moved))).toEqual({ url: moved.url });
});

test('a variable that is set is not replaced by nothing, and a new one may be empty', () => {
  const [set] = rowsOf(['TOKEN']);
  expect(rowsFault([set!], false)).toBe('Give the value of TOKEN again, or remove it.');
  expect(
    rowsFault(
      [
        { ...set!, value: '1' },
        { at: 1, name: 'EMPTY', value: '' },
      ],
      false,
    ),
  ).toBeNull();
  expect(rowsFault([{ at: 0, name: 'Authorization', value: '' }], true)).toBe('Each header needs its value.');
});
