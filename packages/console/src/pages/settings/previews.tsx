import type { Settings } from '@headrace/client';
import { Field, Switch } from '../../ui/fields.tsx';
import { AllowConsole } from './allow-console.tsx';
import { ancestorsOf, faultAt } from './draft.ts';
import { Note } from './limits.tsx';
import type { PartProps } from './part.ts';

/** Which pages may show previews in a frame. */
export function Previews({
  of,
  appId,
  stored,
  draft,
  set,
  fields,
  organization,
}: PartProps & { appId: string | null; stored: Settings }) {
  const { own, lines } = draft.frameAncestors;
  const inheritedLines = organization?.preview?.frameAncestors;
  const isTyped = JSON.stringify(ancestorsOf(draft)) !== JSON.stringify(stored.preview?.frameAncestors ?? []);
  return (
    <>
      <div>
        <Switch isSelected={own} onChange={(value) => set({ frameAncestors: { own: value, lines } })}>
          {of === 'organization'
            ? 'Only listed pages may show previews in a frame'
            : `Only listed pages may show this ${of}’s previews in a frame`}
        </Switch>
        <Note>
          {own
            ? 'An empty list means that no page may.'
            : of === 'organization'
              ? 'Off: any page may, unless an app or project says otherwise.'
              : inheritedLines
                ? `Off: as the organization says, ${inheritedLines.join(', ') || 'no page'}.`
                : 'Off: as the organization says, else any page may.'}
        </Note>
      </div>
      {own && (
        <Field
          label="Pages"
          mono
          lines={Math.min(10, Math.max(3, lines.split('\n').length + 1))}
          placeholder="https://app.example.com"
          value={lines}
          onChange={(next) => set({ frameAncestors: { own, lines: next } })}
          hint="One in a line: an origin, or a pattern such as https://*.example.com."
          fault={
            faultAt(fields, '/preview/frameAncestors', ancestorsOf(draft)) ?? faultAt(fields, '/preview')
          }
        />
      )}
      {appId !== null && !isTyped && <AllowConsole appId={appId} settings={stored} />}
    </>
  );
}
