// Cuts what Headrace asks GitHub for out of GitHub's OpenAPI description, for the stand-in that the tests use:
// the whole package is 500 MB unpacked. Run it after a change of the list, or for a newer description.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = '@octokit/openapi@23.0.2';
const TARGET = 'packages/server/src/scm/github/openapi.fixture.json';
const REPO = '/repos/{owner}/{repo}';
const OPERATIONS = [
  'GET /app',
  'GET /app/installations/{installation_id}',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /installation/repositories',
  'GET /user',
  'GET /user/repos',
  'GET /users/{username}',
  `GET ${REPO}`,
  `GET ${REPO}/branches`,
  `GET ${REPO}/git/matching-refs/{ref}`,
  `GET ${REPO}/git/ref/{ref}`,
  `GET ${REPO}/git/commits/{commit_sha}`,
  `GET ${REPO}/git/trees/{tree_sha}`,
  `GET ${REPO}/git/blobs/{file_sha}`,
  `GET ${REPO}/pulls`,
  `POST ${REPO}/pulls`,
  `GET ${REPO}/pulls/{pull_number}`,
  `PATCH ${REPO}/pulls/{pull_number}`,
  `PUT ${REPO}/pulls/{pull_number}/merge`,
  `GET ${REPO}/commits/{ref}/check-runs`,
  `GET ${REPO}/commits/{ref}/status`,
  `GET ${REPO}/check-runs/{check_run_id}`,
  `GET ${REPO}/actions/jobs/{job_id}/logs`,
  `GET ${REPO}/issues/{issue_number}`,
  `GET ${REPO}/issues/{issue_number}/comments`,
  `POST ${REPO}/issues/{issue_number}/comments`,
];

/** Without what only people read. */
function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, one]) =>
      !(['example', 'examples'].includes(key) || (key === 'description' && typeof one === 'string')),
  );
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one)]));
}

const folder = mkdtempSync(join(tmpdir(), 'github-openapi-'));
try {
  execFileSync('npm', ['pack', PACKAGE, '--silent'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const file = 'package/generated/api.github.com.deref.json';
  execFileSync('tar', ['xzf', readdirSync(folder)[0], file], { cwd: folder });
  const { info, paths } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const operations = Object.fromEntries(
    OPERATIONS.map((one) => {
      const [method, path] = one.split(' ');
      const { parameters = [], requestBody, 'x-github': github } = paths[path][method.toLowerCase()];
      return [
        one,
        {
          isForApps: github?.enabledForGitHubApps !== false,
          parameters: parameters.map(({ name, in: place, required, schema }) =>
            bare({ name, in: place, required, schema }),
          ),
          body: bare(requestBody?.content?.['application/json']?.schema),
        },
      ];
    }),
  );
  const text = JSON.stringify({ from: PACKAGE, version: info.version, operations }, null, 1);
  writeFileSync(TARGET, `${text}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
