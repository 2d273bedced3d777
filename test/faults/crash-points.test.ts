import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CliSandbox } from '../support/cli/cli-sandbox.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  OPEN_WEEK,
  PRESENT,
  putFile,
  START_DATES,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const DAY = 86_400_000
const HOUR = 3_600_000
/** A bound for the loop: no update makes so many calls of one kind. */
const MOST_CALLS = 40
const [, RESTATED] = FULL_WEEKS
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
const INDEX = 'm/.klines/15m/BTCUSDT.json'

/** A current mirror of a service that restates a final window, and goes on, two days later. `run`: the program at a time, hours later. */
async function setUp() {
  const { sandbox, server, tree } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
  const run = (hours: number, args: readonly string[], faults: Parameters<CliSandbox['call']>[2] = {}) => {
    server.date = PRESENT + hours * HOUR
    sandbox.now = server.date
    return sandbox.call([...args, '--mirror', 'm'], {}, faults)
  }
  expect(await run(25, ['update', '-q'])).toMatchObject({ code: 0, stderr: '' })
  const before = sandbox.path('before')
  cpSync(sandbox.path('m'), before, { recursive: true, preserveTimestamps: true })
  putFile(tree, path(RESTATED), weekRows(RESTATED, { seed: 5 }), PRESENT + 2 * DAY)
  putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK), PRESENT + 2 * DAY)
  putFile(tree, path(FUTURE_WEEK), weekRows(FUTURE_WEEK, { days: 3 }), PRESENT + 2 * DAY)
  /** Puts the mirror, or a part of it, back as it was before. */
  const putBack = (part = '.', withTimes = true) => {
    rmSync(join(sandbox.path('m'), part), { recursive: true, force: true })
    cpSync(join(before, part), join(sandbox.path('m'), part), { recursive: true, preserveTimestamps: withTimes })
  }
  /** Fails unless files, entries and `verify` are right; the restated window may be the old one. */
  const expectRight = async (isRefreshed: boolean) => {
    const entries = JSON.parse(sandbox.text(INDEX)) as Record<string, { size: number; sha256: string }>
    for (const date of START_DATES) {
      const bytes = sandbox.bytes(join('m', path(date)))
      const versions = [
        join(tree, path(date)),
        ...(date === RESTATED && !isRefreshed ? [join(before, path(date))] : []),
      ]
      expect(
        versions.map(version => readFileSync(version).equals(bytes)),
        date,
      ).toContain(true)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      expect(entries[date], date).toMatchObject({ size: bytes.length, sha256 })
    }
    expect(await run(50, ['verify', 'BTCUSDT', '-i', '15m', '-q'])).toMatchObject({ code: 0 })
  }
  return { run, putBack, expectRight }
}

it.each<[string, readonly string[], string]>([
  ['any write of an update', [], 'writeSync'],
  ['any rename of an update', [], 'renameSync'],
  ['any write of a refresh', ['--refresh'], 'writeSync'],
  ['any rename of a refresh', ['--refresh'], 'renameSync'],
])('a run that ends before %s is mended by the next plain update', async (_, flags, call) => {
  const { run, putBack, expectRight } = await setUp()
  let points = 0
  for (let at = 1; at <= MOST_CALLS; at++) {
    putBack()
    // Nothing is written any more from this call on.
    const faults = [{ call, path: 'm/.klines-tmp', at, code: 'EIO' }]
    const { code, stderr } = await run(49, ['update', '-q', ...flags], { faults })
    if (code === 0 && !stderr.includes('EIO')) break
    points++
    expect(await run(50, ['update', '-q'])).toMatchObject({ code: 0 })
    await expectRight(false)
  }
  expect(points).toBeGreaterThan(0)
})

describe.each([true, false])('an older copy that is put back, with its times: %s', withTimes => {
  it.each(['.klines', 'api', '.'])('of %s: the next plain update makes files, entries and verify right', async part => {
    const { run, putBack, expectRight } = await setUp()
    expect(await run(49, ['update', '-q', '--refresh'])).toMatchObject({ code: 0 })
    putBack(part, withTimes)
    expect(await run(50, ['update', '-q'])).toMatchObject({ code: 0 })
    await expectRight(part !== '.')
  })
})
