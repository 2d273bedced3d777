import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { formatTime } from '../../src/candles/text.js'
import { RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import type { TreeServer } from '../support/servers/tree-server.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  putFile,
  RENDERED,
  type Row,
  START_DATES,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const [WEEK] = FULL_WEEKS
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
/** What every run requests: the two windows that are not full. */
const NOT_FINAL = [path(OPEN_WEEK), path(FUTURE_WEEK)]

async function setUp(): Promise<{ sandbox: CliSandbox; server: TreeServer; tree: string; args: string[] }> {
  const tree = makeTree(tempFolder())
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox, tree)
  return {
    sandbox,
    server,
    tree,
    args: ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'],
  }
}

/** The line of a summary with the counts of windows. */
const windowsLine = (stdout: string) => stdout.split('\n').find(line => line.includes('Windows: '))

describe('values that the service restated in a final window', () => {
  const rows = weekRows(WEEK)
  rows[2] = rows[2].with(5, '9.99000000').with(8, 43) as Row
  rows[4] = rows[4].with(11, 'x\u001B[31my') as Row
  const isoTime = (row: number) => new Date(rows[row][0]).toISOString()

  it('are invisible to a plain download; --refresh counts them, -v lists them on stderr, --json in the object', async () => {
    const { sandbox, server, tree, args } = await setUp()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    await sandbox.shell('cp -rp m m2; cp -rp m m3')
    putFile(tree, path(WEEK), rows, RENDERED + 86_400_000)
    server.reset()
    const plain = await sandbox.call(args)
    expect(server.paths('windows').sort()).toEqual(NOT_FINAL)
    expect(plain.stdout).not.toContain('other values')

    const text = await sandbox.call([...args, '--refresh'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain(
      [
        '\n2 cached candles changed:',
        `  BTCUSDT 15m ${formatTime(rows[2][0])}`,
        '    volume 3.50000000 -> 9.99000000',
        '    count 42 -> 43',
        `  BTCUSDT 15m ${formatTime(rows[4][0])}`,
        '    ignore 0 -> x?[31my\n',
      ].join('\n'),
    )
    expect(JSON.parse(sandbox.text(`m/${path(WEEK)}`))).toEqual(rows)

    const verbose = await sandbox.call([...args.slice(0, -1), 'm2', '--refresh', '-v'])
    const lines = verbose.stderr.split('\n')
    const first = lines.indexOf(`BTCUSDT 15m ${WEEK}: fetched`)
    expect(lines.slice(first + 1, first + 4)).toEqual([
      `BTCUSDT 15m ${isoTime(2)} volume 3.50000000 -> 9.99000000`,
      `BTCUSDT 15m ${isoTime(2)} count 42 -> 43`,
      `BTCUSDT 15m ${isoTime(4)} ignore 0 -> x?[31my`,
    ])
    expect(lines.filter(line => line.includes('->'))).toHaveLength(3)

    const json = await sandbox.call([...args.slice(0, -1), 'm3', '--refresh', '--json'])
    expect(json).toMatchObject({ code: 0, stderr: '' })
    const report = JSON.parse(json.stdout)
    expect(Check(RunSchema, report)).toBe(true)
    expect(report.series[0]).toMatchObject({ restated: 2, windows: { total: 8, fetched: 8 } })
    expect(report.series[0].changes).toEqual([
      { openTime: rows[2][0], column: 'volume', before: '3.50000000', after: '9.99000000' },
      { openTime: rows[2][0], column: 'count', before: '42', after: '43' },
      { openTime: rows[4][0], column: 'ignore', before: '0', after: 'x\u001B[31my' },
    ])
  })

  it('are ignored with a note in a window that lost candles', async () => {
    const { sandbox, tree, args } = await setUp()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    putFile(tree, path(WEEK), rows.slice(1), RENDERED + 86_400_000)
    const run = await sandbox.call([...args, '--refresh'])
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(
      /^Note: BTCUSDT 15m 2025-01-06: .* so the cached window stays\. To take the new version, remove m\/.*\n$/,
    )
    expect(run.stdout).not.toContain('other values')
    expect(run.stdout).toMatch(/No new candles\. Windows: .* 1 kept as cached\.\n/)
    expect(JSON.parse(sandbox.text(`m/${path(WEEK)}`))).toEqual(weekRows(WEEK))
  })
})

describe('changes.jsonl', () => {
  const recorded = (sandbox: CliSandbox) => {
    const lines = sandbox.text('m/changes.jsonl').trimEnd().split('\n')
    return lines.map(line => JSON.parse(line))
  }

  const changed = (open: string, factor: number) => {
    const rows = weekRows(open)
    for (const row of [0, 1]) rows[row] = rows[row].map((cell, index) => (index === 5 ? `${factor}.5` : cell)) as Row
    return rows
  }

  it('has every changed cell of all runs, the newest last, also when the windows were exported to stdout', async () => {
    const { sandbox, tree, args } = await setUp()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(sandbox.exists('m/changes.jsonl')).toBe(false)
    for (const [index, week] of FULL_WEEKS.slice(0, 3).entries())
      putFile(tree, path(week), changed(week, index + 1), RENDERED + 86_400_000)
    const toStdout = await sandbox.call([...args, '--refresh', '-f', 'csv'])
    expect(toStdout.code).toBe(0)
    expect(toStdout.stderr.split('\n').slice(0, 3)).toEqual([
      '6 cached candles changed:',
      `  BTCUSDT 15m ${WEEK} 00:00`,
      '    volume 3.50000000 -> 1.5',
    ])
    expect(toStdout.stderr).toMatch(/\n {2}and more; changes\.jsonl in the mirror has all of them\.\n/)
    expect(toStdout.stderr.match(/ -> /g)).toHaveLength(5)
    putFile(tree, path(WEEK), changed(WEEK, 7), RENDERED + 2 * 86_400_000)
    expect(await sandbox.call([...args, '--refresh', '-q'])).toMatchObject({ code: 0, stdout: '', stderr: '' })

    const cells = recorded(sandbox)
    expect(cells).toHaveLength(8)
    expect(cells.at(-1)).toEqual({
      time: expect.any(Number),
      symbol: 'BTCUSDT',
      interval: '15m',
      startDate: WEEK,
      openTime: weekRows(WEEK)[1][0],
      column: 'volume',
      before: '1.5',
      after: '7.5',
    })
  })

  it('has a candle that was not there between two others; new candles at the end are no change', async () => {
    const { sandbox, tree, args } = await setUp()
    putFile(tree, path(WEEK), weekRows(WEEK).toSpliced(2, 1), RENDERED)
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    putFile(tree, path(WEEK), weekRows(WEEK), RENDERED + 86_400_000)
    putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 3 }), RENDERED + 86_400_000)
    expect(await sandbox.call([...args, '--refresh'])).toMatchObject({ code: 0 })
    const openTime = weekRows(WEEK)[2][0]
    expect(recorded(sandbox)).toMatchObject([{ openTime, column: 'open_time', before: null, after: String(openTime) }])
  })
})

