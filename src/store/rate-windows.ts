/**
 * Windows of rate limits in PostgreSQL, for `sharedLimiter`. What always holds:
 *  (1) The database's clock ends a window, so instances share it even if their clocks differ.
 *  (2) No call waits for a disk: the table is not logged, and after a server crash every window
 *      starts over.
 *  (3) It has a connection of its own, so that limits never wait behind calls.
 */
import type { Count, Counted } from '../service/limiter.ts'
import { openPool } from './postgres-pool.ts'
import { isOfOtherSession, keepAliveOptions } from './postgres-sessions.ts'

export interface RateWindows {
  count(counts: readonly Count[]): Promise<readonly Counted[]>
  close(): Promise<void>
}

const tableText = `create unlogged table if not exists "_limit" ("key" text primary key, "until" int8 not null, "count" int8 not null)`
/** A role that may only use tables can start a service whose tables are there. */
const isThereText = `select 1 where to_regclass(quote_ident(current_schema()) || '._limit') is not null`
/** Instances that create the table at once would collide in the catalogue, so they take turns. */
const lockText = 'select pg_advisory_xact_lock(7306360, hashtext(current_schema()))'

const nowMsText = '(extract(epoch from clock_timestamp()) * 1000)::int8'
const countText = `
  with asked as materialized (
    select key, span, by, ${nowMsText} as now from unnest($1::text[], $2::int8[], $3::int8[]) as t(key, span, by))
  insert into "_limit" as l ("key", "until", "count") select key, now + span, by from asked
  on conflict ("key") do update set
    "count" = case when l."until" <= ${nowMsText} then excluded."count" else l."count" + excluded."count" end,
    "until" = case when l."until" <= ${nowMsText} then excluded."until" else l."until" end
  returning "key", "count", "until" - ${nowMsText}`
const forgetText = `delete from "_limit" where "until" <= ${nowMsText}`

/** The pause between two removals of windows that have ended. */
const removeEveryMs = 60_000
/** How long to wait for a reply: a limit is not worth more. */
const answerTimeoutMs = 2000

export async function openRateWindows(url: string): Promise<RateWindows> {
  const pool = openPool(url, 'primary', {
    max: 1,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
    ...keepAliveOptions,
  })
  try {
    const { rows } = await pool.query(isThereText)
    if (rows.length === 0) await pool.query(`begin; ${lockText}; ${tableText}; commit`)
  } catch (thrown) {
    await pool.end()
    throw thrown
  }
  const sweeping = setInterval(() => void pool.query(forgetText).catch(() => {}), removeEveryMs).unref()
  let prepared: { readonly name?: string } = { name: 'count' }
  return {
    count: async counts => {
      const columns = [counts.map(each => each.key), counts.map(each => each.span), counts.map(each => each.by)]
      const query = { text: countText, values: columns, rowMode: 'array' as const }
      const { rows } = await pool.query({ ...query, ...prepared }).catch((thrown: unknown) => {
        if (!isOfOtherSession(thrown)) throw thrown
        prepared = {}
        return pool.query(query)
      })
      const windows = new Map(rows.map(([key, sum, left]) => [key, { count: Number(sum), leftMs: Number(left) }]))
      return counts.map(({ key, by }) => windows.get(key) ?? { count: by, leftMs: 0 })
    },
    close: async () => {
      clearInterval(sweeping)
      await pool.end()
    },
  }
}
