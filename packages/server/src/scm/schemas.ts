/** Source control as the API takes and shows it. */
import Type from 'typebox';
import { BRANCH_PATTERN } from '../git/ref-names.ts';
import { Body, Counter, Enum, Id, IdInput, Nullable, Ok, Text, Time } from '../http/schemas.ts';

const SHA = '7d0f1c8a5b0f4e5c9a2b3d4e5f60718293a4b5c6';
const METHODS = ['merge', 'squash', 'rebase'] as const;
const Url = Text('https://git.example.com/acme/site', { maxLength: 4096 });
export const CommitSha = Text(SHA, { description: 'A whole commit id.' });
/** A name that git takes for a branch. */
export const BranchInput = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: BRANCH_PATTERN,
  examples: ['main'],
});

export const Installation = Type.Object(
  {
    id: Id('ins'),
    orgId: Id('org'),
    provider: Enum(['local', 'github']),
    name: Text('Acme'),
    accountLogin: Nullable(Text('acme')),
    baseUrl: Nullable(Text('https://api.github.com')),
    auth: Enum(['none', 'token', 'app']),
    managedBy: Enum(['service', 'config', 'api']),
    status: Enum(['connected', 'error'], {
      description: '`error` from a failed call until the next successful one.',
    }),
    error: Nullable(
      Type.Object({
        code: Enum(['access_denied', 'unreachable']),
        message: Text('The credential is refused.'),
      }),
    ),
    webhookUrl: Nullable(Text('https://headrace.example.com/api/source-control/scm/webhooks/ins_1')),
    webhookReceivedAt: Nullable(Time),
    syncedAt: Nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { description: 'A connection to a source control host. Every organization has a built-in one: `local`.' },
);

const InstallationName = Text('Acme', { minLength: 1, maxLength: 100 });
const Token = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: '^[\\x21-\\x7e]+$',
  writeOnly: true,
  examples: ['github_pat_example'],
  description: 'A personal access token. Stored encrypted, never returned.',
});
const AppNumber = (example: string, pattern: string, description: string) =>
  Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    pattern,
    maxLength: 100,
    minimum: 1,
    examples: [example],
    description,
  });
const App = Body(
  {
    appId: AppNumber('123456', '^[A-Za-z0-9._-]+$', "The App's id, or its client id."),
    installationId: AppNumber(
      '98765432',
      '^[0-9]{1,16}$',
      'The last part of the address of its installation.',
    ),
    privateKey: Text('-----BEGIN RSA PRIVATE KEY-----\n…', {
      minLength: 1,
      maxLength: 20_000,
      description: 'In PEM. Stored encrypted, never returned.',
    }),
  },
  { description: 'A GitHub App, instead of `token`.' },
);
const WebhookSecret = Text('2f1c0b7a9d8e4f6a', {
  minLength: 16,
  maxLength: 200,
  description: 'Signs deliveries to `webhookUrl`.',
});
export const NewInstallation = Body(
  {
    provider: Enum(['github']),
    name: InstallationName,
    baseUrl: Type.Optional(
      Text('https://api.github.com', {
        minLength: 1,
        maxLength: 2048,
        description:
          'Address of the API. Default: `https://api.github.com`; for an Enterprise Server `https://HOST/api/v3`.',
      }),
    ),
    token: Type.Optional(Token),
    app: Type.Optional(App),
    webhookSecret: Type.Optional(WebhookSecret),
  },
  { examples: [{ provider: 'github', name: 'Acme', token: 'github_pat_example' }] },
);
export const InstallationChange = Body(
  {
    name: Type.Optional(InstallationName),
    token: Type.Optional(Token),
    app: Type.Optional(App),
    webhookSecret: Type.Optional(WebhookSecret),
  },
  { examples: [{ name: 'Acme' }] },
);
export const InstallationWithSecret = Ok({
  installation: Installation,
  webhookSecret: Type.Optional({ ...WebhookSecret, description: 'Only in the first response.' }),
  secretUnavailable: Type.Boolean({ description: 'Whether this is a replay, without the secret.' }),
});

export const RepositoryName = Type.String({
  pattern: '^(?!.*\\.(git|lock)$)[a-z0-9][a-z0-9._-]{0,99}$',
  examples: ['site'],
  description: 'Not ending in `.git` or `.lock`.',
});
const RequiredChecks = Type.Array(Text('ci', { minLength: 1, maxLength: 100 }), {
  maxItems: 50,
  description: 'Contexts of commit statuses that have to be `success` before a merge.',
});
const MergeMethods = Type.Array(Enum(METHODS), { description: 'Allowed merge methods.' });

export const Repository = Type.Object({
  id: Id('repo'),
  installationId: Id('ins'),
  provider: Enum(['local', 'github']),
  fullName: Text('acme/site'),
  name: Text('site'),
  private: Type.Boolean(),
  archived: Type.Boolean(),
  defaultBranch: Text('main', { description: 'Set also while the repository is empty.' }),
  url: Url,
  cloneUrl: Text('https://headrace.example.com/git/site.git'),
  mergeMethods: MergeMethods,
  requiredChecks: RequiredChecks,
  createdAt: Time,
  updatedAt: Time,
});

