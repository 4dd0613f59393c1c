/** The setting `setup`: a command that prepares sandboxes, and the files that it needs. */
import { Choices } from '../../ui/choices.tsx';
import { Field } from '../../ui/fields.tsx';
import type { Choice } from '../../ui/fields.tsx';
import { faultAt } from './draft.ts';
import { inherit, inherited } from './inherited.ts';
import { Note } from './limits.tsx';
import type { PartProps } from './part.ts';
import { linesOf, wrongInSetup } from './setup-draft.ts';
import type { SetupDraft } from './setup-draft.ts';

const OWN = { id: 'own', text: 'A command' };

/** Of an app: the organization's, its own, or none. Of the organization: a command or none. */
export function Setup(props: PartProps) {
  const { of, draft, set, fields } = props;
  const isShared = of === 'organization';
  const said = inherited(props, ({ setup }) => setup?.command?.slice(0, 200) ?? null, 'no setup');
  return (
    <SetupFields
      choices={isShared ? [{ id: '', text: 'None' }, OWN] : [inherit(of), OWN, { id: 'none', text: 'None' }]}
      hint={
        isShared
          ? null
          : draft.setup.kind === ''
            ? `Now: ${said}.`
            : draft.setup.kind === 'none' && 'None, even if the organization has one.'
      }
      value={draft.setup}
      onChange={(setup) => set({ setup })}
      fields={fields}
    />
  );
}

function SetupFields({
  choices,
  hint,
  value,
  onChange,
  fields,
}: {
  choices: Choice[];
  hint: string | false | null;
  value: SetupDraft;
  onChange: (value: SetupDraft) => void;
  fields: PartProps['fields'];
}) {
  const { kind, command, paths, seconds } = value;
  const wrong = wrongInSetup(value);
  const change = (some: Partial<SetupDraft>) => onChange({ ...value, ...some });
  const atPaths = faultAt(fields, '/setup/paths', linesOf(paths));
  // What was typed is kept, and the paths are sent, also where there is no command.
  const elsewhere = kind === 'own' ? null : faultAt(fields, '/setup');
  return (
    <>
      <div>
        <Choices
          label="What prepares sandboxes"
          choices={choices}
          value={kind}
          onChange={(next) => change({ kind: next })}
        />
        <Note fault={elsewhere}>{hint}</Note>
      </div>
      {kind === 'own' && (
        <>
          <Field
            label="Command"
            mono
            lines={2}
            maxLength={10_000}
            placeholder="npm ci"
            value={command}
            onChange={(next) => change({ command: next })}
            hint="Run by sh -c, once for the same files. What it leaves is below the files of threads and previews."
            fault={faultAt(fields, '/setup/command') ?? wrong.command}
          />
          <Field
            label="Files that it needs"
            mono
            lines={Math.min(10, Math.max(3, paths.split('\n').length + 1))}
            placeholder={'package.json\npackage-lock.json'}
            value={paths}
            onChange={(next) => change({ paths: next })}
            hint="One in a line: a path, a folder with a / at the end, or . for all files. A change of one of them is another setup."
            fault={atPaths ?? wrong.paths}
          />
          <Field
            label="Time limit in seconds"
            inputMode="numeric"
            value={seconds}
            onChange={(next) => change({ seconds: next })}
            hint="1 to 600. Empty: 300."
            fault={wrong.seconds ?? faultAt(fields, '/setup/timeoutSeconds')}
          />
        </>
      )}
    </>
  );
}
