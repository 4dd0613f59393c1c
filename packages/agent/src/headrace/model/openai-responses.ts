import { createOpenAI } from '@ai-sdk/openai';
import type { Fetch } from '../http-fetch.ts';
import type { Settings } from '../settings.ts';

export const responsesModel = ({ gateway, token, model }: Settings, fetch: Fetch) =>
  createOpenAI({ baseURL: gateway, apiKey: token, fetch }).responses(model);
