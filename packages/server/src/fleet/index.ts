export { startListener } from './listener.ts';
export { watchFleet } from './watch.ts';
