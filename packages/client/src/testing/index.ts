export { createTestService } from './service.ts';
export type { Failure, SentRequest, TestService, TestServiceOptions } from './service.ts';
export type { BuildScript, Shell, ShellResult } from './world.ts';
export type { FaultCode } from './fault.ts';
export type { OperationName } from './routes.ts';
