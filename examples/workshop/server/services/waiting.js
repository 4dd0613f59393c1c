import { isActive } from '../../shared/loan-rules.js';
import { advanceQueue, positionOf, queueOf } from '../../shared/waiting-list.js';
import { refused } from '../errors.js';
import { hoursOf, ofTool } from './queries.js';

/** Lapses old holds and gives the next one, when the tool is on the shelf. */
export function advanceLine(ctx, toolId) {
  const { store } = ctx;
  if (ofTool(store.loans, toolId).some(isActive)) return;
  store.transaction(() => {
    const patches = advanceQueue(ofTool(store.waiting, toolId), hoursOf(store), ctx.today());
    for (const [id, patch] of patches) store.waiting.update(id, patch);
  });
}

/** Puts a member at the end of a tool's line. */
export function joinLine(ctx, tool, member) {
  const { store } = ctx;
  const entries = ofTool(store.waiting, tool.id);
  const out = ofTool(store.loans, tool.id).filter(isActive);
  const reasons = [];
  if (positionOf(entries, member.id) > 0) reasons.push('rule.alreadyWaiting');
  if (out.some((loan) => loan.memberId === member.id)) reasons.push('rule.hasTool');
  if (out.length === 0 && queueOf(entries).length === 0) reasons.push('rule.toolOnShelf');
  if (reasons.length > 0) throw refused(reasons);
  const place = Math.max(0, ...entries.map((entry) => entry.place)) + 1;
  return store.transaction(() => store.waiting.insert({
    toolId: tool.id, memberId: member.id, place, joined: ctx.today(), status: 'waiting', holdUntil: null,
  }));
}

/** Takes a member out of a line; a hold that was theirs goes to the next. */
export function leaveLine(ctx, entry) {
  if (queueOf([entry]).length === 0) throw refused(['rule.notWaiting']);
  return ctx.store.transaction(() => {
    const left = ctx.store.waiting.update(entry.id, { status: 'left' });
    advanceLine(ctx, entry.toolId);
    return left;
  });
}
