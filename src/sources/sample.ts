import { existsSync, readFileSync } from 'node:fs'
import { SAMPLE } from '../candles/base-url.js'
import { ownFile } from '../version.js'
import type { Source } from './source.js'
import { type Files, staticSource } from './static.js'
import type { WholeResponse } from './transport.js'

/** The synthetic sample data of the package: a complete tree, but that empty windows have no file. */
export const sampleRoot = () => ownFile('../fixtures/sample/')

/** A static service whose answers are files of the package. */
export function sampleSource({ now }: { readonly now: () => number }): Source {
  const root = sampleRoot()
  const answer = (path: string): WholeResponse => {
    const file = new URL(path, root)
    const isThere = existsSync(file)
    const status = isThere || !path.includes('/start-dates/') ? 200 : 404
    const body = isThere ? readFileSync(file) : Buffer.from('[]')
    return { status, headers: { date: new Date(now()).toUTCString() }, body, wireBytes: 0 }
  }
  const files: Files = {
    name: SAMPLE,
    requests: 0,
    bytes: 0,
    stopReason: undefined,
    get: async ({ path, accept }) => accept(answer(path)),
    close: async () => {},
  }
  const source = staticSource(files, { now, observe: () => {} })
  return { ...source, rules: { kind: 'fixed' }, cost: () => ({ requests: 0, limitMs: 0 }) }
}
