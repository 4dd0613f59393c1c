import { describe, expect, test } from 'vitest';
import type { Repair } from '../../db/schema.ts';
import { repairVerdict } from './verdict.ts';

const completed = {
  status: 'completed' as const,
  error_code: null,
  error_message: null,
  cancel_requested_at: null,
};
const ended = (status: 'failed' | 'cancelled', error_code: string | null = null) => ({
  status,
  error_code,
  error_message: error_code && 'Why.',
  cancel_requested_at: null,
});
const repair = (fields: Partial<Repair> = {}): Repair => ({
  runId: 'run',
  headSourceId: 'src',
  revision: 2,
  startedAt: '2026-01-01T00:00:00.000Z',
  error: null,
  report: { status: 'resolved', summary: 'Done.', checks: [] },
  candidateFingerprint: 'f',
  ...fields,
});
const invalid = (candidateFingerprint: string) =>
  repair({ error: 'conflict_markers: a', candidateFingerprint });
const untold = repair({ report: null });
const codeOf = (repairs: Repair[], run: Parameters<typeof repairVerdict>[1], isOver = false) =>
  repairVerdict(repairs, run, { isOver }).error?.split(':')[0] ?? null;

describe('the end of a repair', () => {
  test('a candidate goes on, also when the time is over by then', () => {
    expect([
      codeOf([repair()], completed),
      codeOf([repair()], completed, true),
      repairVerdict([repair()], completed, { isOver: true }).exhausted,
    ]).toEqual([null, null, expect.stringMatching(/^budget:/)]);
  });

  test('unresolved ends it, with the summary', () => {
    expect(
      repairVerdict(
        [repair({ report: { status: 'unresolved', summary: 'No way.', checks: [] } })],
        completed,
        { isOver: false },
      ).error,
    ).toBe('unresolved: No way.');
  });

  test('what its run told nobody is told by the repair', () => {
    expect(
      repairVerdict([untold], ended('failed', 'workspace_unavailable'), { isOver: false }),
    ).toMatchObject({
      error: null,
      repairs: [{ error: 'workspace_unavailable: Why.' }],
    });
  });

  test.each(['spend_limit_reached', 'not_configured'])('%s ends it', (code) => {
    expect(codeOf([untold], ended('failed', code))).toBe(code);
  });

  test('a stop ends it as cancelled, also beside the end of its time', () => {
    expect([
      codeOf([untold], ended('cancelled')),
      codeOf([untold], { ...ended('cancelled'), cancel_requested_at: new Date() }, true),
      codeOf([untold], ended('cancelled'), true),
    ]).toEqual(['cancelled', 'cancelled', 'budget']);
  });

  test('three alike end it, whatever came between them; a valid one is none of them', () => {
    expect(codeOf([invalid('f'), invalid('f')], completed)).toBe(null);
    expect(codeOf([invalid('f'), invalid('g'), invalid('f'), invalid('f')], completed)).toBe(
      'identical_candidates',
    );
    expect(codeOf([repair(), invalid('f'), invalid('f')], completed)).toBe(null);
  });

  test('alike are the files, not the errors; three that left none are alike too', () => {
    const failed = ended('failed', 'sandbox_lost');
    expect(
      codeOf(
        [
          invalid('f'),
          repair({ error: 'invalid_report: b', candidateFingerprint: 'f' }),
          repair({ error: 'undeclared_changes: c', candidateFingerprint: 'f' }),
        ],
        completed,
      ),
    ).toBe('identical_candidates');
    const { candidateFingerprint: _, ...lost } = repair({ error: 'sandbox_lost: Gone.', report: null });
    expect(codeOf([lost, lost], failed)).toBe(null);
    expect(repairVerdict([lost, invalid('f'), lost, lost], failed, { isOver: false }).error).toBe(
      'identical_candidates: 3 repairs left no files that could be read. sandbox_lost: Gone.',
    );
  });

  test('no further one without time, or after fifty', () => {
    const many = Array.from({ length: 50 }, (_, i) => invalid(`${i}`));
    expect([
      codeOf([invalid('f')], completed, true),
      codeOf(many, completed),
      codeOf(many.slice(1), completed),
    ]).toEqual(['budget', 'unresolved', null]);
  });
});
