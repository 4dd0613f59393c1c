/**
 * An automation and a webhook: an error tracker calls a hook, and everything up to the merge runs without a person. The
 * team's CI receives each change as a webhook.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { must, RUN_LIMIT_MS } from './examples.ts';
import { call, short } from './repository.ts';
import type { Answer, Story } from './repository.ts';
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
  const { output } = story;
  const { project } = await call(story, 'POST', '/api/projects', {
    name: 'Workshop, unattended',
    repositoryId,
  });
  await call(story, 'PATCH', `/api/projects/${project.id}/settings`, {
    reviewLoop: { enabled: true, autoMerge: true, instructions: INSTRUCTIONS },
  });
  const ci = await startCi({ story, repositoryId, clone, projectId: project.id });
  try {
    let execution: Answer = {};
    await output.step('hook', async () => {
      execution = await callHook(story, project.id);
      return `the error tracker reports ${ISSUE.shortId}, "${ISSUE.title}"`;
    });
    await output.step('unattended', async () => {
      const merged = await ci.merged;
      const { thread } = await call(story, 'GET', `/api/threads/${merged['threadId']}`);
      must(thread.createdByAutomation, 'the automation made the thread');
      must(thread.errorTrackerIssue.shortId === ISSUE.shortId, 'the thread names the issue');
      const ended = await call(
        story,
        'GET',
        `/api/automations/${execution['automationId']}/executions/${execution['id']}?waitSeconds=20`,
      );
      must(
        ended['execution'].status === 'completed',
        `the execution is completed (${ended['execution'].status})`,
      );
      return `thread, pull request, red, fix, green, merged, without a person; ${ci.received()} webhooks`;
    });
  } finally {
    await ci.stop();
  }
}

/** Creates an automation and calls its hook with a signature, as the error tracker does. Returns the execution. */
async function callHook(story: Story, projectId: string): Promise<Answer> {
  const { automation, secret } = await call(story, 'POST', '/api/automations', {
    name: 'Fix what the error tracker reports',
    projectId,
    prompt: PROMPT,
    trigger: { kind: 'webhook', source: 'error_tracker' },
    pullRequest: 'open',
  });
  const body = JSON.stringify({ action: 'created', data: { issue: ISSUE } });
  const response = await fetch(`${story.address}${new URL(automation.hookUrl).pathname}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'sentry-hook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    },
    body,
  });
  const answer = (await response.json()) as Answer;
  must(
    response.status === 202,
    `the hook is accepted (${response.status} ${answer['error']?.message ?? ''})`,
  );
  return { ...answer['execution'], automationId: automation.id };
}

interface Ci {
  /** Resolves with the pull request when a webhook reports its merge. */
  merged: Promise<Answer>;
  /** The number of webhooks with a valid signature; an invalid one fails the demo. */
  received(): number;
  stop(): Promise<void>;
}

/** The team's CI: it receives each change of a pull request, and tests each new head. */
async function startCi(team: Team): Promise<Ci> {
  const { story, projectId } = team;
  const { output } = story;
  const { promise: merged, resolve, reject } = Promise.withResolvers<Answer>();
  merged.catch(() => {});
  const tested = new Set<string>();
  let received = 0;
  let turn = Promise.resolve();
  let verifier: Webhook;
  async function look(event: Answer): Promise<void> {
    const { pullRequest: pull } = await call(
      story,
      'GET',
      `/api/threads/${event['threadId']}/pull-requests/${event['data'].id}`,
    );
    if (pull.state === 'merged') {
      output.detail('webhook', `#${pull.number} is merged as ${short(pull.mergeCommitSha)}`);
      return resolve({ ...pull, threadId: event['threadId'] });
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
      const event = verifier.verify(
        Buffer.concat(parts),
        request.headers as Record<string, string>,
      ) as Answer;
      response.writeHead(204).end();
      received++;
      turn = turn.then(() => look(event)).catch(reject);
    } catch (error) {
      response.writeHead(401).end();
      reject(error);
    }
  });
  const { subscription, secret } = await call(story, 'POST', '/api/webhooks', {
    url: `http://127.0.0.1:${await listen(server)}/ci`,
    types: ['pull_request.*'],
    projectId,
  });
  verifier = new Webhook(secret);
  const late = sleep(RUN_LIMIT_MS, null, { ref: false }).then(() =>
    reject(new Error('No webhook reported a merge in time.')),
  );
  void late;
  return {
    merged,
    received: () => received,
    async stop() {
      await call(story, 'DELETE', `/api/webhooks/${subscription.id}`);
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
