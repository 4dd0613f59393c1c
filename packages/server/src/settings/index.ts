export { effectiveSettings, resolveSettings } from './effective.ts';
export type { EffectiveSettings } from './effective.ts';
export { egressHosts, egressOf, logRefusal, REGISTRIES } from './egress.ts';
export { fillPlaces, hasPlace, passPlaceOn, PUT_OFF_SECONDS, takePlace } from './places.ts';
export { routes } from './routes.ts';
