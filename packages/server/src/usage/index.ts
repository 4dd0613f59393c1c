export { openModelKey } from './model-keys.ts';
export { routes } from './routes.ts';
