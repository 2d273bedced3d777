import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { expectedSums, logNames, type Sums, tablePart, tableSums, withoutIds } from '../support/delta.js'
import { callNumbers, callsUpTo, FULL, kindOfFile, oneOf } from '../support/full.js'
import { onlyPart } from '../support/lake.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { FULL_WEEKS, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const [WEEK] = FULL_WEEKS
const SERIES = [
  'export',
  'BTCUSDT',
  'ETHUSDT',
  '-i',
  '15m',
  '--mirror',
  'm',
  '--numbers',
  'decimal',
  '--layout',
  'hive',
]
const TABLE = [...SERIES, '--table', 'delta', '-o', 'lake']
const PLAIN = [...SERIES, '-o', 'lake']
/** A bound for the loop: no update makes this many calls of one kind. */
const MOST_CALLS = 60
const OLD = expectedSums()

/** Sandboxes with a mirror, and those that have a lake of it, too. */
const withMirror = usePreparedSandboxes(newSandbox, stockedSandbox)
const withLake = (args: readonly string[]) =>
  usePreparedSandboxes(newSandbox, async sandbox => {
    await stockedSandbox(sandbox)
    expect(await sandbox.call(args)).toMatchObject({ code: 0, stderr: '' })
  })
const withTable = withLake(TABLE)
const withFiles = withLake(PLAIN)

/** Changes the first full window of both series; returns what a lake must have then. */
function change(sandbox: CliSandbox, seed: number): Sums {
  const rows = weekRows(WEEK, { seed })
  for (const symbol of ['BTCUSDT', 'ETHUSDT']) putFile(sandbox.path('m'), weekPath(symbol, WEEK), rows)
  return expectedSums({ [`BTCUSDT ${WEEK}`]: rows, [`ETHUSDT ${WEEK}`]: rows })
}

/** Runs a command in which the call number `at` on a file of the lake kills the process or fails. */
function runWith(sandbox: CliSandbox, args: readonly string[], call: string, code: string, at: number) {
  const fault = { call, path: '/lake/', code, at, times: 1 }
  const absolute = args.map(text => (text === 'lake' ? sandbox.path('lake') : text))
  return code === 'SIGKILL' ? sandbox.runFailing(absolute, [fault]) : sandbox.call(absolute, {}, { faults: [fault] })
}

/**
 * The numbers of the calls that fail, up to one that is not made any more. When all cases run, they are chosen by the files of the
 * calls of a run without a fault, which `start` prepares; writes are many and alike.
 */
async function numbersOf(call: string, args: readonly string[], start: () => Promise<CliSandbox>): Promise<number[]> {
  if (!FULL) return callNumbers(MOST_CALLS, call === 'handle.write' ? 3 : 1, 7)
  const [sandbox, seen] = [await start(), [] as string[]]
  const absolute = args.map(text => (text === 'lake' ? sandbox.path('lake') : text))
  const never = { call, path: '/lake/', code: 'EIO', at: Number.POSITIVE_INFINITY, seen }
  expect(await sandbox.call(absolute, {}, { faults: [never] })).toMatchObject({ code: 0 })
  return callsUpTo(
    MOST_CALLS,
    seen.map(path => kindOfFile(path.slice(sandbox.folder.length))),
    call === 'handle.write' ? 12 : 4,
  )
}

/** What the views of a lake say: the reader of people without a log. */
async function viewSums(sandbox: CliSandbox): Promise<Sums> {
  const sql =
    'select symbol, count(*)::int as n, sum(open)::decimal(38,8)::varchar as total from klines group by 1 order by 1'
  const { rows } = await duckdb(`${sandbox.bytes('lake/_views.sql')}\n${sql}`)
  return Object.fromEntries(rows.map(({ symbol, n, total }) => [symbol, [n, total]])) as Sums
}

/** A kill needs a process of its own, which takes time. */
const KILLS = [
  ['promises.link', 'SIGKILL', 'F42'],
  ['promises.rename', 'SIGKILL', 'F42'],
  ['handle.write', 'SIGKILL', 'F42'],
  ['handle.sync', 'SIGKILL', 'F42'],
  ['promises.unlink', 'SIGKILL', 'F42'],
  ['rmSync', 'SIGKILL', 'F42'],
  ['renameSync', 'SIGKILL', 'F42'],
] as const
const FAULTS = [
  ...oneOf(3, KILLS),
  ['handle.write', 'ENOSPC', 'F44'],
  ['promises.link', 'EIO', 'F47'],
  ['promises.rename', 'EIO', 'F47'],
] as const

