import type { CreateWebhookInput, Subscription, UpdateWebhookInput } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fieldFault } from '../../api/faults.ts';
import { projectChoicesQuery } from '../../api/hooks-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useOffReason } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field, Select, Switch } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { isAll } from './event-types.ts';
import type { Chosen } from './event-types.ts';
import { TypesField, typesFault } from './types-field.tsx';

const ALL = '';
const MORE = ' more';

interface Typed {
  url: string;
  isAll: boolean;
  types: string[];
  projectId: string;
  disabled: boolean;
}

const NOTHING: Typed = { url: '', isAll: true, types: [], projectId: ALL, disabled: false };

interface Kept {
  /** What there was to change: of another state of the webhook, what was typed is dropped. */
  of: string | null;
  typed: Typed;
}

/** What is typed outlives a reload. `forget`: it has become what was typed for. */
export function useTypedWebhook(webhook: Subscription | null) {
  // As it was when the form was opened: what others change meanwhile is not taken back.
  const [now] = useState(() => webhook && typedOf(webhook));
  const of = now && JSON.stringify([now.url, typesOf(now)]);
  const [kept, setKept] = useKept<Kept | null>(webhook ? `webhook ${webhook.id}` : 'new webhook', null);
  return {
    now,
    typed: kept?.of === of ? kept.typed : (now ?? NOTHING),
    set: (typed: Typed) => setKept({ of, typed }),
    forget: () => setKept(null),
  };
}

const typedOf = ({ url, types, projectId, disabled }: Subscription): Typed => ({
  url,
  isAll: isAll(types),
  types: types.filter((type) => type !== '*'),
  projectId: projectId ?? ALL,
  disabled,
});

type TypedWebhook = ReturnType<typeof useTypedWebhook>;

/** The fields of a webhook, and what sends them: a new one, or changes of one. */
export function WebhookForm<T>({
  state: { now, typed, set },
  write,
  path,
  onClose,
}: {
  state: TypedWebhook;
  write: Write<CreateWebhookInput & UpdateWebhookInput, T>;
  /** Of the webhook that is changed. */
  path: string | null;
  onClose: () => void;
}) {
  const off = useOffReason();
  const body = now ? changesOf(now, typed) : bodyOf(typed);
  const wrong = typesFault(typed.isAll, typed.types);
  const offBecause =
    off ??
    (typed.url.trim() === '' ? 'Give its URL.' : wrong) ??
    (now && Object.keys(body).length === 0 ? 'Nothing is changed.' : null);
  const typesAt = write.fault?.fields.find(({ path: at }) => at.startsWith('/types'));
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!offBecause && !write.isSending) write.send(body as CreateWebhookInput);
      }}
    >
      <Field
        label="URL"
        mono
        type="url"
        placeholder="https://hooks.example.com/headrace"
        hint="The service sends a POST with the event to it."
        value={typed.url}
        onChange={(url) => set({ ...typed, url })}
        fault={fieldFault(write.fault, '/url')}
        validationBehavior="aria"
        maxLength={2048}
        autoFocus
      />
      <TypesField
        isAll={typed.isAll}
        chosen={typed.types}
        fault={typesAt ? typesAt.message : null}
        onChange={(all, types) => set({ ...typed, isAll: all, types })}
      />
      {!now && (
        <>
          <ProjectChoice value={typed.projectId} onChange={(projectId) => set({ ...typed, projectId })} />
          <Switch isSelected={typed.disabled} onChange={(disabled) => set({ ...typed, disabled })}>
            Create it paused: events wait until it is resumed
          </Switch>
        </>
      )}
      <FaultLine fault={write.fault} at={['/url', '/types']} />
      <div className="flex items-center justify-end gap-2">
        <AsCode {...samplesOf(path, body)} />
        <Button onPress={onClose} isDisabled={write.isSending}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
          {now ? 'Save' : 'Create'}
        </Button>
      </div>
    </Form>
  );
}

function ProjectChoice({ value, onChange }: { value: string; onChange: (projectId: string) => void }) {
  const projects = useInfiniteQuery(projectChoicesQuery('direct'));
  const known = itemsOf(projects.data).map(({ id, name }) => ({ id, text: name }));
  const isUnlisted = value !== ALL && !known.some(({ id }) => id === value);
  return (
    <Select
      label="Project"
      choices={[
        { id: ALL, text: 'All of the organization’s' },
        ...known,
        ...(isUnlisted ? [{ id: value, text: value }] : []),
        ...(projects.hasNextPage ? [{ id: MORE, text: 'Read more projects' }] : []),
      ]}
      value={value}
      onChange={(id) => (id === MORE ? void projects.fetchNextPage() : onChange(id))}
    />
  );
}

const typesOf = ({ isAll: all, types }: Typed) => (all ? ['*'] : types) as Chosen[];

const bodyOf = (typed: Typed): CreateWebhookInput => ({
  url: typed.url.trim(),
  types: typesOf(typed),
  ...(typed.projectId !== ALL && { projectId: typed.projectId }),
  ...(typed.disabled && { disabled: true }),
});

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const changesOf = (now: Typed, typed: Typed): UpdateWebhookInput => ({
  ...(typed.url.trim() !== now.url && { url: typed.url.trim() }),
  ...(!isSame(typesOf(typed), typesOf(now)) && { types: typesOf(typed) }),
});

function samplesOf(path: string | null, body: Partial<CreateWebhookInput>) {
  const { url, types = [], projectId, disabled } = body;
  const flags = types.map((type) => ` --type ${quoted(type)}`).join('');
  const id = path?.split('/').at(-1);
  return path
    ? {
        method: 'PATCH' as const,
        path,
        body,
        ts: `await client.webhooks.update('${id}', ${JSON.stringify(body, null, 2)});`,
        cli: `headrace webhooks update ${id}${url === undefined ? '' : ` --to-url ${quoted(url)}`}${flags}`,
      }
    : {
        method: 'POST' as const,
        path: '/api/webhooks',
        body,
        ts: `const { subscription, secret } = await client.webhooks.create(${JSON.stringify(body, null, 2)});`,
        cli: `headrace webhooks create ${quoted(url || 'https://…')}${flags}${projectId === undefined ? '' : ` --project ${projectId}`}${disabled ? ' --disabled' : ''} > hook.secret`,
      };
}
