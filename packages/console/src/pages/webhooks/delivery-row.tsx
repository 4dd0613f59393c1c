/** One delivery as a row that unfolds to its attempts. */
import type { Delivery, Subscription } from '@headrace/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Fact, Facts } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { duration, Id, plural, Time } from '../../ui/values.tsx';
import { PING } from './event-types.ts';
import { useShowDelivery } from './webhook-actions.tsx';
import { attemptWords, deliveryStatus, failedWords, outcomeOf } from './words.ts';

const route = getRouteApi('/signed-in/organization/webhooks/$webhookId');

export function DeliveryRow({
  webhook,
  delivery,
  isOpen,
  isNext,
}: {
  webhook: Subscription;
  delivery: Delivery;
  isOpen: boolean;
  /** Another was opened before. */
  isNext: boolean;
}) {
  const { id, eventType, status, attemptCount, attempts, redeliveryOf, createdAt } = delivery;
  const { delivery: _, ...narrowed } = route.useSearch();
  const last = attempts.at(-1);
  const link = useRef<HTMLAnchorElement>(null);
  // What had the focus may have gone with the one that was open before.
  useEffect(() => {
    if (isOpen && isNext && document.activeElement === document.body) link.current?.focus();
  }, [isOpen, isNext]);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <Link
        ref={link}
        data-row
        to="/organization/webhooks/$webhookId"
        params={{ webhookId: webhook.id }}
        search={{ ...narrowed, ...(!isOpen && { delivery: id }) }}
        resetScroll={false}
        aria-expanded={isOpen}
        className="row flex-wrap gap-y-0 py-1"
      >
        <Chevron size={14} aria-hidden className="-ml-1 shrink-0 text-ink-3" />
        <span className="w-22 shrink-0">
          <Status {...deliveryStatus(status)} />
        </span>
        <span className="long min-w-0 flex-[1_1_180px]">
          <span className="font-mono text-mono">
            <Plain text={eventType} />
          </span>
          {redeliveryOf !== null && <span className="text-12 text-ink-3"> sent again</span>}
        </span>
        <span className="flex basis-full flex-wrap items-center gap-x-3 text-12 text-ink-2 max-sm:pl-30.5 sm:basis-auto">
          <span className="truncate sm:w-48">{last ? outcomeOf(last) : 'not sent yet'}</span>
          <span className="sm:w-20">{plural(attemptCount, 'attempt')}</span>
          <span className="text-ink-3 sm:w-24 sm:text-right">
            <Time at={createdAt} />
          </span>
        </span>
      </Link>
      {isOpen && <Unfolded webhook={webhook} delivery={delivery} />}
    </li>
  );
}

function Unfolded({ webhook, delivery }: { webhook: Subscription; delivery: Delivery }) {
  const { id, eventId, eventType, errorCode, nextAttemptAt, redeliveryOf, attempts, attemptCount } = delivery;
  const search = route.useSearch();
  return (
    <div className="border-b border-line bg-surface pb-3 sm:pl-8">
      {errorCode !== null && (
        <p className="mx-4 mt-2 max-w-[72ch] border-l-2 border-fail pl-3">{failedWords(errorCode)}</p>
      )}
      <Facts>
        <Fact name="Delivery">
          <Id value={id} />
        </Fact>
        <Fact name="Event">
          {eventType === PING ? (
            <>
              <Id value={eventId} />
              <span className="text-ink-3">of a test, on no feed</span>
            </>
          ) : (
            <>
              <Link to="/events" search={{ feed: 'direct', event: eventId }} className="link">
                Show the event
              </Link>
              <Id value={eventId} />
            </>
          )}
        </Fact>
        {redeliveryOf !== null && (
          <Fact name="Again after">
            <Link
              to="/organization/webhooks/$webhookId"
              params={{ webhookId: webhook.id }}
              search={{ ...search, delivery: redeliveryOf }}
              resetScroll={false}
              className="link"
            >
              the former delivery
            </Link>
          </Fact>
        )}
        {delivery.status === 'pending' && (
          <Fact name="Next attempt">
            {webhook.disabled && eventType !== PING ? (
              <span className="text-wait">when the webhook is enabled again</span>
            ) : nextAttemptAt === null ? (
              'now'
            ) : (
              <Time at={nextAttemptAt} />
            )}
          </Fact>
        )}
      </Facts>
      <Attempts attempts={attempts} count={attemptCount} />
      <Redeliver webhook={webhook} deliveryId={id} />
    </div>
  );
}

function Attempts({ attempts, count }: { attempts: Delivery['attempts']; count: number }) {
  if (attempts.length === 0) return null;
  return (
    <>
      {count > attempts.length && (
        <p className="px-4 pt-1 text-12 text-ink-3">
          The last {attempts.length} of {plural(count, 'attempt')}
        </p>
      )}
      <ol aria-label="Attempts" className="mx-4 border-t border-line">
        {attempts.map((attempt, at) => (
          <li key={attempt.at} className="border-b border-line py-1.5">
            <p className="flex flex-wrap items-baseline gap-x-3">
              <span className="text-ink-3 tabular-nums">{count - attempts.length + at + 1}</span>
              <span className={attempt.error === null ? 'text-done' : 'text-fail'}>
                {attempt.statusCode !== null && (
                  <span className="font-mono text-mono">{attempt.statusCode} </span>
                )}
                {attemptWords(attempt)}
              </span>
              <span className="text-12 text-ink-2 tabular-nums">{duration(attempt.durationMs)}</span>
              <span className="text-12 text-ink-3">
                <Time at={attempt.at} />
              </span>
            </p>
            {attempt.response !== null && attempt.response !== '' && (
              <pre
                tabIndex={0}
                aria-label={`Answer to attempt ${count - attempts.length + at + 1}`}
                className="mt-1 max-h-40 overflow-auto rounded bg-sunk p-2 font-mono text-mono whitespace-pre-wrap break-all"
              >
                <Plain text={attempt.response} />
              </pre>
            )}
            {attempt.response === '' && <p className="text-12 text-ink-3">an empty answer</p>}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Sends the same event again, as another delivery. */
function Redeliver({ webhook, deliveryId }: { webhook: Subscription; deliveryId: string }) {
  const off = useOffReason();
  const may = useMay('webhook:update');
  const show = useShowDelivery(webhook, 'The event is sent again.');
  const write = useWrite({
    intent: `redeliver ${deliveryId}`,
    call: (_: null, options) => client.webhooks.redeliver(webhook.id, deliveryId, options),
    onDone: show,
  });
  if (!may) return null;
  const paused = webhook.disabled ? 'The webhook is off: enable it first.' : null;
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pt-3">
      <Button isPending={write.isSending} offBecause={off ?? paused} onPress={() => write.send(null)}>
        Redeliver
      </Button>
      <AsCode
        method="POST"
        path={`/api/webhooks/${webhook.id}/deliveries/${deliveryId}/redeliver`}
        ts={`const delivery = await client.webhooks.redeliver('${webhook.id}', '${deliveryId}');`}
        cli={`headrace webhooks redeliver ${webhook.id} ${deliveryId}`}
      />
      <FaultLine fault={write.fault} />
    </div>
  );
}
