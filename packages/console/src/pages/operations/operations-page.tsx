/** What became of a write: by its idempotency key, or by the id of its receipt. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationsQuery } from '../../api/running-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { OperationView } from './operation-view.tsx';

const route = getRouteApi('/signed-in/operations');
const ID = /^op_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
/** As the service takes them. */
const KEY = /^[\x21-\x7e]{1,128}$/;

export function OperationsPage() {
  const { key = '' } = route.useSearch();
  return (
    <Page title="Operations">
      <LookUp asked={key} />
      {key === '' ? <About /> : <Found idempotencyKey={key} />}
    </Page>
  );
}

function LookUp({ asked }: { asked: string }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState(asked);
  const [isWrong, setWrong] = useState(false);
  const [shown, setShown] = useState(asked);
  // By a look-up, or by itself: back, or a link.
  if (asked !== shown) {
    setShown(asked);
    setTyped(asked);
    setWrong(false);
  }
  const lookUp = () => {
    const text = typed.trim();
    if (ID.test(text))
      return void navigate({ to: '/operations/$operationId', params: { operationId: text } });
    setWrong(!KEY.test(text));
    if (KEY.test(text)) void navigate({ to: '/operations', search: { key: text } });
  };
  return (
    <form
      className="flex flex-wrap items-end gap-2 border-b border-line px-4 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        lookUp();
      }}
    >
      <div data-find className="w-96 max-w-full min-w-0">
        <Field
          mono
          label="Idempotency key or operation id"
          value={typed}
          onChange={setTyped}
          maxLength={200}
          fault={isWrong ? 'A key has 1 to 128 visible ASCII characters, without spaces.' : null}
        />
      </div>
      <Button type="submit" kind="primary">
        Look up
      </Button>
    </form>
  );
}

const About = () => (
  <Empty title="An operation is the receipt of a write">
    <p>
      Each write carries an idempotency key. The service keeps the answer under this key, so a repeated
      request gets the same answer and is not done twice. The receipt stays for seven days after the write has
      ended.
    </p>
    <p>
      Your client sends the key in the header <code className="font-mono text-mono">Idempotency-Key</code>,
      and the answer names the operation in <code className="font-mono text-mono">x-operation-id</code>. The
      log of your client has one of them, and so has an event of the type{' '}
      <code className="font-mono text-mono">operation.updated</code>. Writes of this console have keys of
      their own.
    </p>
    <p>
      On the command line: <code className="font-mono text-mono">headrace op KEY</code>
    </p>
  </Empty>
);

function Found({ idempotencyKey }: { idempotencyKey: string }) {
  const query = useInfiniteQuery(operationsQuery(idempotencyKey));
  return (
    <Shown query={query}>
      {(data) => {
        const operations = itemsOf(data);
        const [only] = operations;
        if (!only)
          return (
            <Empty title="No operation has this key">
              <p>
                The write never came to the service, was refused before it took the key, is older than seven
                days, or you may not see it. Repeat the request with the same key: it is not done twice.
              </p>
            </Empty>
          );
        if (operations.length === 1) return <OperationView operation={only} />;
        return (
          <>
            <p className="px-4 py-2 text-ink-2">
              Several accounts or users have sent this key. Each of them has an operation of its own.
            </p>
            <ul aria-label="Operations">
              {operations.map(({ id, status, method, path, createdAt }) => (
                <li key={id}>
                  <Link
                    data-row
                    to="/operations/$operationId"
                    params={{ operationId: id }}
                    className="row flex-wrap gap-y-0"
                  >
                    <span className="w-26 shrink-0">
                      <Status status={status} />
                    </span>
                    <span className="long flex-[1_1_240px] font-mono text-mono">
                      {method} <Plain text={path} />
                    </span>
                    <Id value={id} copy={false} />
                    <span className="w-24 text-right text-12 text-ink-3">
                      <Time at={createdAt} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            <ShowMore list={query} />
          </>
        );
      }}
    </Shown>
  );
}
