/** Where the console shows what an id names. */
import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import { Id, shortId } from '../ui/values.tsx';

export interface Subject {
  id: string;
  projectId?: string | null | undefined;
  threadId?: string | null | undefined;
}

type Address = Pick<LinkProps, 'to' | 'params' | 'search'>;

/** What an id names, in a word: `thread`; null for a prefix that the console does not know. */
export const kindOf = (id: string): string | null => KINDS[prefixOf(id)]?.word ?? null;

/** Null where no page shows it, or where the project or thread that its page belongs to is not known. */
export const addressOf = (subject: Subject): Address | null =>
  KINDS[prefixOf(subject.id)]?.address(subject) ?? null;

/** Its id, as a link to its page if there is one. */
export function SubjectLink({ subject }: { subject: Subject }) {
  const address = addressOf(subject);
  return address ? (
    <Link {...address} className="link font-mono text-mono" title={subject.id}>
      {shortId(subject.id)}
    </Link>
  ) : (
    <Id value={subject.id} />
  );
}

const prefixOf = (id: string) => id.slice(0, id.indexOf('_'));

type Panel = 'runs' | 'changes';

/** A thread, with a panel beside it. */
export const threadAddress = ({ projectId, threadId }: Omit<Subject, 'id'>, panel?: Panel): Address | null =>
  projectId && threadId
    ? {
        to: '/apps/$appId/threads/$threadId',
        params: { appId: projectId, threadId },
        search: panel ? { panel } : {},
      }
    : null;

const inThread = (word: string, panel?: Panel) => ({
  word,
  address: (subject: Subject) => threadAddress(subject, panel),
});
const at = (address: Address) => () => address;

const KINDS: Record<string, { word: string; address: (subject: Subject) => Address | null }> = {
  prj: { word: 'project', address: ({ id }) => ({ to: '/apps/$appId', params: { appId: id } }) },
  thr: { word: 'thread', address: ({ id, projectId }) => threadAddress({ projectId, threadId: id }) },
  run: inThread('run', 'runs'),
  msg: inThread('message'),
  tool: inThread('tool call'),
  apr: inThread('approval'),
  chk: inThread('checkpoint', 'changes'),
  wsr: inThread('workspace'),
  src: {
    word: 'source',
    address: ({ id, projectId }) =>
      projectId ? { to: '/apps/$appId/sources/$sourceId', params: { appId: projectId, sourceId: id } } : null,
  },
  apl: {
    word: 'apply',
    address: ({ id, projectId }) =>
      projectId ? { to: '/apps/$appId/applies/$applyId', params: { appId: projectId, applyId: id } } : null,
  },
  bld: {
    word: 'build',
    address: ({ id, projectId }) =>
      projectId ? { to: '/apps/$appId/builds/$buildId', params: { appId: projectId, buildId: id } } : null,
  },
  prv: {
    word: 'preview',
    address: ({ id, projectId }) =>
      projectId
        ? { to: '/apps/$appId/previews/$previewId', params: { appId: projectId, previewId: id } }
        : null,
  },
  set: {
    word: 'setup',
    address: ({ id, projectId }) =>
      projectId ? { to: '/apps/$appId/setups/$setupId', params: { appId: projectId, setupId: id } } : null,
  },
  pr: {
    word: 'pull request',
    address: ({ projectId }) => ({ to: '/pull-requests', search: projectId ? { projectId } : {} }),
  },
  task: { word: 'task', address: ({ id }) => ({ to: '/tasks/$taskId', params: { taskId: id } }) },
  aut: {
    word: 'automation',
    address: ({ id }) => ({ to: '/automations/$automationId', params: { automationId: id } }),
  },
  // The execution does not say of which automation it is.
  exe: {
    word: 'execution',
    address: ({ projectId }) => ({ to: '/automations', search: projectId ? { projectId } : {} }),
  },
  op: {
    word: 'operation',
    address: ({ id }) => ({ to: '/operations/$operationId', params: { operationId: id } }),
  },
  sa: {
    word: 'service account',
    address: ({ id }) => ({ to: '/organization/keys/$accountId', params: { accountId: id } }),
  },
  wh: {
    word: 'webhook',
    address: ({ id }) => ({ to: '/organization/webhooks/$webhookId', params: { webhookId: id } }),
  },
  hst: {
    word: 'host',
    address: ({ id }) => ({ to: '/organization/hosts/$hostId', params: { hostId: id } }),
  },
  repo: {
    word: 'repository',
    address: ({ id }) => ({ to: '/organization/repositories/$repositoryId', params: { repositoryId: id } }),
  },
  ins: {
    word: 'installation',
    address: ({ id }) => ({
      to: '/organization/installations/$installationId',
      params: { installationId: id },
    }),
  },
  mcp: { word: 'MCP server', address: at({ to: '/organization/mcp-servers' }) },
  inv: { word: 'invitation', address: at({ to: '/organization/team' }) },
};
