/** What operators do where the service runs: no operation of the API does it. */
import { Section } from '../../ui/page.tsx';
import { CopyButton } from '../../ui/values.tsx';

const COMMANDS: [command: string, does: string][] = [
  ['headrace doctor', 'Checks this host: sandboxes, limits, git, database'],
  ['headrace backup /backups/today', 'Writes one consistent point of everything; the service runs on'],
  ['headrace restore /backups/today', 'Restores a backup into a new service, and verifies it'],
  ['headrace storage verify', 'Reads and hashes everything that is stored'],
  ['headrace secrets new-key', 'Gives the data folder a new secret key'],
  ['headrace secrets rotate', 'Seals again what former keys sealed'],
  ['headrace organizations set --id org_… --without hosts', 'Takes capabilities from an organization'],
  ['headrace organizations set --id org_… --platform-api=false', 'Takes the Platform API from it'],
  ['headrace users reset-password --email kim@example.com', 'Gives a user a new password'],
  ['headrace runtimes import python-3.13 python.tar', 'Unpacks an image as a runtime for sandboxes'],
  ['headrace keys generate', 'Makes a service key for the first start of a service'],
];

export function Commands() {
  return (
    <Section title="On the host">
      <p className="px-4 pb-1 text-ink-2">
        These work where the service is installed, with its environment:{' '}
        <code className="font-mono text-mono">npm run headrace -- …</code> in its folder.
      </p>
      <ul aria-label="Commands" className="pb-6">
        {COMMANDS.map(([command, does]) => (
          <li key={command} className="flex min-h-7 flex-wrap items-center gap-x-4 px-4">
            <span className="flex min-w-0 flex-[0_1_440px] items-center">
              <code className="long font-mono text-mono">{command}</code>
              <CopyButton text={command} label={`Copy: ${command}`} />
            </span>
            <span className="long flex-[1_1_240px] text-ink-3">{does}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
