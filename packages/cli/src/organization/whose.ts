import type { Cli } from '../core/cli.ts';
import { projectNamed } from '../core/ids.ts';
import { atMostOne } from '../core/input.ts';

/** Whose variables or skills a command is about: by default the app's. */
export interface Whose {
  organization: boolean;
  project: string | undefined;
}

type Client = Cli['client'];
type Owner = ReturnType<Client['app']> | ReturnType<Client['project']>;

/** Calls of the app or the project that is named; null: the organization, which takes a session. */
export async function ownerOf(
  cli: Cli,
  { organization, project }: Whose,
): Promise<((client: Client) => Owner) | null> {
  atMostOne({ organization, project, app: cli.globals.app }, ['organization', 'project', 'app']);
  if (organization) {
    cli.requireSession();
    return null;
  }
  const id = project === undefined ? await cli.appId() : await projectNamed(cli, project);
  return (client) => (project === undefined ? client.app(id) : client.project(id));
}
