import { makeBench, testEngines } from '../test-support.ts';
import { conformance } from './conformance.ts';

for (const { name, choice } of testEngines()) conformance(name, await makeBench(choice));
