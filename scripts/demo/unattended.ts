/**
 * An automation and a webhook: an error tracker calls a hook, and everything up to the merge runs without a person. The
 * team's CI receives each change as a webhook.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Execution, PullRequest } from '@headrace/client';
import { verifyWebhook } from '@headrace/client/webhooks';
import type { WebhookEvent } from '@headrace/client/webhooks';
import { must, RUN_LIMIT_MS } from './examples.ts';
import { short } from './repository.ts';
import type { Story } from './repository.ts';
import { runTests } from './review-loop.ts';

const PATH = 'shared/fines.js';
const NOW = 'fine.settled === null';
/** The first attempt adds up the wrong fines. */
const WRONG = 'fine?.settled';
const RIGHT = 'fine?.settled === null';
const ISSUE = {
  id: '1170820242',
  shortId: 'WORKSHOP-9',
  title: "TypeError: Cannot read properties of undefined (reading 'settled')",
  level: 'error',
  project: { id: '1', slug: 'workshop' },
  web_url: 'https://acme.sentry.io/issues/1170820242/',
  url: 'https://sentry.io/api/0/organizations/acme/issues/1170820242/',
};
/** The built-in agent executes only the block. */
const replace = (from: string, to: string) => `\`\`\`sh\nsed -i 's/(${from})/(${to})/' ${PATH}\n\`\`\`\n`;
const PROMPT = `Fix {{payload.data.issue.title}} ({{payload.data.issue.web_url}}).\n\n${replace(`fine) => ${NOW}`, `fine) => ${WRONG}`)}`;
const INSTRUCTIONS = `Make the tests pass.\n\n${replace(`fine) => ${WRONG}`, `fine) => ${RIGHT}`)}`;

interface Team {
  story: Story;
  repositoryId: string;
  clone: string;
  projectId: string;
}

export async function demoAutomation(story: Story, repositoryId: string, clone: string): Promise<void> {
  const { client, output } = story;
  const project = await client.projects.create({ name: 'Workshop, unattended', repositoryId });
  await client.project(project.id).settings.update({
    reviewLoop: { enabled: true, autoMerge: true, instructions: INSTRUCTIONS },
  });
  const ci = await startCi({ story, repositoryId, clone, projectId: project.id });
  try {
    let execution: Execution | undefined;
    await output.step('hook', async () => {
      execution = await callHook(story, project.id);
      return `the error tracker reports ${ISSUE.shortId}, "${ISSUE.title}"`;
    });
    await output.step('unattended', async () => {
      const merged = await ci.merged;
      const thread = await client.thread(merged.threadId).get();
      must(thread.createdByAutomation, 'the automation made the thread');
      must(thread.errorTrackerIssue?.['shortId'] === ISSUE.shortId, 'the thread names the issue');
      const { status } = await client.automations.execution(execution!.automationId, execution!.id).done();
      must(status === 'completed', `the execution is completed (${status})`);
      return `thread, pull request, red, fix, green, merged, without a person; ${ci.received()} webhooks`;
    });
  } finally {
    await ci.stop();
  }
}

/** Creates an automation and calls its hook with a signature, as the error tracker does. Returns the execution. */
async function callHook({ client, address }: Story, projectId: string): Promise<Execution> {
  const { automation, secret } = await client.automations.create({
    name: 'Fix what the error tracker reports',
    projectId,
    prompt: PROMPT,
    trigger: { kind: 'webhook', source: 'error_tracker' },
    pullRequest: 'open',
  });
  const body = JSON.stringify({ action: 'created', data: { issue: ISSUE } });
  // The error tracker has no client of Headrace.
  const response = await fetch(`${address}${new URL(automation.hookUrl!).pathname}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'sentry-hook-signature': createHmac('sha256', secret!).update(body).digest('hex'),
    },
    body,
  });
  const answer = (await response.json()) as { execution: Execution; error?: { message: string } };
  must(response.status === 202, `the hook is accepted (${response.status} ${answer.error?.message ?? ''})`);
  return answer.execution;
}

interface Ci {
  /** Resolves with the pull request when a webhook reports its merge. */
  merged: Promise<PullRequest>;
  /** The number of webhooks with a valid signature; an invalid one fails the demo. */
  received(): number;
  stop(): Promise<void>;
}

/** The team's CI: it receives each change of a pull request, and tests each new head. */
async function startCi(team: Team): Promise<Ci> {
  const { story, projectId } = team;
  const { client, output } = story;
  const { promise: merged, resolve, reject } = Promise.withResolvers<PullRequest>();
  merged.catch(() => {});
  const tested = new Set<string>();
  let received = 0;
  let turn = Promise.resolve();
  let secret = '';
  async function look({ threadId, data }: WebhookEvent): Promise<void> {
    const pull = await client.thread(threadId!).pullRequests.get(data.id);
    if (pull.state === 'merged') {
      output.detail('webhook', `#${pull.number} is merged as ${short(pull.mergeCommitSha!)}`);
      return resolve(pull);
    }
    if (tested.has(pull.headSha)) return;
    tested.add(pull.headSha);
    output.detail('webhook', `#${pull.number} "${pull.title}" is at ${short(pull.headSha)}`);
    const failure = await runTests(team, pull);
    output.detail('ci', failure === null ? 'green' : `red: ${failure}`);
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    try {
      const event = await verifyWebhook(secret, request.headers, Buffer.concat(parts));
      response.writeHead(204).end();
      received++;
      turn = turn.then(() => look(event)).catch(reject);
    } catch (error) {
      response.writeHead(401).end();
      reject(error);
    }
  });
  const { subscription, ...created } = await client.webhooks.create({
    url: `http://127.0.0.1:${await listen(server)}/ci`,
    types: ['pull_request.*'],
    projectId,
  });
  secret = created.secret!;
  const late = sleep(RUN_LIMIT_MS, null, { ref: false }).then(() =>
    reject(new Error('No webhook reported a merge in time.')),
  );
  void late;
  return {
    merged,
    received: () => received,
    async stop() {
      await client.webhooks.delete(subscription.id);
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as { port: number }).port;
}
