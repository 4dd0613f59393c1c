/** The prompt, and what can be put into it. */
import { useRef } from 'react';
import { Field } from '../../ui/fields.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { Draft } from './draft.ts';
import type { PartProps } from './part.ts';

const OF_KIND: Record<Draft['kind'], [string, string][]> = {
  schedule: [],
  event: [
    ['{{event.type}}', 'The event’s type'],
    ['{{event.threadId}}', 'The event’s thread'],
    ['{{event.runId}}', 'The event’s run'],
    ['{{event.data.id}}', 'The id of what it is about'],
  ],
  webhook: [
    ['{{payload}}', 'The whole payload, on a line of its own'],
    ['{{payload.key}}', 'One value of the payload'],
  ],
};
const OF_ALL: [string, string][] = [
  ['{{automation.name}}', 'The automation’s name'],
  ['{{execution.id}}', 'The execution’s id'],
  ['{{execution.trigger.scheduledFor}}', 'The time that it was due'],
];

export function PromptPart({ draft, set, faultAt }: PartProps) {
  const place = useRef<HTMLDivElement>(null);
  const insert = (text: string) => {
    const area = place.current?.querySelector('textarea');
    const [start, end] = area
      ? [area.selectionStart, area.selectionEnd]
      : [draft.prompt.length, draft.prompt.length];
    const before = draft.prompt.slice(0, start);
    const after = draft.prompt.slice(end);
    const isWhole = text === '{{payload}}';
    const put = isWhole
      ? `${before === '' || before.endsWith('\n') ? '' : '\n'}${text}${after.startsWith('\n') ? '' : '\n'}`
      : text;
    set({ prompt: before + put + after });
    // After the menu has given the focus back.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        area?.focus();
        area?.setSelectionRange(start + put.length, start + put.length);
      }),
    );
  };
  return (
    <div ref={place} className="flex flex-col gap-1">
      <Field
        label="Prompt"
        lines={7}
        maxLength={20_000}
        value={draft.prompt}
        onChange={(prompt) => set({ prompt })}
        hint="The first message of each thread. {{payload.issue.title}} puts a value in, on one line; a missing one is left out. The roots: payload (a hook’s body), event (type, data, threadId, runId), automation, execution. {{payload}} alone on its line is all of it, quoted as JSON. \{{ is a plain {{."
        fault={faultAt('/prompt')}
      />
      <span className="self-start">
        <Menu
          label="Insert a value"
          items={[...OF_KIND[draft.kind], ...OF_ALL].map(([text, does]) => ({
            id: text,
            text: `${does}: ${text}`,
            onAction: () => insert(text),
          }))}
        />
      </span>
    </div>
  );
}
