/** What drives review loops; worker.ts hands it to the synchronization of pull requests. */
export { driveLoop } from './drive-loop.ts';
export { reconcileReplies } from './replies.ts';
export { replyToPoints } from './reply.job.ts';
