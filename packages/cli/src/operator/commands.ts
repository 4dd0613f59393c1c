import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { usage } from '../core/fault.ts';

/**
 * These work on the server's host, with the server's packages. The published package has neither: it has this table only.
 */
async function onHost<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usage(
      `headrace ${name} works on the host of the service, where the service is installed.`,
      `There, in the service's checkout: npm run headrace -- ${name}`,
    );
  }
}

const LIKE_SERVICE = `Reads DATABASE_URL, HEADRACE_DATA_DIR, HEADRACE_S3_* and \
HEADRACE_SECRET_KEY like the service.`;

export const operatorCommands: readonly Command[] = [
  command({
    name: 'doctor',
    group: 'Operator',
    summary: 'Check this host, or a service',
    details: `On a host: Node, git, the database, sandboxes, the bucket; with HEADRACE_TLS_CERT_FILE the \
certificate, and on a runner's node whether the workers answer it. With --remote, of the service \
that you are signed in at: its version, whether it is ready, your key, its clock.
Exits with 1 if something required is missing.
--json prints {ok, findings}, each with name, ok, detail and warnings.`,
    options: { remote: { type: 'boolean', help: 'examine the service, through its API' } },
    examples: ['headrace doctor', 'headrace doctor --remote'],
    scope: 'service',
    run: async (cli, { options: { remote } }) =>
      remote
        ? (await import('./examine-service.ts')).examineService(cli)
        : (await onHost('doctor', () => import('./doctor.ts'))).examineHost(cli),
  }),
  command({
    name: 'certs',
    group: 'Operator',
    summary: 'Make certificates for the link between workers and runners',
    details: `For services on several machines. The folder gets an authority (ca.crt, ca.key) if it \
has none; with --role, a certificate and its key (NAME.crt, NAME.key). A machine needs ca.crt and its own pair: \
HEADRACE_TLS_CA_FILE, HEADRACE_TLS_CERT_FILE, HEADRACE_TLS_KEY_FILE. ca.key stays with you. Files that exist are \
never overwritten, except by --renew: processes read their files again when they change. --revoke adds a certificate \
to ca.crl, the list of revoked ones, which all machines may have as HEADRACE_TLS_CRL_FILE. Revoke before you renew: \
only the certificate that is in the folder is found. Uses openssl.
--json prints {ok, authority, list, isNewAuthority, certificates, revoked}.`,
    options: {
      dir: { type: 'string', value: 'DIR', help: 'the folder (required)', completes: 'folder' },
      role: {
        type: 'string',
        value: 'ROLE',
        multiple: true,
        choices: ['api', 'worker', 'runner'],
        help: 'make a certificate of this role',
      },
      host: {
        type: 'string',
        value: 'HOST',
        multiple: true,
        help: 'a name or an address under which the others connect to it; *.NAME for a whole domain',
      },
      name: { type: 'string', value: 'NAME', help: 'the name of the files (ROLE-HOST)' },
      days: { type: 'number', value: 'N', help: 'how long it is valid (365)', min: 1, max: 3650 },
      revoke: {
        type: 'string',
        value: 'NAME',
        multiple: true,
        help: 'revoke the certificate of these files',
      },
      renew: { type: 'boolean', help: 'make the certificates of the folder again, or only that of --name' },
    },
    examples: [
      'headrace certs --dir certs --role worker --role api --host worker.example',
      'headrace certs --dir certs --role runner --host node-1.example --json',
      'headrace certs --dir certs --renew',
      'headrace certs --dir certs --revoke node-1',
    ],
    scope: 'none',
    run: async (cli, { options }) =>
      (await onHost('certs', () => import('./certs.ts'))).makeCertificates(cli, options),
  }),
  command({
    name: 'keys generate',
    group: 'Operator',
    summary: 'Generate a service key offline, for HEADRACE_BOOTSTRAP_KEY',
    details: `A new service takes the key from HEADRACE_BOOTSTRAP_KEY at its first start. \
\`headrace keys create\` creates a key in a running service.
--json prints {ok, key}.`,
    examples: ['headrace keys generate'],
    scope: 'none',
    run: async (cli) => (await onHost('keys generate', () => import('./keys.ts'))).generateKey(cli),
  }),
  command({
    name: 'organizations set',
    group: 'Operator',
    summary: "Set an organization's access to the Platform API, and its capabilities",
    details: `The service notices the change within a second. ${LIKE_SERVICE}
--json prints {ok, organization}.`,
    options: {
      id: { type: 'string', value: 'ORG', help: 'the organization (required)' },
      'platform-api': {
        type: 'string',
        value: 'BOOLEAN',
        choices: ['true', 'false'],
        help: 'grant or revoke the Platform API',
      },
      without: {
        type: 'string',
        value: 'NAMES',
        help: "take these capabilities from it, with commas between; '' takes none",
      },
    },
    examples: ['headrace organizations set --id org_01jd0000000000000000000000 --without hosts'],
    scope: 'none',
    run: async (cli, { options }) =>
      (await onHost('organizations set', () => import('./organizations.ts'))).setOrganization(cli, options),
  }),
  command({
    name: 'users reset-password',
    group: 'Operator',
    summary: 'Give a user a new password, and end all their sessions',
    details: `The password is generated and printed once, or read from stdin. \
${LIKE_SERVICE}
--json prints {ok, email, password}; no password that was read from stdin.`,
    options: {
      email: { type: 'string', value: 'ADDRESS', help: 'the e-mail address of the user (required)' },
      'password-stdin': { type: 'boolean', help: 'read the new password from stdin' },
    },
    examples: ['headrace users reset-password --email kim@example.com'],
    scope: 'none',
    run: async (cli, { options }) =>
      (await onHost('users reset-password', () => import('./users.ts'))).resetUserPassword(cli, options),
  }),
  command({
    name: 'runtimes import',
    group: 'Operator',
    summary: "Unpack an image's archive into the data folder, as a runtime for sandboxes",
    details: `The archive is of an OCI image, or of \`docker save\`. --json prints {ok, message}.`,
    args: ['NAME', 'ARCHIVE'],
    argHelp: { NAME: 'its name in the settings', ARCHIVE: 'a tar file' },
    argCompletes: { ARCHIVE: 'file' },
    examples: ['headrace runtimes import python-3.13 python.tar'],
    scope: 'none',
    run: async (cli, { args: [name, archive] }) =>
      (await onHost('runtimes import', () => import('./runtimes/import-runtime.ts'))).importArchive(
        cli,
        name,
        archive,
      ),
  }),
  command({
    name: 'storage verify',
    group: 'Operator',
    summary: 'Read and hash everything that is stored, and report damage',
    details: `Reads every registered object, hashes every content and artifact, and compares \
them with the database. It writes nothing and can run next to a running service. \
${LIKE_SERVICE}
Exits with 0 if all is sound, 1 if there is damage, 3 if it could not finish: the \
store or the database is unavailable. --json prints the report.`,
    options: {
      project: { type: 'string', value: 'ID', help: 'only this project' },
      concurrency: {
        type: 'number',
        value: 'N',
        help: 'how many objects to read at the same time, 1 to 16 (4)',
        min: 1,
        max: 16,
      },
    },
    examples: ['headrace storage verify', 'headrace storage verify --concurrency 8 --json'],
    scope: 'none',
    run: async (cli, { options }) =>
      (await onHost('storage verify', () => import('./storage.ts'))).verifyStored(cli, options),
  }),
  command({
    name: 'backup',
    group: 'Operator',
    summary: 'Write one consistent point of everything to an empty folder',
    details: `Database, objects, repositories and secret keys. The service runs on: every write \
that was acknowledged before the point is in the backup. The folder contains the \
secret keys: keep it as safe as they are. ${LIKE_SERVICE}
Exits with 1 if objects or repositories are missing or damaged.
--json prints {ok, folder, point, tables, rows, objects, repositories}.`,
    args: ['DIR'],
    argHelp: { DIR: 'made, or empty' },
    argCompletes: { DIR: 'folder' },
    examples: ['headrace backup /backups/2026-11-22'],
    scope: 'none',
    run: async (cli, { args: [folder] }) =>
      (await onHost('backup', () => import('./backup.ts'))).writeBackup(cli, folder),
  }),
  command({
    name: 'restore',
    group: 'Operator',
    summary: 'Restore a backup into a new service, and verify it',
    details: `Of an empty data folder (HEADRACE_DATA_DIR; config.json may be there), or, with \
DATABASE_URL, of an empty database and an empty store. Then reads and hashes \
everything, as \`storage verify\` does. No service may run there. Event cursors from \
before the restore answer 410 cursor_expired. ${LIKE_SERVICE}
\`headrace thread restore\` is another command: it brings back the files of a thread.
--json prints {ok, folder, point, storage}, and counts of what was restored.`,
    args: ['DIR'],
    argHelp: { DIR: 'of `headrace backup`' },
    argCompletes: { DIR: 'folder' },
    examples: ['headrace restore /backups/2026-11-22'],
    scope: 'none',
    run: async (cli, { args: [folder] }) =>
      (await onHost('restore', () => import('./backup.ts'))).restoreBackup(cli, folder),
  }),
  command({
    name: 'migrate',
    group: 'Operator',
    summary: "Bring an external database to this version's schema",
    details: `A service does this itself when it starts. Where several processes are replaced one by \
one, run it once before them. It does nothing if the schema is of this version, and fails \
if it is newer. ${LIKE_SERVICE}
--json prints {ok, schema}: the number of the newest migration.`,
    examples: ['headrace migrate'],
    scope: 'none',
    run: async (cli) => (await onHost('migrate', () => import('./migrate.ts'))).migrateDatabase(cli),
  }),
  command({
    name: 'secrets new-key',
    group: 'Operator',
    summary: 'Give the data folder a new secret key',
    details: `The former key still opens what it sealed. Restart the service, then run \
\`headrace secrets rotate\`. --json prints {ok, path}.`,
    examples: ['headrace secrets new-key'],
    scope: 'none',
    run: async (cli) => (await onHost('secrets new-key', () => import('./secrets.ts'))).newSecretKey(cli),
  }),
  command({
    name: 'secrets rotate',
    group: 'Operator',
    summary: 'Reseal with the current secret key what former keys sealed',
    details: `Exits with 1 if something remains that no key opens. ${LIKE_SERVICE}
--json prints {ok, formerKeys, rotated}.`,
    examples: ['headrace secrets rotate'],
    scope: 'none',
    run: async (cli) => (await onHost('secrets rotate', () => import('./secrets.ts'))).rotateSealed(cli),
  }),
];