/** A bundle's files; sources/ checks them by its rules. */
const Files = Type.Array(
  Body({
    path: Text('src/index.ts'),
    content: Text('export {};\n'),
    encoding: Type.Optional(Enum(['utf8', 'base64'], { description: 'Default: utf8.' })),
    executable: Type.Optional(Type.Boolean()),
  }),
  { description: 'As for an import. They become the first commit.' },
);
export const NewRepository = Body(
  {
    name: RepositoryName,
    defaultBranch: Type.Optional(BranchInput),
    files: Type.Optional(Files),
    message: Type.Optional(Text('First commit', { maxLength: 10_000 })),
  },
  { examples: [{ name: 'site', files: [{ path: 'README.md', content: '# Site\n' }] }] },
);
export const RepositoryChange = Body({
  defaultBranch: Type.Optional(BranchInput),
  requiredChecks: Type.Optional(RequiredChecks),
  mergeMethods: Type.Optional({ ...MergeMethods, minItems: 1, maxItems: 3, uniqueItems: true }),
});

export const Branch = Type.Object({
  name: Text('main'),
  commitSha: CommitSha,
  isDefault: Type.Boolean(),
  protected: Type.Boolean({ description: 'Whether force pushes and deletion are refused.' }),
});
export const Inspection = Type.Object({
  repositoryId: Id('repo'),
  ref: Text('main'),
  commitSha: Nullable(CommitSha),
  fileCount: Type.Integer({ minimum: 0, examples: [120] }),
  byteSize: Type.Integer({ minimum: 0, examples: [81_920] }),
  keptAsideCount: Type.Integer({
    minimum: 0,
    examples: [0],
    description: 'Entries of the commit that a source may not hold: links, submodules, refused names.',
  }),
  withinLimits: Type.Boolean({ description: 'Whether a project can use it.' }),
  truncated: Type.Boolean({ description: 'The listing is incomplete: the figures are too low.' }),
  usesLfs: Type.Boolean(),
  canPush: Type.Boolean(),
});

export const STATES = ['pending', 'success', 'failure', 'error'] as const;
const Context = Text('ci', {
  minLength: 1,
  maxLength: 100,
  description: 'Name of the reporter; its newest status counts.',
});
const Description = Text('All tests pass.', { maxLength: 1000 });
const TargetUrl = Type.String({
  format: 'uri',
  pattern: '^https?://',
  maxLength: 2048,
  examples: ['https://ci.example.com/builds/1'],
});
export const NewStatus = Body({
  context: Context,
  state: Enum(STATES),
  description: Type.Optional(Description),
  targetUrl: Type.Optional(TargetUrl),
  log: Type.Optional(
    Text('ok\n', { maxLength: 65_536, description: 'For agents that fix the failure; never returned.' }),
  ),
});
export const Status = Type.Object({
  id: Id('cst'),
  commitSha: CommitSha,
  context: Context,
  state: Enum(STATES),
  description: Nullable(Description),
  targetUrl: Nullable(TargetUrl),
  hasLog: Type.Boolean(),
  createdByUserId: Nullable(Text('sa_01k9x3v5e8f7arh2m4t6w8y0zb')),
  createdAt: Time,
});

const Title = Text('Add a page', { minLength: 1, maxLength: 256 });
const PullBody = Text('It was missing.', { maxLength: 65_536 });
export const NewLocalPull = Body({
  title: Title,
  headRef: BranchInput,
  baseRef: Type.Optional({ ...BranchInput, description: 'Default: the default branch.' }),
  body: Type.Optional(PullBody),
  draft: Type.Optional(Type.Boolean()),
});
export const LocalPullChange = Body({
  title: Type.Optional(Title),
  body: Type.Optional(PullBody),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Optional(BranchInput),
  state: Type.Optional(Enum(['open', 'closed'])),
});
export const LocalMerge = Body({
  method: Type.Optional(Enum(METHODS, { description: 'Default: the first one that the repository allows.' })),
  title: Type.Optional(Title),
  message: Type.Optional(PullBody),
  expectedHeadSha: Type.Optional(Text(SHA, { minLength: 1, maxLength: 128 })),
});
export const PULL_STATES = ['open', 'closed', 'merged'] as const;
export const LocalPull = Type.Object({
  number: Counter,
  repositoryId: Id('repo'),
  repoFullName: Text('site'),
  url: Url,
  title: Title,
  body: PullBody,
  state: Enum(PULL_STATES),
  draft: Type.Boolean(),
  headRef: Text('page'),
  headSha: CommitSha,
  baseRef: Text('main'),
  mergeable: Enum(['mergeable', 'conflicting', 'unknown']),
  mergeCommitSha: Nullable(CommitSha),
  author: Text('CI'),
  threadId: Nullable(Id('thr')),
  createdAt: Time,
  updatedAt: Time,
});

const CommentBody = Text('Please name this.', { minLength: 1, maxLength: 10_000 });
const Path = Text('src/index.ts', { minLength: 1, maxLength: 1024 });
const Line = Type.Integer({ minimum: 1, maximum: 1_000_000_000, examples: [12] });
export const NewComment = Body({
  body: CommentBody,
  path: Type.Optional(Path),
  line: Type.Optional(Line),
  inReplyTo: Type.Optional(IdInput('cmt')),
});
export const CommentChange = Body({ resolved: Type.Optional(Type.Boolean()) });
export const Comment = Type.Object({
  id: Id('cmt'),
  body: CommentBody,
  path: Nullable(Path),
  line: Nullable(Line),
  inReplyTo: Nullable(Id('cmt')),
  resolved: Type.Boolean(),
  author: Text('CI'),
  createdAt: Time,
});
