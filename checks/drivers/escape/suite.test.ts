import { makeBench, testEngines } from '../../../packages/runner/src/runner.fixture.ts';
import { escapes } from './suite.ts';

for (const { name, choice } of testEngines()) escapes(name, await makeBench(choice));
