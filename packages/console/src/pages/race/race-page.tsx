import { Page } from '../../ui/page.tsx';

export function RacePage() {
  return <Page title="Race">{null}</Page>;
}
