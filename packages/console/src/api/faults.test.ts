import { HeadraceError, UncertainError } from '@headrace/client';
import { expect, test } from 'vitest';
import { writeFaultOf } from './faults.ts';

const PAGE = 'The answer is not from Headrace: <html>';
const lost = (status: number, code: 'request_in_progress' | 'invalid_response') =>
  new UncertainError(new HeadraceError(status, code, PAGE), 'key', async () => null);

test('a refused write says what the service says, and what to do', () => {
  const { title, message } = writeFaultOf(new HeadraceError(409, 'thread_busy', 'A run is on.'));
  expect(title).toBe('Not possible now');
  expect(message).toBe('A run is on. Look at how it is now, then try again.');
});

test('a write that may have been done is no refusal, whatever its last attempt was answered', () => {
  for (const error of [lost(409, 'request_in_progress'), lost(403, 'invalid_response')]) {
    const { title, message } = writeFaultOf(error);
    expect(title).toBe('No answer');
    expect(message).toMatch(/Try again within two minutes/);
  }
});
