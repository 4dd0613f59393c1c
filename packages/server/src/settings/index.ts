export { effectiveSettings, resolveSettings } from './effective.ts';
export type { EffectiveSettings } from './effective.ts';
export { logRefusal, refusalWarning } from './egress.ts';
export { sandboxOf } from './sandbox.ts';
