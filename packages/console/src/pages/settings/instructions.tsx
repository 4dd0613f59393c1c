import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/plain.tsx';
import { Field } from '../../ui/fields.tsx';
import { faultAt } from './draft.ts';
import type { PartProps } from './part.ts';

/** As the service. */
export const INSTRUCTIONS_CHARACTERS = 20_000;

/** What every run's agent is told: the organization's, then the app's. */
export function Instructions({ appId, draft, set, fields, organization }: PartProps & { appId: string }) {
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
        label="For agents in this app"
        lines={6}
        value={draft.instructions}
        onChange={(instructions) => set({ instructions })}
        maxLength={INSTRUCTIONS_CHARACTERS}
        hint={
          organization
            ? 'Agents get them with each run, after the organization’s.'
            : 'Agents get them with each run, after those of the organization if it has some.'
        }
        fault={faultAt(fields, '/instructions')}
      />
      <p className="text-ink-2">
        Skills are what they read when they need it.{' '}
        <Link to="/apps/$appId/skills" params={{ appId }} className="link">
          The app’s skills
        </Link>
      </p>
    </>
  );
}
