import { LayerFiles } from './layer-files.ts';

/**
 * Copies a layer (its argument) under the files in the working folder, which win at, above and below their
 * paths.
 */
new LayerFiles(process.argv[2]!).copyBelow('');
