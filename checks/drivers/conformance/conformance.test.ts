import { makeBench, testEngines } from '../../../packages/runner/src/runner.fixture.ts';
import { conformance } from './conformance.ts';

for (const { name, choice } of testEngines()) conformance(name, await makeBench(choice));
