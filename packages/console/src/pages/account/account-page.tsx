import { Page } from '../../ui/page.tsx';

export function AccountPage() {
  return <Page title="Account">{null}</Page>;
}
