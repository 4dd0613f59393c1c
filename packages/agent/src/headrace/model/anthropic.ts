import { createAnthropic } from '@ai-sdk/anthropic';
import type { Fetch } from '../http-fetch.ts';
import type { Settings } from '../settings.ts';

export const anthropicModel = ({ gateway, token, model }: Settings, fetch: Fetch) =>
  createAnthropic({ baseURL: gateway, apiKey: token, fetch })(model);
