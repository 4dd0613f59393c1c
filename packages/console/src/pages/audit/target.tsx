import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Plain } from '../../code/plain.tsx';
import { Id } from '../../ui/values.tsx';

export type Names = ReadonlyMap<string, string>;

/** What was changed: a link where it has a page, whether or not it is still there. */
export function Target({ id, names }: { id: string | null; names: Names }) {
  if (id === null) return <span className="text-ink-3">–</span>;
  const text: ReactNode = <Named id={id} names={names} />;
  const link = { className: 'link' };
  switch (id.slice(0, id.indexOf('_'))) {
    case 'sa':
      return (
        <Link to="/organization/keys/$accountId" params={{ accountId: id }} {...link}>
          {text}
        </Link>
      );
    case 'prj':
      return (
        <Link to="/apps/$appId" params={{ appId: id }} {...link}>
          {text}
        </Link>
      );
    case 'wh':
      return (
        <Link to="/organization/webhooks/$webhookId" params={{ webhookId: id }} {...link}>
          {text}
        </Link>
      );
    case 'hst':
      return (
        <Link to="/organization/hosts/$hostId" params={{ hostId: id }} {...link}>
          {text}
        </Link>
      );
    case 'aut':
      return (
        <Link to="/automations/$automationId" params={{ automationId: id }} {...link}>
          {text}
        </Link>
      );
    case 'task':
      return (
        <Link to="/tasks/$taskId" params={{ taskId: id }} {...link}>
          {text}
        </Link>
      );
    case 'repo':
      return (
        <Link to="/organization/repositories/$repositoryId" params={{ repositoryId: id }} {...link}>
          {text}
        </Link>
      );
    case 'ins':
      return (
        <Link to="/organization/installations/$installationId" params={{ installationId: id }} {...link}>
          {text}
        </Link>
      );
    default:
      return names.has(id) ? text : <Named id={id} names={names} copy />;
  }
}

/** By its name where that is known. Not every target is an id: a provider and a variable have names. */
export function Named({ id, names, copy = false }: { id: string; names: Names; copy?: boolean }) {
  const name = names.get(id);
  if (name !== undefined) return <Plain text={name} />;
  return /^[a-z]+_[0-9a-z]{26}$/.test(id) ? <Id value={id} copy={copy} /> : <Plain text={id} />;
}
