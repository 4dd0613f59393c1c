import type { Finding, StorageReport } from '@headrace/server/sources/verify/verify-storage.ts';
import { mebibytes } from './progress.ts';

/** The report for people: findings, then the summary. */
export function reportLines(report: StorageReport): string[] {
  const { findings, warningFindings, damage, warnings, warningBytes } = report;
  return [
    ...findings.flatMap((finding) => findingLines('damage ', finding)),
    ...unlisted('damage ', damage - findings.length),
    ...warningFindings.flatMap((finding) => findingLines('warning', finding)),
    ...unlisted('warning', warnings - warningFindings.length),
    `${report.projects} projects, ${report.sources} sources, ${report.packs} packs, ${report.contents} ` +
      `contents, ${report.artifacts} artifacts`,
    `${mebibytes(report.bytes)} read, ${mebibytes(report.hashedBytes)} hashed in ${report.seconds} s: ` +
      `${report.mibPerSecond} MiB/s`,
    ...(warnings === 0 ? [] : [`${warnings} warnings, ${mebibytes(warningBytes)} that nothing needs`]),
    report.sound
      ? 'Everything that is stored is sound.'
      : `${damage} findings of damage: ${Object.entries(report.counts)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(', ')}`,
  ];
}

const unlisted = (word: string, count: number) =>
  count === 0 ? [] : [`${word}  ${count} more, counted and not listed`];

function findingLines(word: string, { kind, message, neededBy = [], sha256, ...about }: Finding): string[] {
  const names = [
    about.projectId,
    about.packId,
    about.buildId,
    about.applyId,
    ...(neededBy.length ? [] : [about.sourceId, about.path]),
    about.objectKey,
    sha256,
  ].filter((name) => name !== undefined && name !== null);
  const size = about.byteSize === undefined ? '' : ` (${about.byteSize} bytes)`;
  return [
    `${word}  ${kind}  ${names.join(' ')}: ${message}${size}`,
    ...neededBy.map(({ sourceId, path }) => `         needed by ${sourceId} ${JSON.stringify(path)}`),
  ];
}
