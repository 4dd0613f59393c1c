import type { Host } from '@headrace/client';

export const statusOf = ({ status }: Pick<Host, 'status'>): { status: string; word: string } =>
  status === 'online' ? { status: 'ready', word: 'online' } : { status: 'queued', word: 'offline' };

export const sharedWith = ({ share }: Pick<Host, 'share'>): string =>
  share === 'organization' ? 'for the organization' : 'for its person alone';

/** The command that connects a machine. */
export const commandOf = (origin: string): string =>
  `HEADRACE_HOST_TOKEN=… headrace host --url ${origin} --bind NAME=FOLDER --agent agent_a=COMMAND`;
