import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseStartDates, parseSymbols } from '../candles/lists.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../candles/paths.js'
import { decodeWindow } from '../rows/window-codec.js'
import { PACKAGE_URL } from '../version.js'
import { SAMPLE } from './base-url.js'
import { FetchError } from './fetch-error.js'
import type { Fetched, FetchedList, Source } from './source.js'

/** Folder of the synthetic sample data that ships with the package: a complete tree, but that empty windows have no file. */
export const SAMPLE_ROOT = new URL('fixtures/sample/', PACKAGE_URL)

/** The sample, read from the package: no request is sent. `now`: this machine's present, ms UTC. */
export function sampleSource({ now }: { readonly now: () => number }): Source {
  const read = (path: string) => readFileSync(new URL(path, SAMPLE_ROOT))
  const list = (path: string, parse: (bytes: Buffer) => string[]): FetchedList => {
    if (!existsSync(fileURLToPath(new URL(path, SAMPLE_ROOT)))) throw missing()
    const bytes = read(path)
    return { names: parse(bytes), bytes, rendered: now(), asked: now(), served: now() }
  }
  const startDates = (interval: Parameters<Source['startDates']>[0]) =>
    list(startDatesPath(interval), bytes => parseStartDates(bytes, interval))
  const symbols = () => list(SYMBOLS_PATH, parseSymbols)
  return {
    name: SAMPLE,
    rules: { kind: 'fixed' },
    traffic: { requests: 0, bytes: 0 },
    stopReason: undefined,
    now: async () => now(),
    symbols: async () => symbols(),
    startDates: async interval => startDates(interval),
    fetch: async (window): Promise<Fetched> => {
      const isListed =
        symbols().names.includes(window.symbol) && startDates(window.interval).names.includes(window.startDate)
      if (!isListed) throw missing()
      const path = windowPath(window)
      const bytes = existsSync(fileURLToPath(new URL(path, SAMPLE_ROOT))) ? read(path) : Buffer.from('[]')
      return { bytes, batch: decodeWindow(bytes, window), rendered: now(), asked: now() }
    },
    cost: () => ({ requests: 0, limitMs: 0 }),
    close: async () => {},
  }
}

function missing(): FetchError {
  return new FetchError('permanent', 'status 404: the sample has no such file', { status: 404 })
}
