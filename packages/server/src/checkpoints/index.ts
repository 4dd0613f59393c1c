export { recordCheckpoint } from './record-checkpoint.ts';
export { baseAtSource, loadCheckpoint } from './store.ts';
export { Checkpoint, checkpointView } from './schemas.ts';
