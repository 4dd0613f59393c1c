/** The driver of review loops, which worker.ts passes to the synchronization of pull requests. */
export { driveLoop } from './drive-loop.ts';
export { reconcileReplies } from './replies.ts';
export { replyToPoints } from './reply.job.ts';
