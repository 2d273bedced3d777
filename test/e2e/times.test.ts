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
    ['--from today --to now', UTC(2025, 1, 20), NOON],
    ['--from -7d --to now', NOON - 7 * 86_400_000, NOON],
    ['--from=-7d --to=-1d', NOON - 7 * 86_400_000, NOON - 86_400_000],
    ['--from -37h --to today', UTC(2025, 1, 19), UTC(2025, 1, 20)],
    ['--to -1M --from 2025', UTC(2025, 0, 1), UTC(2025, 0, 20, 12)],
    ['--from 1738368000 --to 1738454400000', UTC(2025, 1, 1), UTC(2025, 1, 2)],
    ['--to yesterday --last 3d', UTC(2025, 1, 16), UTC(2025, 1, 19)],
    ['--from 2025 --to 2025-02', UTC(2025, 0, 1), UTC(2025, 1, 1)],
  ])('%s', async (range, from, to) => {
    const expected = rowsBetween(from, to)
    expect(expected.length).toBeGreaterThan(0)
    const run = await sandbox.call([...'export BTCUSDT -i 1d --mirror mirror -f csv'.split(' '), ...range.split(' ')])
    expect(run).toMatchObject({ code: 0, stderr: '', stdout: csvOf(expected) })
  })

  it('KLINES_FROM takes them too', async () => {
    const args = 'export BTCUSDT -i 1d --mirror mirror -f csv --to today'.split(' ')
    const run = await sandbox.call(args, { KLINES_FROM: '-2d' })
    expect(run).toMatchObject({ code: 0, stdout: csvOf(rowsBetween(NOON - 2 * 86_400_000, UTC(2025, 1, 20))) })
  })

  it.each([
    ['--from today --to yesterday', /The range is empty: from 2025-02-20T00:00:00.000Z to 2025-02-19T00:00:00.000Z/],
    ['--from now --to now', /The range is empty/],
    [
      '--from tomorrow',
      /"tomorrow" is not a point in time.*now, today, yesterday or -7d.*10 digits \(s\) or 13 digits/,
    ],
    ['--from -7x', /"-7x" is not a point in time/],
    ['--from 170406720', /"170406720" is not a point in time/],
  ])('%s is wrong usage', async (range, message) => {
    const args = [...'export BTCUSDT -i 1d --mirror mirror -f csv'.split(' '), ...range.split(' ')]
    expect(await sandbox.call(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})
