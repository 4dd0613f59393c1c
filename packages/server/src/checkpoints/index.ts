export { recordCheckpoint } from './record-checkpoint.ts';
export { loadCheckpoint } from './store.ts';
export { Checkpoint, checkpointView } from './schemas.ts';
