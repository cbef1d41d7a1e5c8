/** The values that options may have; any other is a usage error. */
import { statSync } from 'node:fs'
import { InvalidArgumentError, Option } from 'commander'

export const wholeNumberOption =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`)
    return number
  }
/** `--port` of commands that serve a contract. */
export const createPortOption = (): Option =>
  new Option('--port <number>', 'port; 0 picks a free one')
    .env('PORT')
    .default(8080)
    .argParser(wholeNumberOption(0, 65535))
export const collectOption = (text: string, before: readonly string[]): string[] => [...before, text]
export const foldersOption = (text: string, before: readonly string[]): string[] => {
  if (!statSync(text, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidArgumentError('must be the path of a folder')
  return [...before, text]
}
/** Hosts whose documents may be fetched. */
export const hostsOption = (text: string, before: readonly string[]): string[] => {
  if (/[/?#@\\\s]/.test(text) || !URL.parse(`https://${text}`))
    throw new InvalidArgumentError('must be a host alone, such as api.example.org or localhost:8081')
  return [...before, text]
}
export const pairOption = (text: string, before: Readonly<Record<string, string>>): Record<string, string> => {
  const [name, ...value] = text.split('=')
  if (!name || value.length === 0) throw new InvalidArgumentError('must be NAME=VALUE')
  return { ...before, [name]: value.join('=') }
}

export const addressOption = (text: string): string => {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new InvalidArgumentError('must be an http or https address, such as https://api.example.org')
  return text
}

export const timeOption = (text: string): number => {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('must be a date or a time, such as 2026-01-31')
  return time
}
