import { dispatch } from '../server/dispatch.js';
import { fixtures } from '../server/store/fixtures.js';
import { createStore } from '../server/store/memory-store.js';
import { toDay } from '../shared/dates.js';

const STAFF = 'm-1';

/**
 * The API without a network: a function with the shape of a request. One visitor, signed
 * in as staff, so that every page of a preview can be tried.
 */
export function openPreviewBackend(now) {
  const today = () => toDay(new Date(now()));
  let signedIn = STAFF;
  const ctx = {
    store: createStore(fixtures(today(), '')),
    today,
    sessions: { find: () => signedIn, open: (memberId) => (signedIn = memberId), close: () => (signedIn = null) },
    passwords: { hash: () => '', verify: () => true },
    throttle: { blocked: () => false, failed() {}, succeeded() {} },
  };
  return (method, target, body) => {
    const [path, query] = target.split('?');
    return dispatch(ctx, { method, path, query: new URLSearchParams(query), body });
  };
}
