/** `headrace`: operator commands that do not go through the API. */
import { parseArgs } from 'node:util';
import { makeServiceKey } from '@headrace/server/accounts/keys.ts';
import { readConfig } from '@headrace/server/config.ts';
import { doctor } from './doctor.ts';
import { setOrganization } from './organizations.ts';
import { importRuntime } from './runtimes/import-runtime.ts';
import { STORAGE_HELP, verifyStored } from './storage.ts';
import { UsageError } from './usage-error.ts';
import { resetUserPassword } from './users.ts';

const HELP = `headrace <command>
  keys generate       print a new service key, generated offline, for HEADRACE_BOOTSTRAP_KEY
  doctor [--json]     report what this host offers: Node, git, database, sandbox; exit 1 if a requirement is missing
  organizations set --id ORG [--platform-api=true|false] [--without NAMES]
                      grant or revoke an organization's access to the Platform API; take capabilities from it (hosts; \
none: --without ''); reads DATABASE_URL or HEADRACE_DATA_DIR like the service
  runtimes import NAME ARCHIVE
                      unpack an image (OCI or docker save archive) into the data folder, as a runtime for sandboxes
  storage verify [--project ID] [--concurrency N] [--json]
                      read and hash everything that is stored, and report damage; details: \`storage verify --help\`
  users reset-password --email ADDRESS [--password-stdin]
                      give a user a new password, generated and printed once, or read from stdin; end all their sessions
  backup DIR [--json] write database, objects and secret keys to an empty folder while the service runs; details: \`backup --help\`
  restore DIR [--json]
                      make a backup the state of an empty data folder or database, and verify it
  secrets new-key     give the data folder a new secret key; the one before still opens what it sealed
  secrets rotate [--json]
                      seal with the current secret key what former ones sealed, and say what remains; exit 1 if no key opens it
  --help              print this help`;

/** Returns the exit code. Throws UsageError, and Error with a message for the operator. */
async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parsed(argv);
  const command = positionals.join(' ');
  if (values.help || command === 'help') {
    console.log(await helpOf(command));
    return 0;
  }
  if (command === 'keys generate') {
    console.log(makeServiceKey());
    return 0;
  }
  if (command === 'doctor') return doctor(values.json === true);
  if (command === 'organizations set') return setOrganization(values);
  if (command === 'runtimes import' || command.startsWith('runtimes import ')) {
    const { dataDir } = readConfig(process.env, () => true);
    console.log(await importRuntime(positionals[2], positionals[3], dataDir));
    return 0;
  }
  if (command === 'storage verify') return verifyStored(values);
  if (command === 'users reset-password') return resetUserPassword(values);
  const code = await runHeavy(positionals, values.json === true);
  if (code !== undefined) return code;
  throw new UsageError(command === '' ? 'Name a command.' : `There is no command \`${command}\`.`);
}

/** Commands that load most of the service: only when they are called. Undefined for any other command. */
async function runHeavy([name, about, ...more]: string[], asJson: boolean): Promise<number | undefined> {
  if (more.length > 0) return undefined;
  if (name === 'backup') return (await import('./backup.ts')).writeBackup(about, asJson);
  if (name === 'restore') return (await import('./backup.ts')).restoreBackup(about, asJson);
  if (name !== 'secrets') return undefined;
  const secrets = await import('./secrets.ts');
  if (about === 'new-key') return secrets.newSecretKey();
  return about === 'rotate' ? secrets.rotateSealed(asJson) : undefined;
}

async function helpOf(command: string): Promise<string> {
  if (command === 'storage verify') return STORAGE_HELP;
  return /^(backup|restore)\b/.test(command) ? (await import('./backup.ts')).BACKUP_HELP : HELP;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  id: { type: 'string' },
  'platform-api': { type: 'string' },
  without: { type: 'string' },
  project: { type: 'string' },
  concurrency: { type: 'string' },
  email: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const;

function parsed(argv: string[]) {
  try {
    return parseArgs({ args: argv, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  console.error(isUsage ? `${error.message}\n\n${HELP}` : `headrace: ${(error as Error).message}`);
  process.exitCode = isUsage ? 2 : 1;
}
