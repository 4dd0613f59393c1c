/** Where the console's pages are, for the sidebar, the palette and the organization's own navigation. */
import type { LinkProps } from '@tanstack/react-router';
import { useIsAdmin, useIsOperator, useMay, useSession } from '../api/session.ts';

export interface Place {
  text: string;
  to: LinkProps['to'];
}

const shown = (places: (Place & { may?: boolean })[]): Place[] =>
  places.filter(({ may = true }) => may).map(({ text, to }) => ({ text, to }));

/** What the organization may not use, or this user may not read, is left out. */
export function usePlaces(): Place[] {
  const { platformApi, sourceControl, automations } = useSession().entitlements;
  const mayReadAutomations = useMay('automation:read');
  const isOperator = useIsOperator();
  return shown([
    { text: 'Inbox', to: '/' },
    { text: 'Apps', to: '/apps', may: platformApi },
    { text: 'Projects', to: '/projects' },
    { text: 'Pull requests', to: '/pull-requests', may: sourceControl },
    { text: 'Tasks', to: '/tasks' },
    { text: 'Automations', to: '/automations', may: automations && mayReadAutomations },
    { text: 'Events', to: '/events' },
    { text: 'Operations', to: '/operations' },
    { text: 'Organization', to: '/organization/team' },
    { text: 'System', to: '/system', may: isOperator },
  ]);
}

/** The organization's parts. */
export function useOrganizationPlaces(): Place[] {
  const { sourceControl, webhooks, hosts } = useSession().entitlements;
  const isAdmin = useIsAdmin();
  const mayReadRepositories = useMay('repo:read');
  const mayReadWebhooks = useMay('webhook:read');
  const mayReadThreads = useMay('thread:read');
  const mayReadModels = useMay('modelKey:read');
  const mayReadServers = useMay('mcpServer:read');
  const mayReadUsage = useMay('usage:read');
  return shown([
    { text: 'Team', to: '/organization/team' },
    { text: 'Keys', to: '/organization/keys', may: isAdmin },
    { text: 'Repositories', to: '/organization/repositories', may: sourceControl && mayReadRepositories },
    { text: 'Webhooks', to: '/organization/webhooks', may: webhooks && mayReadWebhooks },
    { text: 'Hosts', to: '/organization/hosts', may: hosts && mayReadThreads },
    { text: 'Models', to: '/organization/models', may: mayReadModels },
    { text: 'MCP servers', to: '/organization/mcp-servers', may: mayReadServers },
    { text: 'Variables', to: '/organization/environment', may: isAdmin },
    { text: 'Skills', to: '/organization/skills', may: isAdmin },
    { text: 'Usage', to: '/organization/usage', may: mayReadUsage },
    { text: 'Audit', to: '/organization/audit', may: isAdmin },
    { text: 'Settings', to: '/organization/settings', may: isAdmin },
  ]);
}
