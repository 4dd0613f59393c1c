export { effectiveSettings, resolveSettings } from './effective.ts';
export type { EffectiveSettings } from './effective.ts';
export { egressHosts, egressOf, logRefusal, REGISTRIES } from './egress.ts';
