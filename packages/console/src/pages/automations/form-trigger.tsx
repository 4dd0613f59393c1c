/** The parts of the form that say when an automation starts. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { scheduleQuery } from '../../api/work-queries.ts';
import { Choices } from '../../ui/choices.tsx';
import { Checkbox, Field, Select } from '../../ui/fields.tsx';
import { Note, withChosen } from '../settings/limits.tsx';
import type { PartProps } from './part.ts';
import { EVENT_NAMES } from './draft.ts';
import { NextTimes } from './next-times.tsx';

/** `UTC` is a zone, but in no browser's list. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((id) => ({ id, text: id }));
/** A pause in typing. */
const PAUSE_MS = 300;

export function SchedulePart({ draft, set, faultAt }: PartProps) {
  const cron = useSettled(draft.cron.trim());
  const times = useQuery({ ...scheduleQuery(cron, draft.timeZone), enabled: cron !== '' });
  const asked = times.error && cron !== '' ? faultOf(times.error) : null;
  const cronFault = asked?.fields.find(({ path }) => path.endsWith('/cron'))?.message ?? null;
  return (
    <>
      <Field
        label="Times, as cron"
        mono
        maxLength={1000}
        value={draft.cron}
        onChange={(next) => set({ cron: next })}
        hint="Minute, hour, day of month, month, day of week: 0 9 * * MON-FRI. Or @hourly, @daily, @weekly, @monthly, @yearly."
        fault={faultAt('/trigger/cron') ?? cronFault}
      />
      <div>
        <Select
          label="Time zone"
          choices={withChosen(ZONES, draft.timeZone)}
          value={draft.timeZone}
          onChange={(timeZone) => set({ timeZone })}
        />
        <Note fault={faultAt('/trigger/timeZone')}>{null}</Note>
      </div>
      <div aria-live="polite" className="min-h-30">
        <p className="label">Next times</p>
        {times.data ? (
          <NextTimes times={times.data} timeZone={draft.timeZone} />
        ) : (
          <p className="text-ink-3">
            {asked
              ? cronFault
                ? 'None: the times are wrong.'
                : asked.message
              : draft.cron.trim() === ''
                ? 'None: no times are given.'
                : 'Looking …'}
          </p>
        )}
      </div>
    </>
  );
}

/** The value after a pause in its changes. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function EventPart({ draft, set, faultAt }: PartProps) {
  return (
    <div role="group" aria-label="Events" className="flex flex-col gap-1">
      <span className="label">Events of the project</span>
      <div className="grid gap-x-4 sm:grid-cols-2 md:grid-cols-3">
        {EVENT_NAMES.map((type) => (
          <Checkbox
            key={type}
            isSelected={draft.types.includes(type)}
            onChange={(isOn) =>
              set({ types: isOn ? [...draft.types, type] : draft.types.filter((one) => one !== type) })
            }
          >
            <span className="long font-mono text-mono">{type}</span>
          </Checkbox>
        ))}
      </div>
      <Note fault={faultAt('/trigger/types')}>
        Each event starts it once. What its own threads cause never does.
      </Note>
    </div>
  );
}

const SOURCES = [
  { id: 'generic', text: 'Any system' },
  { id: 'error_tracker', text: 'An error tracker, such as Sentry' },
  { id: 'tracker', text: 'An issue tracker, such as Linear or GitHub' },
];

export interface SecretProps {
  /** Null: the service makes it, or the present one stays. */
  secret: string | null;
  onSecret: (secret: string | null) => void;
  /** It has one already. */
  isStored: boolean;
}

export function WebhookPart({ draft, set, faultAt, secret, onSecret, isStored }: PartProps & SecretProps) {
  const setDefault = (part: Partial<typeof draft.defaults>) =>
    set({ defaults: { ...draft.defaults, ...part } });
  return (
    <>
      <Choices
        label="Who calls"
        hint="An error tracker’s payload gives the thread its error, an issue tracker’s gives it its issue and task."
        choices={SOURCES}
        value={draft.source}
        onChange={(source) => set({ source: source as typeof draft.source })}
      />
      {draft.source === 'error_tracker' && (
        <div className="grid gap-3 sm:grid-cols-3">
          {(
            [
              ['organizationSlug', 'Organization'],
              ['projectSlug', 'Project'],
              ['projectId', 'Id of the project'],
            ] as const
          ).map(([name, label]) => (
            <Field
              key={name}
              label={`${label}, if missing`}
              mono
              maxLength={128}
              value={draft.defaults[name]}
              onChange={(value) => setDefault({ [name]: value })}
              fault={faultAt(`/trigger/defaults/${name}`)}
            />
          ))}
        </div>
      )}
      <Choices
        label="Secret"
        choices={[
          { id: 'made', text: isStored ? 'Keep the present one' : 'Made by the service' },
          { id: 'own', text: 'Given by the sender' },
        ]}
        value={secret === null ? 'made' : 'own'}
        onChange={(id) => onSecret(id === 'own' ? '' : null)}
        hint={!isStored && secret === null && 'It is shown once, after the automation is created.'}
      />
      {secret !== null && (
        <Field
          label="The sender’s secret"
          type="password"
          value={secret}
          onChange={onSecret}
          maxLength={200}
          autoComplete="off"
          spellCheck="false"
          hint="16 to 200 characters, such as the Client Secret of Sentry. It is kept nowhere here, and never shown again."
          fault={faultAt('/trigger/secret')}
        />
      )}
    </>
  );
}
