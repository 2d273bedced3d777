import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Series } from '../../src/candles/series.js'
import { indexPath } from '../../src/mirror/series-index.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { GrowingMirror } from './support/growing-mirror.js'
import { type GrowingService, growingExchange, growingTree } from './support/growing-service.js'

const HOUR = 3_600_000

const KINDS: [string, () => Promise<GrowingService>][] = [
  ['a static service', growingTree],
  ['the exchange', () => growingExchange()],
]

type Change = (rows: unknown[]) => unknown[] | undefined

/** What happens to the file of a window, and how `verify` ends then; undefined removes it. */
const DAMAGES: [string, 'oldest' | 'newest', Change, number, string][] = [
  ['last half', 'newest', rows => rows.slice(0, rows.length / 2), 6, 'which the mirror has had'],
  ['all rows', 'newest', () => [], 6, 'which the mirror has had'],
  ['file', 'newest', () => undefined, 3, ''],
  ['first row', 'oldest', rows => rows.slice(1), 6, 'which the mirror has had'],
  ['file', 'oldest', () => undefined, 3, ''],
]

const newSandbox = useSandboxes()

/** A mirror of one series, and the files of its windows with candles. */
async function setUp(open: () => Promise<GrowingService>) {
  const mirror = new GrowingMirror(await open())
  mirror.advance(mirror.service.end - mirror.time)
  for (let run = 0; run < 2; run++) {
    await mirror.download()
    mirror.advance(2 * HOUR)
  }
  const paths = mirror.service.startDates.map(date => join(mirror.mirror, mirror.service.path(date)))
  const populated = paths.filter(path => existsSync(path) && readFileSync(path, 'utf8') !== '[]')
  const sandbox = newSandbox()
  sandbox.now = mirror.time
  const run = (...args: string[]) => sandbox.call([...args, '--mirror', mirror.mirror])
  const verify = (series = ['all', '-i', 'all']) => run('verify', ...series)
  return { mirror, populated, run, verify }
}

describe.each(KINDS)('F77 in a mirror of %s', (_, open) => {
  it.each(DAMAGES)('the %s of the %s window is missed', async (_, place, change, code, text) => {
    const { mirror, populated, verify } = await setUp(open)
    expect((await verify()).code).toBe(0)
    const file = (place === 'newest' ? populated.at(-1) : populated[0]) as string
    const { mtimeMs } = statSync(file)
    const rows = change(JSON.parse(readFileSync(file, 'utf8')))
    if (rows === undefined) rmSync(file)
    else {
      writeFileSync(file, JSON.stringify(rows))
      utimesSync(file, mtimeMs / 1000, mtimeMs / 1000)
    }
    const { symbols, intervals } = mirror.service.request
    for (const series of [
      ['all', '-i', 'all'],
      [symbols[0], '-i', intervals[0]],
    ]) {
      const run = await verify(series)
      expect([series, run.code]).toEqual([series, code])
      expect(run.stdout + run.stderr).toContain(text)
    }
    // A window of the static service is final by its end, so that only a refresh replaces one that has lost its first candles.
    await mirror.download({ refresh: place === 'oldest' })
    mirror.expectCurrent()
    expect((await verify()).code).toBe(0)
  })

  it('a series that is gone is missed, until its index is removed', async () => {
    const { mirror, populated, run, verify } = await setUp(open)
    rmSync(join(populated[0], '..'), { recursive: true })
    const lost = await verify()
    expect(lost.code).toBe(3)
    expect(lost.stdout).toMatch(/^INCOMPLETE: 1 of \d+ series: \d+ windows are missing\n/)
    expect((await run('export', 'all', '-i', 'all', '-o', 'x-{symbol}-{interval}.csv')).code).toBe(3)
    const { symbols, intervals } = mirror.service.request
    rmSync(join(mirror.mirror, indexPath({ symbol: symbols[0], interval: intervals[0] } as Series)))
    expect((await verify()).stdout).not.toContain('are missing')
  })

  it('a mirror without an index, of an older version, is verified as before', async () => {
    const { mirror, verify } = await setUp(open)
    rmSync(join(mirror.mirror, '.klines'), { recursive: true })
    expect((await verify()).code).toBe(0)
  })
})
