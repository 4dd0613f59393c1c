import type { Task } from '@headrace/client';
import { Menu } from '../../ui/menu.tsx';
import type { ButtonKind } from '../../ui/button.tsx';
import type { ReactNode } from 'react';
import { STATUSES, wordOf } from './words.ts';

/** Sets a task's status, or lets it follow its threads. Which of both it does now, the service does not tell. */
export function StatusMenu({
  task,
  icon,
  kind,
  onSet,
}: {
  task: Task;
  icon?: ReactNode;
  kind: ButtonKind;
  onSet: (status: Task['status'] | null) => void;
}) {
  return (
    <Menu
      label={icon ? `Set the status of ${task.identifier}` : 'Set status'}
      {...(icon && { icon })}
      kind={kind}
      items={[
        ...STATUSES.map((status) => ({
          id: status,
          text: `Set status ${wordOf(status)}`,
          onAction: () => onSet(status),
        })),
        { id: 'follow', text: 'Let it follow its threads', onAction: () => onSet(null) },
      ]}
    />
  );
}
