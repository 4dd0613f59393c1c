/** Failures as people and scripts see them: what happened, what to do next, and the exit code. */
import { HeadraceError, UncertainError, WaitTimeoutError } from '@headrace/client';
import type { Field } from '@headrace/client';
import { EXIT } from './exit.ts';
import type { Exit } from './exit.ts';
import { Fault } from './fault.ts';

export interface Report {
  exit: Exit;
  message: string;
  hint: string | undefined;
  requestId: string | null;
  /** What the service refused in the request, with its place. */
  fields: readonly Field[];
  /** The document of `--json`: the service's own where there is one. */
  document: { ok: false; error: Record<string, unknown> };
}

export function reportOf(error: unknown): Report {
  if (error instanceof HeadraceError) return ofService(error);
  const fault =
    error instanceof Fault
      ? error
      : error instanceof WaitTimeoutError
        ? new Fault(EXIT.timeout, error.message)
        : new Fault(EXIT.failed, (error as Error).message || String(error));
  const { exit, message, hint, code } = fault;
  return { exit, message, hint, requestId: null, fields: [], document: documentOf({ code, message, hint }) };
}

function ofService(error: HeadraceError): Report {
  const { message, code, requestId, fields, details } = error;
  const hint = hintOf(error);
  const document = documentOf({
    ...details,
    code,
    message,
    requestId: requestId ?? undefined,
    fields: fields.length ? fields : undefined,
    hint,
  });
  return { exit: exitOf(error), message, hint, requestId, fields, document };
}

const documentOf = (error: Record<string, unknown>): Report['document'] => ({
  ok: false,
  error: Object.fromEntries(Object.entries(error).filter(([, value]) => value !== undefined)),
});

const WITHOUT_ANSWER: ReadonlySet<Exit> = new Set([EXIT.unreachable, EXIT.timeout, EXIT.interrupted]);

/**
 * Whether the error is an answer to what the command asked. After any other one (no answer, a limit of requests, the same
 * write still under way, a full disk) its writes may have happened, or the rest of them is still to be done.
 */
export function isAnswer(error: unknown): boolean {
  if (error instanceof HeadraceError) return !error.retryable && !WITHOUT_ANSWER.has(exitOf(error));
  return error instanceof Fault && !WITHOUT_ANSWER.has(error.exit);
}

const BUSY = new Set(['rate_limited', 'request_in_progress', 'spend_limit_reached', 'budget_exceeded']);

export function exitOf({ status, code }: HeadraceError): Exit {
  if (status === 429 || status === 402 || BUSY.has(code) || code.endsWith('_busy')) return EXIT.busy;
  if (status === 401 || status === 403) return EXIT.denied;
  if (status === 404 || status === 410) return EXIT.notFound;
  if (status === 409 || status === 412) return EXIT.conflict;
  if (status >= 400 && status < 500) return EXIT.usage;
  return EXIT.unreachable;
}

/** By code; the service's message already says what is wrong. */
const HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    unauthorized: 'Sign in: headrace login',
    network_error: 'Is the service running, and is the address right? `headrace whoami` shows the address.',
    invalid_response: 'Something else answers at this address: `headrace whoami` shows it.',
    head_not_initialized: 'Push a folder first: headrace push',
    idempotency_conflict: 'The command was interrupted before, and means something else now: run it again.',
    stale_head: 'The head has moved. Run the command again.',
    thread_busy: 'Wait for it: headrace attach THREAD, or stop the run: headrace stop THREAD',
    thread_archived: 'headrace thread unarchive THREAD',
    draft_sealed: 'headrace thread new starts from the head.',
    run_not_active: 'headrace runs shows what has ended.',
    approval_resolved: 'headrace approvals shows its answer.',
    app_not_found: 'headrace apps list',
    thread_not_found: 'headrace thread list',
    repository_not_found: 'headrace repos list',
    project_not_found: 'headrace projects list',
    installation_not_found: 'headrace installations list',
    branch_not_found: 'headrace repos branches REPOSITORY',
    service_account_not_found: 'headrace keys list',
    credential_not_found: 'headrace keys credentials ACCOUNT',
    member_not_found: 'headrace members list',
    invitation_not_found: 'headrace invitations list',
    session_not_found: 'headrace sessions list',
    organization_not_found: 'headrace organization show',
    model_key_not_found: 'headrace model-keys list',
    mcp_server_not_found: 'headrace mcp-servers list',
    webhook_not_found: 'headrace webhooks list',
    delivery_not_found: 'headrace webhooks deliveries WEBHOOK',
    webhook_disabled: 'headrace webhooks update WEBHOOK --enable',
    automation_not_found: 'headrace automations list',
    execution_not_found: 'headrace automations executions AUTOMATION',
    task_not_found: 'headrace tasks list',
    repository_not_bound:
      'Only threads of a project with a repository: headrace projects create NAME --repo REPOSITORY',
    repository_in_use: 'Delete its projects first: headrace projects list --repo REPOSITORY',
    pull_request_exists: 'headrace pr show',
    pull_request_not_open: 'headrace pr update --reopen opens a closed one again.',
    no_changes: 'Have the thread change something first: headrace send THREAD TEXT',
    head_moved: 'Look at it again (headrace pr show), then repeat the command.',
    'merge_refused conflicting': 'headrace pr update-branch',
    'merge_refused draft': 'headrace pr update --ready',
    'merge_refused checks': 'headrace pr checks, or headrace pr loop on to have the agent fix them',
    'merge_refused method': 'headrace repos show REPOSITORY names the allowed ones for --method.',
    scm_access_denied: 'headrace installations list',
  }),
);

function hintOf(error: HeadraceError): string | undefined {
  if (error instanceof UncertainError)
    return 'Run the same command again: it continues this one, and acts once.';
  const { code, details } = error;
  return HINTS.get(`${code} ${String(details['reason'])}`) ?? HINTS.get(code);
}
