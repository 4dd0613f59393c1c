import type { Settings } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { Page } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { ORGANIZATION } from './level.ts';
import { SettingsForm } from './settings-form.tsx';

/** What holds in all apps and projects of the organization; its owners and admins may read it. */
export function OrganizationSettingsPage() {
  const settings = useQuery(organizationSettingsQuery());
  return (
    <Page title="Settings of the organization">
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">
        They hold in every app and project that says nothing else.{' '}
        <Link to="/organization/environment" className="link">
          Variables of the organization
        </Link>
      </p>
      <Shown query={settings} skeleton={<Skeleton lines={12} />}>
        {(stored) => <SettingsForm level={ORGANIZATION} stored={withCommand(stored)} mayChange />}
      </Shown>
    </Page>
  );
}

/** A setup without a command means nothing here. */
const withCommand = (settings: Settings): Settings =>
  settings.setup?.command == null ? { ...settings, setup: null } : settings;
