/** A task that is dragged by a pointer, by the browser's own means. */
import type { Task } from '@headrace/client';

const TYPE = 'application/x-headrace-task';

type Dragged = Pick<Task, 'id' | 'identifier' | 'status'>;

export function putTask(transfer: DataTransfer, { id, identifier, status }: Dragged): void {
  transfer.setData(TYPE, JSON.stringify({ id, identifier, status }));
  transfer.effectAllowed = 'move';
}

export const hasTask = (transfer: DataTransfer): boolean => transfer.types.includes(TYPE);

/** Null: something else was dropped. */
export function takeTask(transfer: DataTransfer): Dragged | null {
  try {
    return JSON.parse(transfer.getData(TYPE)) as Dragged;
  } catch {
    return null;
  }
}
