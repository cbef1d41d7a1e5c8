/** `diglot.config.ts`: which service the commands of a folder are about, and their defaults. */

/**
 * What `diglot.config.ts` exports. A flag and a variable of the environment come first; paths are
 * those of the folder in which the command runs, which is the one of the file.
 */
export interface CommandConfig {
  /** The file whose default export is made by `implement(…)`, such as `./src/service.ts`. */
  readonly service: string
  /** The database file. Default: `./data/<service>.sqlite`. */
  readonly data?: string
  /** `postgres://…`: PostgreSQL in place of the file. */
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
