export { recordCheckpoint } from './record-checkpoint.ts';
export { Checkpoint, checkpointView } from './schemas.ts';
