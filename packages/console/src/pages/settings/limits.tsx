import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../api/queries.ts';
import { Field, Select } from '../../ui/fields.tsx';
import type { Choice } from '../../ui/fields.tsx';
import { dollars } from '../../ui/values.tsx';
import { faultAt } from './draft.ts';
import { inherit, inherited } from './inherited.ts';
import type { PartProps } from './part.ts';

/** A value that is no longer offered stays one of the choices. */
export const withChosen = (choices: Choice[], chosen: string): Choice[] =>
  chosen === '' || choices.some(({ id }) => id === chosen)
    ? choices
    : [...choices, { id: chosen, text: chosen, note: 'not offered now' }];

export function Model(props: PartProps) {
  const { of, draft, set, wrong, fields } = props;
  const models = useQuery(modelsQuery());
  const known = (models.data?.items ?? []).map(({ id }): Choice => ({ id, text: id }));
  return (
    <>
      <div className="flex flex-col gap-1">
        <Select
          label="Model of new threads"
          choices={withChosen([inherit(of), ...known], draft.modelId)}
          value={draft.modelId}
          onChange={(modelId) => set({ modelId })}
        />
        <Note fault={faultAt(fields, '/modelId')}>
          {draft.modelId === '' &&
            `Now: ${inherited(props, ({ modelId }) => modelId, 'the service’s default')}.`}
        </Note>
      </div>
      <Field
        label="Spend limit of a new thread, in dollars"
        inputMode="decimal"
        value={draft.spendLimit}
        onChange={(spendLimit) => set({ spendLimit })}
        hint={`Empty: ${inherited(
          props,
          ({ spendLimitMicros: micros }) => (micros === null ? null : dollars(micros)),
          'no limit',
        )}.`}
        fault={wrong.spendLimit ?? faultAt(fields, '/spendLimitMicros')}
      />
      <Field
        label="Budget of a month, in dollars"
        inputMode="decimal"
        value={draft.budget}
        onChange={(budget) => set({ budget })}
        hint={`Of all threads of the ${of} together, from the first of the month in UTC. Empty: ${inherited(
          props,
          ({ budgetMicros: micros }) =>
            micros === null ? null : `${dollars(micros)} for all of its threads`,
          of === 'organization' ? 'no budget' : 'no budget of its own',
        )}.`}
        fault={wrong.budget ?? faultAt(fields, '/budgetMicros')}
      />
    </>
  );
}

export function Limits(props: PartProps) {
  const { draft, set, wrong, fields } = props;
  const hint = (what: 'runs' | 'builds') =>
    inherited(
      props,
      ({ concurrency }) => (concurrency?.[what] ? `${concurrency[what]} for all that set none` : null),
      'as many as the service has places for',
    );
  return (
    <>
      {props.of === 'organization' && (
        <p className="text-ink-2">Of all apps and projects together that set no number of their own.</p>
      )}
      <Field
        label="Runs"
        inputMode="numeric"
        value={draft.runs}
        onChange={(runs) => set({ runs })}
        hint={`Others wait. Empty: ${hint('runs')}.`}
        fault={wrong.runs ?? faultAt(fields, '/concurrency/runs')}
      />
      <Field
        label="Builds"
        inputMode="numeric"
        value={draft.builds}
        onChange={(builds) => set({ builds })}
        hint={`Empty: ${hint('builds')}.`}
        fault={wrong.builds ?? faultAt(fields, '/concurrency/builds')}
      />
    </>
  );
}

/** Below a choice: its hint, and what is wrong with it. */
export function Note({ fault = null, children }: { fault?: string | null; children: React.ReactNode }) {
  return (
    <>
      <p className="text-12 text-ink-3">{children}</p>
      {fault && (
        <p role="alert" className="long text-12 text-fail">
          {fault}
        </p>
      )}
    </>
  );
}
