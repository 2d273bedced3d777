import type { Mirror } from '../mirror/mirror.js'
import { FetchError } from '../sources/fetch-error.js'
import type { FetchedList, Source } from '../sources/source.js'
import { knownDates, knownSymbols } from './lists.js'

/** A source as far as a mirror knows it: its lists, and no window. `now`: this machine's present, ms UTC. */
export function knownSource(mirror: Mirror, now: () => number): Source {
  const list = async (names: string[]): Promise<FetchedList> => {
    return { names, bytes: Buffer.from(JSON.stringify(names)), rendered: now(), asked: now(), served: now() }
  }
  return {
    name: mirror.source ?? mirror.root,
    rules: mirror.rules,
    traffic: { requests: 0, bytes: 0 },
    stopReason: undefined,
    now: async () => now(),
    symbols: () => list(knownSymbols(mirror)),
    startDates: interval => list(knownDates(mirror, interval, now())),
    fetch: async () => {
      throw new FetchError('permanent', 'not requested')
    },
    cost: () => ({ requests: 0, limitMs: 0 }),
    close: async () => {},
  }
}
