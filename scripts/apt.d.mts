export function mayInstall(): boolean;
export function aptInstall(name: string, limitMs?: number): void;
