import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** 405 for the methods that a path does not take. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    onRequest: async () => {
      throw new ApiError('method_not_allowed', `This path takes ${allowed.join(', ')}.`, {
        headers: { allow: allowed.join(', ') },
      });
    },
    handler: async () => undefined,
  });
}
