export { fillPlaces, hasPlace, passPlaceOn, PUT_OFF_SECONDS, takePlace } from './places.ts';
export { requirePlace } from './require-place.ts';
export { runCapacity } from './worker-capacity.ts';