describe('the next run', () => {
  it('after one that failed halfway requests only the rest, and counts the cached windows', async () => {
    const { sandbox, server, args } = await setUp()
    const missing = FULL_WEEKS.slice(1, 3).map(path)
    for (const path of missing) server.always(path, { status: 404 })
    const failed = await sandbox.call(args)
    expect(failed).toMatchObject({ code: 3, stdout: '' })
    expect(failed.stderr).toContain('2 of 8 windows could not be downloaded')
    expect(sandbox.files('m/api/klines/15m/BTCUSDT')).toHaveLength(START_DATES.length - 2)

    server.reset()
    const next = await sandbox.call(args)
    expect(next).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows').sort()).toEqual([...missing, ...NOT_FINAL].sort())
    expect(windowsLine(next.stdout)).toMatch(/^\d+ new candles\. Windows: 2 downloaded, 2 revalidated, 4 cached\.$/)
    const last = await sandbox.call(args)
    expect(windowsLine(last.stdout)).toMatch(
      /^Everything is up to date\. Windows: 0 downloaded, 2 revalidated, 6 cached\.$/,
    )
  })

  it('tells new windows from cached ones', async () => {
    const { sandbox, args } = await setUp()
    const part = [...args, '--from', WEEK, '--to', FULL_WEEKS[1]]
    const [first, second] = [await sandbox.call(part), await sandbox.call(part)]
    expect(windowsLine(first.stdout)).toMatch(/^8 new candles\. Windows: 1 downloaded, 0 revalidated, 0 cached\.$/)
    expect(windowsLine(second.stdout)).toMatch(
      /^Everything is up to date\. Windows: 0 downloaded, 0 revalidated, 1 cached\.$/,
    )
  })
})
