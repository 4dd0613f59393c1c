import { PERMISSIONS } from '@headrace/server/accounts/permissions.ts';
import { expect, test } from 'vitest';
import { permissionsOf } from './permissions.ts';

test('all is what the service knows', () => {
  expect(permissionsOf(['all'])).toEqual(PERMISSIONS);
});
