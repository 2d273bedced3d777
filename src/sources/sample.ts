import { existsSync, readFileSync } from 'node:fs'
import { SAMPLE } from '../candles/base-url.js'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../candles/paths.js'
import { decodeWindow } from '../rows/window-codec.js'
import { ownFile } from '../version.js'
import { FetchError } from './fetch-error.js'
import type { Fetched, FetchedList, Source } from './source.js'

/** The synthetic sample data of the package: a complete tree, but that empty windows have no file. */
export const sampleRoot = () => ownFile('../fixtures/sample/')

export function sampleSource({ now }: { readonly now: () => number }): Source {
  const root = sampleRoot()
  const read = (path: string) => {
    const file = new URL(path, root)
    return existsSync(file) ? readFileSync(file) : undefined
  }
  const list = (path: string, parse: (bytes: Buffer) => string[]): FetchedList => {
    const bytes = read(path)
    if (bytes === undefined) throw missing()
    return { names: parse(bytes), bytes, asked: now(), served: now() }
  }
  const startDates = (interval: Parameters<Source['startDates']>[0]) =>
    list(startDatesPath(interval), bytes => parseStartDates(bytes, interval))
  const symbols = () => list(SYMBOLS_PATH, parseSymbols)
  return {
    name: SAMPLE,
    rules: { kind: 'fixed' },
    traffic: { requests: 0, bytes: 0, stopReason: undefined },
    now: async () => now(),
    symbols: async () => symbols(),
    startDates: async interval => startDates(interval),
    fetch: async (window): Promise<Fetched> => {
      const isListed =
        symbols().names.includes(window.symbol) && startDates(window.interval).names.includes(window.startDate)
      if (!isListed) throw missing()
      const bytes = read(windowPath(window)) ?? Buffer.from('[]')
      return { bytes, batch: decodeWindow(bytes, window), rendered: now(), asked: now() }
    },
    cost: () => ({ requests: 0, limitMs: 0 }),
    close: async () => {},
  }
}

function missing(): FetchError {
  return new FetchError('permanent', 'status 404: the sample has no such file', { status: 404 })
}
