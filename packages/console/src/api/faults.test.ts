import { HeadraceError, UncertainError } from '@headrace/client';
import { expect, test } from 'vitest';
import { entryFaultOf, faultOf, writeFaultOf } from './faults.ts';

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

test('the page of a proxy is not shown', () => {
  for (const status of [403, 404, 409]) {
    const fault = writeFaultOf(new HeadraceError(status, 'invalid_response', PAGE));
    expect(fault.message).toBe(`Something before it did (status ${status}). Try again in a moment.`);
  }
  const large = writeFaultOf(new HeadraceError(413, 'invalid_response', PAGE));
  expect([large.title, large.message]).toEqual(['Too large', 'Make it smaller, then try again.']);
  expect(faultOf(new HeadraceError(404, 'invalid_response', PAGE)).isGone).toBe(false);
});

test('who is not signed in yet is told of no role', () => {
  const { title, message } = entryFaultOf(new HeadraceError(403, 'forbidden', 'This origin may not.'));
  expect([title, message]).toEqual(['Refused', 'This origin may not.']);
});
