/** The parts of the form that say how the work is done, and what limits it. */
import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../api/queries.ts';
import { Choices } from '../../ui/choices.tsx';
import { Field, Select, Switch } from '../../ui/fields.tsx';
import { Note, withChosen } from '../settings/limits.tsx';
import type { PartProps } from './part.ts';

export function WorkPart({ draft, set, faultAt }: PartProps) {
  const models = useQuery(modelsQuery());
  const known = (models.data?.items ?? [])
    .filter(({ id }) => !id.endsWith('/*'))
    .map(({ id, provider }) => ({ id, text: id, note: provider }));
  return (
    <>
      <div>
        <Select
          label="Model"
          choices={withChosen([{ id: '', text: 'As the project is set' }, ...known], draft.modelId)}
          value={draft.modelId}
          onChange={(modelId) => set({ modelId })}
        />
        <Note fault={faultAt('/modelId')}>{null}</Note>
      </div>
      <Field
        label="Base branch"
        mono
        maxLength={255}
        value={draft.baseBranch}
        onChange={(baseBranch) => set({ baseBranch })}
        hint="Only in a project with a repository. Empty: its default branch."
        fault={faultAt('/baseBranch')}
      />
      <div>
        <Choices
          label="Pull request of a run with changes"
          hint="Needs a repository."
          choices={[
            { id: 'none', text: 'None' },
            { id: 'draft', text: 'A draft' },
            { id: 'open', text: 'An open one' },
          ]}
          value={draft.pullRequest}
          onChange={(id) => set({ pullRequest: id as typeof draft.pullRequest })}
        />
        <Note fault={faultAt('/pullRequest')}>{null}</Note>
      </div>
    </>
  );
}

export function LimitsPart({ draft, set, faultAt, wrong }: PartProps) {
  return (
    <>
      <div>
        <Choices
          label="While another execution is open"
          choices={[
            { id: 'skip', text: 'Skip' },
            { id: 'queue', text: 'Wait, at most ten' },
            { id: 'allow', text: 'Run beside it' },
          ]}
          value={draft.overlap}
          onChange={(id) => set({ overlap: id as typeof draft.overlap })}
        />
        <Note fault={faultAt('/overlap')}>{null}</Note>
      </div>
      {draft.kind === 'schedule' && (
        <Switch isSelected={draft.catchUp} onChange={(catchUp) => set({ catchUp })}>
          After downtime, run the newest missed time of the last 24 hours
        </Switch>
      )}
      <div className="grid gap-3 sm:grid-cols-3">
        <Field
          label="Spend limit of a thread, in dollars"
          inputMode="decimal"
          value={draft.spendLimit}
          onChange={(spendLimit) => set({ spendLimit })}
          hint="Empty: as the project is set."
          fault={wrong.spendLimit ?? faultAt('/spendLimitMicros')}
        />
        <Field
          label="Limit of a month, in dollars"
          inputMode="decimal"
          value={draft.monthlyLimit}
          onChange={(monthlyLimit) => set({ monthlyLimit })}
          hint="Once its threads have cost it, executions are skipped. Empty: none."
          fault={wrong.monthlyLimit ?? faultAt('/monthlyLimitMicros')}
        />
        <Field
          label="Disable after failures in a row"
          inputMode="numeric"
          value={draft.disableAfter}
          onChange={(disableAfter) => set({ disableAfter })}
          hint="Empty: never."
          fault={wrong.disableAfter ?? faultAt('/disableAfterFailures')}
        />
      </div>
    </>
  );
}
