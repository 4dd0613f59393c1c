export function mayInstall(): boolean;
export function aptInstall(name: string, limitMs?: number): void;
export function aptUnpack(name: string, folder: string, limitMs?: number): void;
