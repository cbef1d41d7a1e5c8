/** A parsed JSON value; integers that a double cannot hold come as bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json }
