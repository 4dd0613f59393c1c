import { makeBench, testEngines } from '../../../packages/runner/src/test-support.ts';
import { conformance } from './conformance.ts';

for (const { name, choice } of testEngines()) conformance(name, await makeBench(choice));
