/** `diglot.config.ts`: which service the commands of a folder are about, and their defaults. */

/**
 * The settings that `diglot.config.ts` exports. Flags and environment variables take precedence;
 * paths are relative to the folder in which the command runs, which is that of the file.
 */
export interface CommandConfig {
  /** The file whose default export is the result of `implement(…)`, such as `./src/service.ts`. */
  readonly service: string
  /** The database file. Default: `./data/<service>.sqlite`. */
  readonly data?: string
  /** `postgres://…`: PostgreSQL instead of the file. */
  readonly database?: string
  /** `postgres://…` of a standby, for safe requests. */
  readonly replica?: string
  /** The file of the local key. Default: next to the data. */
  readonly key?: string
  /** The file of API keys. Default: next to the data. */
  readonly keys?: string
  /** The address that `serve` listens on. Default: 127.0.0.1. */
  readonly host?: string
  /** The port of `serve` and `dev`, 0 to 65535. Default: 8080. */
  readonly port?: number
  /** The address that clients use. */
  readonly publicUrl?: string
}

/** The default export of `diglot.config.ts`, with its type. */
export const defineConfig = (config: CommandConfig): CommandConfig => config
