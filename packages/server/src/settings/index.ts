export { effectiveSettings, resolveSettings } from './effective.ts';
export type { EffectiveSettings } from './effective.ts';
export { routes } from './routes.ts';
