/** The images of deploy/Dockerfile, and the one that keeps a Pod's namespaces, as archives for containerd. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeBase } from '../image/base.ts';
import { buildImage, buildImages, RUNNER, SERVICE } from '../image/build.ts';
import { podman } from '../image/podman.ts';

export const PAUSE = 'localhost/headrace-pause:test';
const SAVE_MS = 5 * 60_000;
const IMAGES = { service: SERVICE, runner: RUNNER, pause: PAUSE };

export type Image = keyof typeof IMAGES;
export const archiveOf = (folder: string, image: Image): string => join(folder, `${image}.tar`);

/** Builds them where something has changed, and puts their archives into a folder. */
export function makeImages(folder: string): void {
  makeBase();
  buildImages();
  buildImage({ file: join(import.meta.dirname, 'pause.Dockerfile'), target: 'pause', image: PAUSE });
  for (const [image, name] of Object.entries(IMAGES)) {
    const archive = archiveOf(folder, image as Image);
    rmSync(archive, { force: true });
    podman(['save', '--output', archive, name], SAVE_MS);
  }
}
