export function ready(port: number): void
