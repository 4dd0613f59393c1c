import { makeBench, testEngines } from '../test-support.ts';
import { escapes } from './suite.ts';

for (const { name, choice } of testEngines()) escapes(name, await makeBench(choice));
