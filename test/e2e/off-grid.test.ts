import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { HOUR, HOURS, makeOffGridTree, OFF_GRID_HOURS } from '../support/off-grid-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile, type Row } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const INTERVALS = ['-i', '15m,1h,2h,1d', '--mirror', 'm']
const HOUR_PATH = 'api/klines/1h/BTCUSDT/2018-02-01.json'
const DAY = 24 * HOUR

/** A mirror with off-grid hours of February 2018, and the server that it is from. */
async function sandboxWithMirror() {
  const sandbox = newSandbox()
  sandbox.now = Date.parse('2018-06-01')
  const server = await TreeServer.start(makeOffGridTree(sandbox.path('tree')))
  server.date = sandbox.now
  makeOffGridTree(sandbox.path('m'))
  writeFileSync(sandbox.path('m/mirror.json'), JSON.stringify({ layout: 1, baseUrl: server.url }))
  return { sandbox, server }
}

/** The same candles in March. */
const inMarch = (rows: readonly Row[]) => rows.map(row => row.with(0, row[0] + 28 * DAY).with(6, row[6] + 28 * DAY))

describe('candles that the exchange has off the grid', () => {
  it('are notes of verify: exit code 0, counted in its first line, listed with -v and --json', async () => {
    const { sandbox } = await sandboxWithMirror()
    const verify = ['verify', 'BTCUSDT', ...INTERVALS]
    const [text, verbose, json, csv] = await Promise.all([
      sandbox.call(verify),
      sandbox.call([...verify, '-v']),
      sandbox.call([...verify, '--json']),
      sandbox.call([...verify, '-f', 'csv']),
    ])
    for (const run of [text, verbose, json, csv]) expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^OK: 4 series, [\d,]+ candles, [\d,]+ comparisons, \d+ gaps?, 43 notes\n/)
    expect(text.stdout).toContain(
      'Notes: candles that the exchange itself has off the grid (UTC):\n' +
        'BTCUSDT 1h: 43 candles, 2018-02-09 09:28:14.789 to 2018-02-11 03:28:14.789\n',
    )
    const listed = verbose.stdout.match(/^BTCUSDT 1h 2018-02-.*: opens 1694789 ms off the grid$/gm)
    expect(listed).toHaveLength(43)
    expect([...text.stdout.split('\n'), ...verbose.stdout.split('\n')].filter(line => line.length > 80)).toEqual([])
    const { verdict, totals, series, differences } = JSON.parse(json.stdout)
    expect([verdict, totals.notes, totals.invalidCandles, differences]).toEqual(['ok', 43, 0, []])
    expect(series.map((one: { offGrid: number[] }) => one.offGrid)).toEqual([[], OFF_GRID_HOURS, [], []])
    const [head, , hours] = csv.stdout.split('\n').map(line => line.split(','))
    expect(['notes', 'invalid', 'missing_candles'].map(name => hours[head.indexOf(name)])).toEqual(['43', '0', '32'])
  })

  it('are corrupt from March 2018 on: exit code 6', async () => {
    const { sandbox } = await sandboxWithMirror()
    putFile(sandbox.path('m'), 'api/klines/1h/BTCUSDT/2018-03-01.json', inMarch(HOURS))
    const verify = await sandbox.call(['verify', 'BTCUSDT', '-i', '1h', '--mirror', 'm'])
    expect(verify.code).toBe(6)
    expect(verify.stdout).toMatch(/^FAILED: 1 of 1 series: 1 window is corrupt\n/)
    const fault = '2018-03-09T09:28:14.789Z is not on the grid of its series'
    expect(verify.stdout).toContain(fault)
  })

  it('are downloaded, exported as they are and resampled without losing volume, with the gaps of verify', async () => {
    const { sandbox, server } = await sandboxWithMirror()
    sandbox.now = server.date = Date.parse('2018-03-15')
    putFile(sandbox.path('tree'), 'api/klines/start-dates/1h.json', ['2018-02-01', '2018-03-01'])
    const download = ['download', 'BTCUSDT', '-i', '1h', '--base-url', server.url, '--mirror', 'new']
    const run = await sandbox.call([...download, '--to', '2018-03-01', '-o', 'h.csv', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const { series } = JSON.parse(run.stdout)
    expect(series).toMatchObject([{ candles: HOURS.length, gaps: 1, missing: 32 }])
    expect(sandbox.text(`new/${HOUR_PATH}`)).toBe(JSON.stringify(HOURS))
    const lines = HOURS.map(row => row.join(','))
    expect(sandbox.text('h.csv').split('\n').slice(1).join('\n')).toBe(`${lines.join('\n')}\n`)

    const args = ['export', 'BTCUSDT', '-i', '1h', '--mirror', 'm', '--to', '2018-03-01', '-o']
    for (const ending of ['json', 'parquet', 'arrow', 'jsonl']) {
      expect(await sandbox.call([...args, `h.${ending}`])).toMatchObject({ code: 0 })
    }
    expect(JSON.parse(sandbox.text('h.json'))).toEqual(HOURS)
    const chart = ['chart', ...args.slice(1), 'h.svg', '--width', '2400', '--offline']
    expect(await sandbox.call(chart)).toMatchObject({ code: 0 })
    expect(sandbox.text('h.svg')).toContain(` UTC, ${HOURS.length} candles, 32 missing · `)
    expect(await sandbox.call([...args, 'd.json', '--resample', '1d'])).toMatchObject({ code: 0 })
    const units = (rows: Row[]) => rows.reduce((sum, row) => sum + BigInt(row[5].replace('.', '')), 0n)
    expect(units(JSON.parse(sandbox.text('d.json')))).toBe(units(HOURS))
    const stats = await sandbox.call(['stats', 'BTCUSDT', '-i', '1h', '--mirror', 'm', '--json'])
    expect(JSON.parse(stats.stdout).series).toMatchObject([{ candles: HOURS.length, gaps: 1, missing: 32 }])
  })
})
