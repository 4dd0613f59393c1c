/** `headrace webhooks …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { INPUT_OPTION, LIST_OPTIONS } from '../core/options.ts';

const WEBHOOK = 'an id, the first 8 characters of one, ~URL or @last';
const DELIVERY = 'an id, or the first 8 characters of one';
const TYPE = {
  type: 'string',
  multiple: true,
  value: 'TYPE',
  help: 'an event type (run.completed) or group of them (run.*); all without it',
} as const;
const WAITING = {
  'no-wait': { type: 'boolean', help: 'do not wait for the receiver’s answer' },
  timeout: { type: 'duration', help: 'how long to wait for the first attempt (30s)' },
} as const;

const subscriptionCommands: readonly Command[] = [
  command({
    name: 'webhooks list',
    group: 'Organization',
    summary: 'List webhooks, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace webhooks list'],
    scope: 'service',
    answer: 'webhooks.listWebhooks',
    run: async (cli, { options }) => (await import('./webhooks.ts')).listWebhooks(cli, options.limit),
  }),
  command({
    name: 'webhooks show',
    group: 'Organization',
    summary: 'Show a webhook',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    examples: ["headrace webhooks show '~example.com'"],
    scope: 'service',
    answer: 'webhooks.getWebhook',
    run: async (cli, { args: [webhook] }) => (await import('./webhooks.ts')).showWebhook(cli, webhook),
  }),
  command({
    name: 'webhooks create',
    group: 'Organization',
    summary: 'Subscribe an address to events',
    details: 'The secret that signs its deliveries is printed once, alone on stdout.',
    args: ['[URL]'],
    argHelp: { URL: 'an https address' },
    options: {
      type: TYPE,
      project: {
        type: 'string',
        value: 'PROJECT',
        help: 'only events of this Direct project: an id, or ~NAME',
      },
      disabled: { type: 'boolean', help: 'create it paused' },
      ...INPUT_OPTION,
    },
    examples: ['headrace webhooks create https://example.com/hook --type "run.*" > hook.secret'],
    scope: 'service',
    writes: true,
    answer: 'webhooks.createWebhook',
    run: async (cli, { args: [url], options }) =>
      (await import('./webhooks.ts')).createWebhook(cli, url, options),
  }),
  command({
    name: 'webhooks update',
    group: 'Organization',
    summary: 'Change, pause or resume a webhook',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    options: {
      'to-url': { type: 'string', value: 'URL', help: 'another https address' },
      type: { ...TYPE, help: 'an event type or group of them, instead of those before' },
      disable: { type: 'boolean', help: 'pause it: its deliveries wait' },
      enable: { type: 'boolean', help: 'resume it' },
      ...INPUT_OPTION,
    },
    examples: [
      'headrace webhooks update @last --type run.completed --type run.failed',
      "headrace webhooks update '~example.com' --disable",
    ],
    scope: 'service',
    writes: true,
    answer: 'webhooks.updateWebhook',
    run: async (cli, { args: [webhook], options }) =>
      (await import('./webhooks.ts')).updateWebhook(cli, webhook, options),
  }),
  command({
    name: 'webhooks delete',
    group: 'Organization',
    summary: 'Delete a webhook with its deliveries',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    examples: ["headrace webhooks delete '~example.com'"],
    scope: 'service',
    writes: true,
    answer: 'webhooks.deleteWebhook',
    run: async (cli, { args: [webhook] }) => (await import('./webhooks.ts')).deleteWebhook(cli, webhook),
  }),
  command({
    name: 'webhooks rotate-secret',
    group: 'Organization',
    summary: 'Replace the secret of a webhook',
    details:
      'The new secret is printed once, alone on stdout. The former one also signs for a day, or for --overlap.',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    options: {
      overlap: { type: 'duration', help: 'how long the former secret also signs (1d); 0s if it has leaked' },
    },
    examples: ["headrace webhooks rotate-secret '~example.com' --overlap 1h > hook.secret"],
    scope: 'service',
    writes: true,
    answer: 'webhooks.rotateSecret',
    run: async (cli, { args: [webhook], options }) =>
      (await import('./webhooks.ts')).rotateWebhookSecret(cli, webhook, options.overlap),
  }),
];

const deliveryCommands: readonly Command[] = [
  command({
    name: 'webhooks test',
    group: 'Organization',
    summary: 'Send a test delivery, and show what the receiver answers',
    details: 'The exit code is 1 if the attempt fails.',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    options: WAITING,
    examples: ["headrace webhooks test '~example.com'"],
    scope: 'service',
    writes: true,
    answer: 'webhooks.testWebhook',
    run: async (cli, { args: [webhook], options }) =>
      (await import('./webhooks.ts')).testWebhook(cli, webhook, options),
  }),
  command({
    name: 'webhooks deliveries',
    group: 'Organization',
    summary: 'List the deliveries of a webhook, newest first',
    args: ['WEBHOOK'],
    argHelp: { WEBHOOK },
    options: {
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'only these',
        choices: ['pending', 'succeeded', 'failed'],
      },
      type: { type: 'string', value: 'TYPE', help: 'only those of this event type' },
      ...LIST_OPTIONS,
    },
    examples: ["headrace webhooks deliveries '~example.com' --status failed"],
    scope: 'service',
    answer: 'webhooks.listDeliveries',
    run: async (cli, { args: [webhook], options }) =>
      (await import('./webhooks.ts')).listDeliveries(cli, webhook, options),
  }),
  command({
    name: 'webhooks delivery',
    group: 'Organization',
    summary: 'Show a delivery with its last attempts',
    args: ['WEBHOOK', 'DELIVERY'],
    argHelp: { WEBHOOK, DELIVERY },
    examples: ["headrace webhooks delivery '~example.com' whd_01jd8x3q5tfz6r7k9m2n4p6s8v"],
    scope: 'service',
    answer: 'webhooks.getDelivery',
    run: async (cli, { args: [webhook, delivery] }) =>
      (await import('./webhooks.ts')).showDelivery(cli, webhook, delivery),
  }),
  command({
    name: 'webhooks redeliver',
    group: 'Organization',
    summary: 'Send a delivery again, and show what the receiver answers',
    details: 'The exit code is 1 if the attempt fails.',
    args: ['WEBHOOK', 'DELIVERY'],
    argHelp: { WEBHOOK, DELIVERY },
    options: WAITING,
    examples: ["headrace webhooks redeliver '~example.com' whd_01jd8x3q5tfz6r7k9m2n4p6s8v"],
    scope: 'service',
    writes: true,
    answer: 'webhooks.redeliver',
    run: async (cli, { args: [webhook, delivery], options }) =>
      (await import('./webhooks.ts')).redeliver(cli, webhook, delivery, options),
  }),
];

export const webhookCommands: readonly Command[] = [...subscriptionCommands, ...deliveryCommands];
