import { Outlet } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { useOrganizationPlaces } from '../../app/places.ts';
import { PartsNav } from '../../ui/parts-nav.tsx';

/** The organization's name and its parts, above each of its pages. */
export function OrganizationLayout() {
  const { organizations, activeOrganizationId } = useSession();
  const name = organizations.find(({ id }) => id === activeOrganizationId)?.name ?? 'Organization';
  return (
    <>
      <PartsNav label="Organization" name={name} parts={useOrganizationPlaces()} />
      <Outlet />
    </>
  );
}
