/** Conditions on what starts an automation: all of them have to hold. */
import { X } from 'lucide-react';
import { useRef } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { Note } from '../settings/limits.tsx';
import type { Op, Rule } from './draft.ts';
import type { PartProps } from './part.ts';

const OPS: { id: Op; text: string }[] = [
  { id: 'eq', text: 'is' },
  { id: 'ne', text: 'is not' },
  { id: 'in', text: 'is one of' },
  { id: 'contains', text: 'contains' },
  { id: 'exists', text: 'exists' },
];
const MOST = 20;

export function FilterPart({ draft, set, faultAt }: PartProps) {
  const change = (at: number, part: Partial<Rule>) =>
    set({ filter: draft.filter.map((rule, i) => (i === at ? { ...rule, ...part } : rule)) });
  const add = useRef<HTMLSpanElement>(null);
  const remove = (at: number) => {
    // With the last row goes its button. Another row takes the place of one before it.
    if (at === draft.filter.length - 1) add.current?.querySelector('button')?.focus();
    set({ filter: draft.filter.filter((_, i) => i !== at) });
  };
  const root = draft.kind === 'event' ? 'event.data' : 'payload';
  return (
    <div role="group" aria-label="Conditions" className="flex flex-col gap-2">
      <span className="label">Conditions</span>
      {draft.filter.map((rule, at) => (
        <div key={at} className="flex flex-wrap items-start gap-2 sm:flex-nowrap">
          <Field
            label={`Path ${at + 1}`}
            mono
            placeholder={`${root}.action`}
            maxLength={500}
            value={rule.path}
            onChange={(path) => change(at, { path })}
            fault={faultAt(`/filter/${at}/path`)}
          />
          <div className="w-32 shrink-0">
            <Select
              label={`Comparison ${at + 1}`}
              choices={OPS}
              value={rule.op}
              onChange={(op) => change(at, { op: op as Op })}
            />
          </div>
          {rule.op !== 'exists' && (
            <Field
              label={`Value ${at + 1}`}
              mono
              placeholder={rule.op === 'in' ? '["error", "fatal"]' : 'created'}
              value={rule.value}
              onChange={(value) => change(at, { value })}
              fault={faultAt(`/filter/${at}/value`)}
            />
          )}
          <span className="sm:mt-5">
            <IconButton label={`Remove condition ${at + 1}`} onPress={() => remove(at)}>
              <X size={14} />
            </IconButton>
          </span>
        </div>
      ))}
      <Note fault={draft.filter.some((_, at) => faultAt(`/filter/${at}`)) ? null : faultAt('/filter')}>
        {draft.filter.length === 0
          ? 'None: everything that comes starts it.'
          : 'All have to hold. A value is JSON, or else plain text: 5 is a number, "5" is text.'}
      </Note>
      <span ref={add} className="self-start">
        <Button
          offBecause={draft.filter.length < MOST ? null : `It has ${MOST}, which are the most.`}
          onPress={() => set({ filter: [...draft.filter, { path: `${root}.`, op: 'eq', value: '' }] })}
        >
          Add a condition
        </Button>
      </span>
    </div>
  );
}
