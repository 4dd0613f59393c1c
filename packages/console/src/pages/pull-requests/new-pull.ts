/** What is typed for a new pull request, and what is sent of it. */
import type { CreatePullRequestInput } from '@headrace/client';
import { quoted } from '../../ui/quoted.ts';

export interface NewPull {
  what: 'new' | 'number';
  number: string;
  title: string;
  body: string;
  base: string;
  draft: 'settings' | 'yes' | 'no';
  loop: 'settings' | 'on' | 'merge' | 'off';
  comments: boolean;
}

export const EMPTY: NewPull = {
  what: 'new',
  number: '',
  title: '',
  body: '',
  base: '',
  draft: 'settings',
  loop: 'settings',
  comments: false,
};

const LOOPS: Record<
  Exclude<NewPull['loop'], 'settings'>,
  NonNullable<CreatePullRequestInput['reviewLoop']>
> = {
  on: { enabled: true, autoMerge: false },
  merge: { enabled: true, autoMerge: true },
  off: { enabled: false, autoMerge: false },
};

/** What is left empty is the service's to choose. */
export function bodyOf({
  what,
  number,
  title,
  body,
  base,
  draft,
  loop,
  comments,
}: NewPull): CreatePullRequestInput {
  const reviewLoop = loop !== 'settings' && { reviewLoop: LOOPS[loop] };
  if (what === 'number') return { number: Number(number.trim()), ...reviewLoop };
  return {
    ...(title.trim() && { title: title.trim() }),
    ...(body.trim() && { body }),
    ...(base.trim() && { base: base.trim() }),
    ...(draft !== 'settings' && { draft: draft === 'yes' }),
    ...reviewLoop,
    ...(comments && { commentOnIssue: true }),
  };
}

export const numberFault = ({ what, number }: NewPull): string | null =>
  what === 'number' && number.trim() !== '' && !/^[1-9]\d{0,14}$/.test(number.trim())
    ? 'This is no number of a pull request.'
    : null;

/** Null where there is no command: it has no flag for what is off. */
export const cliOf = (threadId: string, body: CreatePullRequestInput): string | null =>
  body.draft === false || body.reviewLoop?.autoMerge === false ? null : command(threadId, body);

const command = (threadId: string, body: CreatePullRequestInput): string =>
  [
    `headrace pr create --thread ${threadId}`,
    body.number !== undefined && `--adopt ${body.number}`,
    body.title !== undefined && `--title ${quoted(body.title)}`,
    body.body !== undefined && `--body ${quoted(body.body)}`,
    body.base !== undefined && `--base ${quoted(body.base)}`,
    body.draft && '--draft',
    body.reviewLoop?.enabled && '--loop',
    body.reviewLoop?.autoMerge && '--auto-merge',
    body.commentOnIssue && '--comment-on-issue',
  ]
    .filter(Boolean)
    .join(' ');
