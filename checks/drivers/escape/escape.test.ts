import { makeBench, testEngines } from '../../../packages/runner/src/test-support.ts';
import { escapes } from './suite.ts';

for (const { name, choice } of testEngines()) escapes(name, await makeBench(choice));
