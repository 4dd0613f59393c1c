import { makeBench, testEngines } from '../../../packages/runner/src/runner.fixture.ts';
import { conforms } from './suite.ts';

for (const { name, choice } of testEngines()) conforms(name, await makeBench(choice));
