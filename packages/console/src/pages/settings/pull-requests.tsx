import type { Settings } from '@headrace/client';
import { Choices } from '../../ui/choices.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { faultAt } from './draft.ts';

import { inherit, inherited } from './inherited.ts';
import { Note } from './limits.tsx';
import type { PartProps } from './part.ts';

const FLAG = [
  { id: 'yes', text: 'Yes' },
  { id: 'no', text: 'No' },
];
const METHODS = [
  { id: 'merge', text: 'Merge commit' },
  { id: 'squash', text: 'Squash' },
  { id: 'rebase', text: 'Rebase' },
];

const yesNo = (value: boolean | null | undefined) => (value == null ? null : value ? 'yes' : 'no');
/** What the organization says. */
const NOW: Record<Flag, (settings: Settings) => string | null> = {
  pullRequestDraft: ({ pullRequests }) => yesNo(pullRequests?.draft),
  loopEnabled: ({ reviewLoop }) => yesNo(reviewLoop?.enabled),
  loopMerge: ({ reviewLoop }) => yesNo(reviewLoop?.autoMerge),
  loopReply: ({ reviewLoop }) => yesNo(reviewLoop?.reply),
};

type Flag = 'pullRequestDraft' | 'loopEnabled' | 'loopMerge' | 'loopReply';

/** For projects whose threads become pull requests. */
export function PullRequests(props: PartProps) {
  const { of, draft, set, wrong, fields } = props;
  const flag = (name: Flag, label: string, pointer: string) => (
    <div>
      <Choices
        label={label}
        hint={
          draft[name] === '' && `Now: ${inherited(props, NOW[name], name === 'loopReply' ? 'yes' : 'no')}.`
        }
        choices={[inherit(of), ...FLAG]}
        value={draft[name]}
        onChange={(value) => set({ [name]: value })}
      />
      {faultAt(fields, pointer) && <Note fault={faultAt(fields, pointer)}>{null}</Note>}
    </div>
  );
  return (
    <>
      <p className="text-ink-2">They hold where threads become pull requests of a repository.</p>
      {flag('pullRequestDraft', 'New pull requests are drafts', '/pullRequests/draft')}
      {flag('loopEnabled', 'New pull requests begin with their review loop', '/reviewLoop/enabled')}
      {flag('loopMerge', 'The loop merges by itself', '/reviewLoop/autoMerge')}
      {flag('loopReply', 'Review comments get a reply', '/reviewLoop/reply')}
      <Field
        label="Passes in a row"
        inputMode="numeric"
        value={draft.loopPasses}
        onChange={(loopPasses) => set({ loopPasses })}
        hint={`1 to 20. Empty: ${inherited(props, ({ reviewLoop: loop }) => (loop?.maxPasses == null ? null : String(loop.maxPasses)), '5')}.`}
        fault={wrong.loopPasses ?? faultAt(fields, '/reviewLoop/maxPasses')}
      />
      <div className="flex flex-col gap-1">
        <Select
          label="How pull requests are merged"
          choices={[inherit(of), ...METHODS]}
          value={draft.loopMethod}
          onChange={(loopMethod) => set({ loopMethod })}
        />
        <Note fault={faultAt(fields, '/reviewLoop/mergeMethod')}>
          {draft.loopMethod === '' &&
            `Now: ${inherited(props, ({ reviewLoop: loop }) => loop?.mergeMethod ?? null, 'the first way that the repository allows')}.`}
        </Note>
      </div>
      <Field
        label="Text at the start of each pass"
        lines={4}
        value={draft.loopInstructions}
        onChange={(loopInstructions) => set({ loopInstructions })}
        maxLength={20_000}
        fault={faultAt(fields, '/reviewLoop/instructions')}
      />
    </>
  );
}
