import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DryRunSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const DAY = 86_400_000
const [BTC, ETH] = ['BTCUSDT', 'ETHUSDT']

/** A sandbox with a mirror `m` of BTCUSDT, and the server of its tree. */
async function setup() {
  const { sandbox, server, tree } = await stockedSandbox(newSandbox(), [BTC])
  const call = (args: string, env = {}) => sandbox.call(args.split(' '), env)
  /** The service has the last candles of a week that was open. */
  const endWeek = () => putFile(tree, weekPath(BTC, OPEN_WEEK), weekRows(OPEN_WEEK), RENDERED + 8 * DAY)
  return { sandbox, server, tree, call, endWeek }
}

describe('update without a path', () => {
  it('downloads what cached series lack from their first window on, also in between, and nothing else', async () => {
    const { sandbox, server, call, endWeek } = await setup()
    const [, second, third, ...later] = FULL_WEEKS
    rmSync(sandbox.path(`m/${weekPath(BTC, third)}`))
    endWeek()
    const dry = await call('update --mirror m --dry-run --json')
    expect(parseObject(dry.stdout, DryRunSchema).series).toMatchObject([{ symbol: BTC, interval: '15m' }])
    expect(sandbox.exists(`m/${weekPath(BTC, third)}`)).toBe(false)
    server.reset()
    const run = await call('update --mirror m')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^14 new candles\. Windows: 2 downloaded, 1 revalidated/m)
    expect(run.stdout).toMatch(/^Latest candle: BTCUSDT 15m of 2025-02-16 23:45 UTC, 2 days ago\.$/m)
    const requested = server.paths('windows')
    expect(requested).toEqual([third, OPEN_WEEK, '2025-02-17'].map(week => weekPath(BTC, week)))
    expect(sandbox.files('m').filter(name => name.includes(ETH))).toEqual([])
    for (const week of [second, third, ...later]) expect(sandbox.exists(`m/${weekPath(BTC, week)}`)).toBe(true)
    expect(await call('update --mirror m --fail-on-gaps')).toMatchObject({ code: 3, stdout: '' })
    const again = await call('update --mirror m --json')
    expect(parseObject(again.stdout, RunSchema).series).toMatchObject([{ symbol: BTC, windows: { fetched: 0 } }])
  })

  it('brings back a series that the mirror had and whose files are all gone', async () => {
    const { sandbox, call } = await setup()
    const windows = () => sandbox.files('m/api').filter(name => name.includes(BTC))
    const before = windows()
    rmSync(sandbox.path(`m/${dirname(weekPath(BTC, OPEN_WEEK))}`), { recursive: true })
    const run = await call('update --mirror m')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(BTC)
    expect(windows()).toEqual(before)
  })

  it.each([
    ['2d', 'old', 0],
    ['47h', 'old', 4],
    ['15m', 'old', 4],
    ['1y', 'older', 0],
    ['2w', 'older', 4],
  ])('--max-age %s of a source that is %s: exit code %i', async (length, age, code) => {
    const { sandbox, call, endWeek } = await setup()
    endWeek()
    // The newest candle closes at 2025-02-17 00:00.
    sandbox.now = Date.parse('2025-02-18T23:30Z') + (age === 'old' ? 0 : 200 * DAY)
    const run = await call('update --mirror m -q', { KLINES_MAX_AGE: length })
    expect(run).toMatchObject({ code, stdout: '' })
    const ago = age === 'old' ? '47 h 30 min' : '201 days'
    const error = `klines: The newest 15m candle closed ${ago} ago, at 2025-02-17 00:00 UTC.\n  --max-age is ${length}. `
    expect(run.stderr.slice(0, error.length)).toBe(code === 0 ? '' : error)
    if (code === 0) return
    const { error: object } = JSON.parse((await call(`update --mirror m --json --max-age ${length}`)).stdout)
    expect(object).toMatchObject({ code: 'no_candles', exitCode: 4, message: expect.stringContaining(ago) })
  })

  it.each(['0d', 'x', '2', '-2d', '2 days'])(
    '--max-age %j is a usage error before anything is asked for',
    async length => {
      const { sandbox, server } = await setup()
      server.reset()
      for (const more of [[], ['--dry-run']]) {
        const run = await sandbox.call(['update', '--mirror', 'm', `--max-age=${length}`, ...more])
        expect(run).toMatchObject({ code: 2, stdout: '' })
        expect(run.stderr).toContain(`"${length}" is not a length of time.`)
      }
      expect(server.paths()).toEqual([])
    },
  )
})
