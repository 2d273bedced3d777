import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const ROWS = sampleRows('BTCUSDT', '1d')
const { UTC } = Date
const NOON = UTC(2025, 1, 20, 12)
/** The sample's daily candles that open in `[from, to)`. */
const rowsBetween = (from: number, to: number) =>
  ROWS.filter(([openTime]) => Number(openTime) >= from && Number(openTime) < to)

describe.concurrent('times, at noon of 20 February 2025', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    const run = await sandbox.call('download BTCUSDT -i 1d --base-url sample --mirror mirror -q'.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    sandbox.now = NOON
  })

  it.each<[string, number, number]>([
    ['--from yesterday --to today', UTC(2025, 1, 19), UTC(2025, 1, 20)],
    ['--from=-7d --to=-1d', NOON - 7 * 86_400_000, NOON - 86_400_000],
    ['--to -1M --from 2025', UTC(2025, 0, 1), UTC(2025, 0, 20, 12)],
    ['--from 1738368000 --to 1738454400000', UTC(2025, 1, 1), UTC(2025, 1, 2)],
    ['--to yesterday --last 3d', UTC(2025, 1, 16), UTC(2025, 1, 19)],
  ])('%s', async (range, from, to) => {
    const expected = rowsBetween(from, to)
    expect(expected.length).toBeGreaterThan(0)
    const run = await sandbox.call([...'export BTCUSDT -i 1d --mirror mirror -f csv'.split(' '), ...range.split(' ')])
    expect(run).toMatchObject({ code: 0, stderr: '', stdout: csvOf(expected) })
  })

  it.each([
    ['--from today --to yesterday', /The range is empty: from 2025-02-20T00:00:00.000Z to 2025-02-19T00:00:00.000Z/],
    [
      '--from tomorrow',
      /"tomorrow" is not a point in time.*now, today, yesterday or -7d.*10 digits \(s\) or 13 digits/,
    ],
    ['--from 170406720', /"170406720" is not a point in time/],
  ])('%s is wrong usage', async (range, message) => {
    const args = [...'export BTCUSDT -i 1d --mirror mirror -f csv'.split(' '), ...range.split(' ')]
    expect(await sandbox.call(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})
