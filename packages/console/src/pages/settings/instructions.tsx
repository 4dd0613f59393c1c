import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/plain.tsx';
import { Field } from '../../ui/fields.tsx';
import { faultAt } from './draft.ts';
import type { PartProps } from './part.ts';

/** As the service. */
const INSTRUCTIONS_CHARACTERS = 20_000;

/** What every run's agent is told: the organization's, then the app's. */
export function Instructions({
  of,
  appId,
  draft,
  set,
  fields,
  organization,
}: PartProps & { appId: string | null }) {
  return (
    <>
      {organization?.instructions && (
        <div>
          <p className="label">The organization’s, which come first</p>
          <p
            tabIndex={0}
            aria-label="The organization’s instructions"
            className="long max-h-40 overflow-auto rounded bg-sunk p-2 whitespace-pre-wrap"
          >
            <Plain text={organization.instructions} />
          </p>
        </div>
      )}
      <Field
        label={of === 'organization' ? 'For agents in all apps and projects' : `For agents in this ${of}`}
        lines={of === 'organization' ? 10 : 6}
        value={draft.instructions}
        onChange={(instructions) => set({ instructions })}
        maxLength={INSTRUCTIONS_CHARACTERS}
        hint={
          of === 'organization'
            ? 'Agents get them with each run. An app’s or project’s own instructions come after them.'
            : organization
              ? 'Agents get them with each run, after the organization’s.'
              : 'Agents get them with each run, after those of the organization if it has some.'
        }
        fault={faultAt(fields, '/instructions')}
      />
      <p className="text-ink-2">
        Skills are what they read when they need it.{' '}
        {appId === null ? (
          <Link to="/organization/skills" className="link">
            The organization’s skills
          </Link>
        ) : (
          <Link to="/apps/$appId/skills" params={{ appId }} className="link">
            The {of}’s skills
          </Link>
        )}
      </p>
    </>
  );
}
