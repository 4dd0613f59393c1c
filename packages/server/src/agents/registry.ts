/**
 * Which agent works with a model, and how it is started. `scripted` and `headrace` are built in; further
 * ones come from the configuration file and speak ACP.
 */
import { GATEWAY_URL } from '@headrace/runner/protocol';
import type { TurnAgent } from '@headrace/runner/protocol';
import type { FileConfig, ProviderEntry, Wire } from '../config-file.ts';
import { matches } from '../patterns.ts';

export type Registry = Pick<FileConfig, 'agents' | 'providers'>;

/** The agent of a model: the first entry with a pattern that fits, else the built-in one. */
export function agentOf({ agents }: Pick<Registry, 'agents'>, modelId: string): string {
  if (modelId === 'scripted') return 'scripted';
  return (
    Object.entries(agents).find(([, entry]) =>
      entry.models.some((pattern) => matches(pattern, modelId)),
    )?.[0] ?? 'headrace'
  );
}

/** `<provider>/<model>`; the model may hold further slashes. */
export function modelOf(modelId: string): { provider: string; model: string } {
  const slash = modelId.indexOf('/');
  return slash < 0
    ? { provider: modelId, model: '' }
    : { provider: modelId.slice(0, slash), model: modelId.slice(slash + 1) };
}

/** How to start a run's agent. `missing` says what the operator has to configure first. */
export function turnAgent(
  { agents, providers }: Registry,
  { agent, modelId, token, asks }: { agent: string; modelId: string; token: string; asks: boolean },
): TurnAgent | { missing: string } {
  if (agent === 'scripted') return builtIn('scripted', {});
  const { provider, model } = modelOf(modelId);
  const known = Object.hasOwn(providers, provider) ? providers[provider]! : undefined;
  if (!known || model === '')
    return {
      missing: `No provider of the model ${modelId} is configured. Use <provider>/<model> with one of ${Object.keys(providers).join(', ')}, or the model scripted.`,
    };
  if (agent === 'headrace') {
    const context: Record<string, string> =
      known.contextTokens === undefined ? {} : { HEADRACE_CONTEXT_TOKENS: String(known.contextTokens) };
    return builtIn('headrace', {
      HEADRACE_WIRE: known.wires[0]!,
      HEADRACE_MODEL: model,
      HEADRACE_GATEWAY: `${GATEWAY_URL}/${provider}/v1`,
      HEADRACE_TOKEN: token,
      ...context,
    });
  }
  const entry = Object.hasOwn(agents, agent) ? agents[agent]! : undefined;
  if (!entry) return { missing: `The agent ${agent} is no longer configured. Send the message again.` };
  if (!speaks(known, entry.wire))
    return {
      missing: `The agent ${agent} speaks ${entry.wire}, which the provider ${provider} does not. Choose a model of another provider.`,
    };
  if (asks && !entry.asks)
    return {
      missing: `The agent ${agent} asks nobody before it uses a tool, and the rules for approvals say ask or deny. Choose another agent, or take these rules back.`,
    };
  const values: Record<string, string> = { gateway: GATEWAY_URL, token, provider, model, modelId };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  const all = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text)]));
  return {
    name: agent,
    command: entry.command.map(filled),
    folder: entry.folder,
    env: all(entry.env),
    home: all(entry.home),
    instructionsFile: entry.instructionsFile,
    skillsFolder: entry.skillsFolder,
    mode: asks ? entry.mode.ask : entry.mode.allow,
    install: entry.install,
  };
}

const speaks = (provider: ProviderEntry, wire: Wire) => provider.wires.includes(wire);

function builtIn(name: string, env: Record<string, string>): TurnAgent {
  return { name, command: null, folder: null, env, home: {}, mode: null, install: null };
}
