import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { downloadKlines, updateKlines } from '../../src/engine/klines.js'
import { sha256 } from '../../src/rows/fingerprint.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { failCalls } from '../support/cli/failing-fs.mjs'
import { TreeServer } from '../support/servers/tree-server.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  PRESENT,
  putFile,
  START_DATES,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

const DAY = 86_400_000
const HOUR = 3_600_000
/** A bound for the loop: no update makes so many calls of one kind. */
const MOST_CALLS = 40
const [, RESTATED] = FULL_WEEKS
const SERIES = { symbols: ['BTCUSDT'], intervals: ['15m'] } as const
const sandbox = useSandboxes()()
const [tree, mirror, before] = ['tree', 'm', 'before'].map(name => sandbox.path(name))
const path = (startDate: string) => weekPath('BTCUSDT', startDate)

let server: TreeServer
/** What a request says of the mirror, hours after the present. */
const at = (hours: number) => {
  server.date = PRESENT + hours * HOUR
  return { baseUrl: server.url, mirror, now: server.date }
}

/** A current mirror of a service that restates a final window, and goes on, two days later; `before` is a copy of it. */
beforeAll(async () => {
  server = await TreeServer.open(makeTree(tree))
  await downloadKlines({ ...SERIES, ...at(0) })
  await updateKlines(at(25))
  cpSync(mirror, before, { recursive: true, preserveTimestamps: true })
  putFile(tree, path(RESTATED), weekRows(RESTATED, { seed: 5 }), PRESENT + 2 * DAY)
  putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK), PRESENT + 2 * DAY)
  putFile(tree, path(FUTURE_WEEK), weekRows(FUTURE_WEEK, { days: 3 }), PRESENT + 2 * DAY)
})
afterAll(() => server.stop())

/** Puts the mirror, or a part of it, back as it was before. */
function putBack(part = '.', withTimes = true): void {
  rmSync(join(mirror, part), { recursive: true, force: true })
  cpSync(join(before, part), join(mirror, part), { recursive: true, preserveTimestamps: withTimes })
}

/** Fails unless files, entries and `verify` are right; the restated window may be the old one. */
async function expectRight(isRefreshed: boolean): Promise<void> {
  const entries = JSON.parse(sandbox.text('m/.klines/15m/BTCUSDT.json'))
  for (const date of START_DATES) {
    const bytes = readFileSync(join(mirror, path(date)))
    const versions = date === RESTATED && !isRefreshed ? [tree, before] : [tree]
    const isOne = versions.some(version => readFileSync(join(version, path(date))).equals(bytes))
    expect([date, isOne]).toEqual([date, true])
    expect(entries[date], date).toMatchObject({ size: bytes.length, sha256: sha256(bytes) })
  }
  expect((await verifyKlines({ ...SERIES, ...at(50) })).verdict).toBe('ok')
}

it.each([
  ['an update', false],
  ['a refresh', true],
])('a run that ends before any rename of %s is mended by the next plain update', async (_, refresh) => {
  let points = 0
  for (let number = 1; number <= MOST_CALLS; number++) {
    putBack()
    const seen: string[] = []
    // Nothing is written any more from this call on.
    const restore = failCalls([{ call: 'renameSync', path: 'm/.klines-tmp', at: number, code: 'EIO', seen }])
    await updateKlines({ ...at(49), refresh }).catch(() => {})
    restore()
    if (seen.length < number) break
    points++
    await updateKlines(at(50))
    await expectRight(false)
  }
  expect(points).toBeGreaterThan(0)
})

describe.each([true, false])('an older copy that is put back, with its times: %s', withTimes => {
  it.each(['.klines', 'api', '.'])('of %s: the next plain update makes files, entries and verify right', async part => {
    putBack()
    await updateKlines({ ...at(49), refresh: true })
    putBack(part, withTimes)
    await updateKlines(at(50))
    await expectRight(part !== '.')
  })
})