describe('a Delta table: every reader sees the old version or the new one, and the next run completes it', () => {
  it.each(FAULTS)('a new version ends with %s %s (%s)', async (call, code) => {
    const seen = new Set<number>()
    let isComplete = false
    const update = [...TABLE, '--vacuum', '7d']
    const newStart = async () => {
      const sandbox = await withTable()
      return { sandbox, changed: change(sandbox, 7) }
    }
    for (const at of await numbersOf(call, update, async () => (await newStart()).sandbox)) {
      const { sandbox, changed } = await newStart()
      const run = await runWith(sandbox, update, call, code, at)
      expect(run.signal === 'SIGKILL' || [0, 1].includes(run.code ?? -1), run.stderr).toBe(true)
      const table = sandbox.path('lake')
      const made = logNames(table).filter(name => name.endsWith('.json') && !name.startsWith('.')).length
      seen.add(made)
      // The log decides: both parts of the version, or none.
      expect(await tableSums(table)).toEqual(made === 2 ? changed : OLD)
      expect([OLD, changed]).toContainEqual(await viewSums(sandbox))
      expect(await tableSums(table, 0)).toEqual(OLD)
      if (code !== 'SIGKILL' && made === 1)
        expect(withoutIds(sandbox.files('lake').filter(name => name.endsWith('.parquet')))).toEqual(
          ['BTCUSDT', 'ETHUSDT'].map(symbol => tablePart(symbol, 0)),
        )
      expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
      // One version for one change, also when the run before was killed after it had made it.
      expect(logNames(table)).toHaveLength(2)
      expect(await tableSums(table)).toEqual(changed)
      expect(await viewSums(sandbox)).toEqual(changed)
      expect(sandbox.files('lake').filter(name => name.includes('~'))).toEqual([])
      expect((await sandbox.call(TABLE)).stdout).toContain('Lake lake: up to date, 0 parts written, 2 unchanged.')
      isComplete = run.code === 0
      if (isComplete) break
    }
    expect(isComplete).toBe(true)
    expect(seen).toContain(2)
  })

  it('F47 the log of the new version cannot be read: the version keeps its parts', async () => {
    const sandbox = await withTable()
    const changed = change(sandbox, 7)
    const unread = { call: 'openSync', path: `${'0'.repeat(19)}1.json`, code: 'EIO', times: 1 }
    const run = await sandbox.call(TABLE, {}, { faults: [unread] })
    expect(run.code).toBe(2)
    expect(run.stderr).toContain('Cannot use the log lake/_delta_log: input/output error (EIO).')
    expect(run.stderr).not.toContain('remove the log')
    const table = sandbox.path('lake')
    expect(await tableSums(table)).toEqual(changed)
    expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
    expect(logNames(table)).toHaveLength(2)
    expect(await tableSums(table)).toEqual(changed)
    expect(await viewSums(sandbox)).toEqual(changed)
  })

  it.each(
    oneOf(3, [
      ['promises.rename', 'SIGKILL'],
      ['promises.link', 'SIGKILL'],
      ['handle.write', 'SIGKILL'],
    ]),
  )('F42 a new table ends with %s %s: it has no version, or a whole one', async (call, code) => {
    let isComplete = false
    let kills = 0
    for (const at of await numbersOf(call, TABLE, withMirror)) {
      const sandbox = await withMirror()
      const run = await runWith(sandbox, TABLE, call, code, at)
      const table = sandbox.path('lake')
      if (logNames(table).includes(`${'0'.repeat(20)}.json`)) expect(await tableSums(table)).toEqual(OLD)
      expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
      expect(logNames(table)).toHaveLength(1)
      expect(await tableSums(table)).toEqual(OLD)
      expect(await viewSums(sandbox)).toEqual(OLD)
      isComplete = run.code === 0
      if (isComplete) break
      kills++
    }
    expect(isComplete).toBe(true)
    expect(kills).toBeGreaterThan(0)
  })
})

describe.each([
  ['plain files into a table', PLAIN, TABLE],
  ['a table into plain files', TABLE, PLAIN],
])('F42 a run that turns %s', (_, from, to) => {
  it.each(oneOf(3, ['promises.rename', 'promises.link', 'rmSync', 'renameSync', 'handle.write']))(
    'is killed at each %s: its readers see all of the old or all of the new candles, and the next run completes it',
    async call => {
      let isComplete = false
      const turn = [...to, '--force']
      const newStart = async () => {
        const sandbox = await (from === PLAIN ? withFiles() : withTable())
        return { sandbox, changed: change(sandbox, 3) }
      }
      for (const at of await numbersOf(call, turn, async () => (await newStart()).sandbox)) {
        const { sandbox, changed } = await newStart()
        const run = await runWith(sandbox, turn, call, 'SIGKILL', at)
        const table = sandbox.path('lake')
        const states = [OLD, changed]
        expect(states).toContainEqual(await viewSums(sandbox))
        if (logNames(table).includes(`${'0'.repeat(20)}.json`)) expect(states).toContainEqual(await tableSums(table))
        expect(await sandbox.call([...to, '--force'])).toMatchObject({ code: 0, stderr: '' })
        expect(await viewSums(sandbox)).toEqual(changed)
        const parts = sandbox.files('lake').filter(name => name.endsWith('.parquet'))
        if (to === PLAIN) expect(parts).toEqual(['BTCUSDT', 'ETHUSDT'].map(symbol => onlyPart(symbol)))
        else expect(parts.filter(name => name.endsWith('/part-0.parquet'))).toEqual([])
        expect(logNames(table).length > 0).toBe(to === TABLE)
        expect(sandbox.files('lake').filter(name => name.includes('~'))).toEqual([])
        isComplete = run.code === 0
        if (isComplete) break
      }
      expect(isComplete).toBe(true)
    },
  )
})
