import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Select, Switch } from '../../ui/fields.tsx';
import { plural } from '../../ui/values.tsx';
import { faultAt } from './draft.ts';
import type { Rule } from './draft.ts';
import { Note } from './limits.tsx';
import type { PartProps } from './part.ts';

const DECISIONS = [
  { id: 'ask', text: 'Ask' },
  { id: 'allow', text: 'Allow' },
  { id: 'deny', text: 'Deny' },
];
const NEW: Rule = { tool: 'sh', pattern: '', decision: 'ask' };
const MOST = 100;

/** Rules for tools, in their order: the first that matches decides. */
export function Approvals({ of, draft, set, wrong, fields, organization }: PartProps) {
  const { own, rules } = draft.approvals;
  const setRules = (next: Rule[]) => set({ approvals: { own: true, rules: next } });
  const exact = fields.find(({ path }) => path === '/approvals');
  const inheritedCount = organization?.approvals?.length ?? null;
  return (
    <>
      <div>
        <Switch isSelected={own} onChange={(value) => set({ approvals: { own: value, rules } })}>
          {of === 'organization' ? 'The organization has rules' : `This ${of} has its own rules`}
        </Switch>
        <Note fault={wrong.approvals ?? exact?.message ?? null}>
          {own
            ? of === 'organization'
              ? 'The first rule that matches a tool decides, where an app or project has no rules of its own. Where none matches, the tool may run.'
              : 'The first rule that matches a tool decides, in place of all of the organization’s. Where none matches, the tool may run.'
            : of === 'organization'
              ? 'Off: every tool may run where an app or project has no rules.'
              : inheritedCount === null
                ? 'Off: the organization’s rules hold. Without any, every tool may run.'
                : `Off: the organization’s ${plural(inheritedCount, 'rule')} hold. Where none matches, the tool may run.`}
        </Note>
      </div>
      {own && (
        <>
          <ol aria-label="Rules" className="flex flex-col">
            {rules.map((rule, index) => (
              <RuleRow
                // Rules have no id: their place is what they are known by.
                key={index}
                rule={rule}
                number={index + 1}
                isLast={index === rules.length - 1}
                fault={faultAt(fields, `/approvals/${index}`)}
                onChange={(next) => setRules(rules.with(index, next))}
                onMove={(step) => setRules(swapped(rules, index, index + step))}
                onRemove={() => setRules(rules.toSpliced(index, 1))}
              />
            ))}
          </ol>
          {rules.length === 0 && <p className="text-ink-2">No rules: every tool may run.</p>}
          <div>
            <Button
              offBecause={rules.length >= MOST ? `At most ${MOST} rules.` : null}
              onPress={() => setRules([...rules, NEW])}
            >
              Add a rule
            </Button>
          </div>
        </>
      )}
    </>
  );
}

const swapped = (rules: readonly Rule[], a: number, b: number) => rules.with(a, rules[b]!).with(b, rules[a]!);

function RuleRow({
  rule,
  number,
  isLast,
  fault,
  onChange,
  onMove,
  onRemove,
}: {
  rule: Rule;
  number: number;
  isLast: boolean;
  fault: string | null;
  onChange: (rule: Rule) => void;
  onMove: (step: 1 | -1) => void;
  onRemove: () => void;
}) {
  return (
    <li
      aria-label={`Rule ${number}`}
      className="grid grid-cols-2 items-end gap-2 border-t border-line py-2 sm:grid-cols-[112px_96px_1fr_auto]"
    >
      <Select
        label="Decision"
        choices={DECISIONS}
        value={rule.decision}
        onChange={(decision) => onChange({ ...rule, decision })}
      />
      <Field
        label="Tool"
        mono
        value={rule.tool}
        onChange={(tool) => onChange({ ...rule, tool })}
        maxLength={100}
      />
      <div className="col-span-2 sm:col-span-1">
        <Field
          label="Command"
          mono
          placeholder="any, or npm publish*"
          value={rule.pattern}
          onChange={(pattern) => onChange({ ...rule, pattern })}
          maxLength={1000}
        />
      </div>
      <div className="col-span-2 flex justify-end sm:col-span-1">
        <IconButton label={`Rule ${number}: earlier`} isDisabled={number === 1} onPress={() => onMove(-1)}>
          <ArrowUp size={14} />
        </IconButton>
        <IconButton label={`Rule ${number}: later`} isDisabled={isLast} onPress={() => onMove(1)}>
          <ArrowDown size={14} />
        </IconButton>
        <IconButton label={`Remove rule ${number}`} onPress={onRemove}>
          <X size={14} />
        </IconButton>
      </div>
      {fault && (
        <p role="alert" className="long col-span-full text-12 text-fail">
          {fault}
        </p>
      )}
    </li>
  );
}
