import { join } from 'node:path';
import type { Config } from '../../config.ts';

/** The bare repository of the built-in provider; its name is the row's id, which no caller chooses. */
export const localFolder = ({ dataDir }: Pick<Config, 'dataDir'>, repositoryId: string): string =>
  join(dataDir, 'repositories', `${repositoryId}.git`);
