/** What an answer names that the console has a page for. */
import type { Operation } from '@headrace/client';
import { addressOf } from '../../app/subject-link.tsx';
import type { Subject } from '../../app/subject-link.tsx';

const MOST = 24;
/** An answer, its resource, a part of it. */
const DEPTH = 5;
const ID = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

type Context = Omit<Subject, 'id'>;

/** Resources before those that they refer to, each once. */
export function namedIn({ id: own, projectId, response }: Operation): Subject[] {
  const resources: Subject[] = [];
  const referred: Subject[] = [];
  const walk = (value: unknown, around: Context, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth === 0) return;
    if (Array.isArray(value)) {
      for (const one of value) walk(one, around, depth - 1);
      return;
    }
    const members = Object.entries(value);
    const here = contextOf(value as Record<string, unknown>, around);
    for (const [name, member] of members) {
      if (typeof member !== 'string' || !ID.test(member)) continue;
      if (name === 'id') resources.push({ id: member, ...here });
      else if (name.endsWith('Id')) referred.push({ id: member, ...here });
    }
    for (const [, member] of members) walk(member, here, depth - 1);
  };
  walk(response, { projectId }, DEPTH);
  const found = new Map<string, Subject>();
  for (const subject of [...resources, ...referred])
    if (subject.id !== own && !found.has(subject.id) && addressOf(subject)) found.set(subject.id, subject);
  return [...found.values()].slice(0, MOST);
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function contextOf({ id, projectId, appId, threadId }: Record<string, unknown>, around: Context): Context {
  const own = textIn(id) ?? '';
  return {
    projectId:
      textIn(projectId) ?? textIn(appId) ?? (own.startsWith('prj_') ? own : undefined) ?? around.projectId,
    threadId: textIn(threadId) ?? (own.startsWith('thr_') ? own : undefined) ?? around.threadId,
  };
}
