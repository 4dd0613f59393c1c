import { Sample } from '../../ui/as-code.tsx';
import { Section } from '../../ui/page.tsx';

const CONFIG = `{
  "providers": { "local": { "baseUrl": "http://127.0.0.1:11434/v1", "wires": ["openai-chat"], "key": "none" } },
  "prices": { "local/*": { "inputMicros": 0, "outputMicros": 0 } }
}`;

/** What only the operator can add, and where. */
export function MoreModels() {
  return (
    <Section title="More models and providers">
      <div className="flex max-w-[80ch] flex-col gap-2 px-4 pb-5 text-ink-2">
        <p>
          With the key of anthropic or openai set, each of its models works, also one that is not listed. The
          prices of others, and further providers, are in the configuration file of the service:{' '}
          <code>config.json</code> in its data folder, or the file that <code>HEADRACE_CONFIG_FILE</code>{' '}
          names. It is read at the start. The guide docs/guides/agents.md describes it.
        </p>
        <Sample name="A server of your own, without a key" text={CONFIG} />
      </div>
    </Section>
  );
}
