import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Fetch } from '../http-fetch.ts';
import type { Settings } from '../settings.ts';

export const chatModel = ({ gateway, token, model }: Settings, fetch: Fetch) =>
  createOpenAICompatible({ name: 'gateway', baseURL: gateway, apiKey: token, fetch, includeUsage: true })(
    model,
  );
