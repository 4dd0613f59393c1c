/** How far rows of the conversation move on the screen beyond what the wheel asks for. */
import type { Page } from 'playwright-core';

/** Less than the feed is high in such a view: of each two frames, some rows are in both. */
const WHEEL = 600;
export const HIGH_VIEW = { width: 1280, height: 1600 };
const LIMIT_MS = 400_000;

/**
 * After each frame is painted: where the rows are that were on the screen in the last one. The wheel moves them down, in
 * steps that the browser chooses: a row that moves up has jumped, and so have rows that move apart. When all is quiet,
 * they have to have moved by what was asked for, unless the wheel met the end of what is there.
 */
const WATCH = `(() => {
  const feed = document.querySelector('[role=feed]');
  const state = (window.__scroll = { asked: 0, moved: 0, jumps: [], frames: [], quiet: 0, isFirst: false });
  let [last, before] = [new Map(), performance.now()];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const { top, bottom } = feed.getBoundingClientRect();
    const rows = new Map();
    const moves = [];
    for (const row of feed.querySelectorAll('article')) {
      const box = row.getBoundingClientRect();
      if (box.bottom <= top || box.top >= bottom) continue;
      const name = /Message \\d+/.exec(row.textContent)?.[0];
      if (!name) continue;
      rows.set(name, box.top);
      if (last.has(name)) moves.push(box.top - last.get(name));
      if (name === 'Message 1' && feed.scrollTop <= 0) state.isFirst = true;
    }
    const [least, most] = [Math.min(...moves), Math.max(...moves)];
    if (moves.length > 0) state.jumps.push(Math.max(0, -least, most - least));
    else if (last.size > 0) state.jumps.push(feed.clientHeight);
    state.moved += moves.length > 0 ? most : 0;
    state.quiet = Math.abs(most) > 0.5 ? 0 : state.quiet + 1;
    last = rows;
  };
  requestAnimationFrame(function frame(now) {
    state.frames.push(now - before);
    before = now;
    port2.postMessage(null);
    if (!state.isOver) requestAnimationFrame(frame);
  });
})()`;

/** Ends a turn of the wheel when the rows are where it asked for, at the end of what is there, or at rest for long. */
const TURN = `(async () => {
  const state = window.__scroll;
  const feed = document.querySelector('[role=feed]');
  const isThere = () => Math.abs(state.asked - state.moved) <= 2 || feed.scrollTop < 1;
  while (state.quiet < (isThere() ? 3 : 60)) await new Promise(requestAnimationFrame);
  const short = state.asked - state.moved;
  const isAtTop = feed.scrollTop < 1;
  state.jumps.push(isAtTop ? Math.max(0, -short) : Math.abs(short));
  [state.asked, state.moved, state.quiet] = [${WHEEL}, 0, 0];
  return state.isFirst;
})()`;

/** From the end to the first message, by the wheel. */
export async function jumpsOfScroll(page: Page): Promise<{ jumps: number[]; frames: number[] }> {
  await page.mouse.move(700, 400);
  await page.evaluate(WATCH);
  for (const end = Date.now() + LIMIT_MS; Date.now() < end;) {
    if (await page.evaluate<boolean>(TURN))
      return page.evaluate(
        '(window.__scroll.isOver = true, { jumps: window.__scroll.jumps, frames: window.__scroll.frames })',
      );
    await page.mouse.wheel(0, -WHEEL);
  }
  throw new Error('The scroll did not come to the first message');
}
