import { cpSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { onlyPart } from '../support/lake.js'
import { snapshot } from '../support/snapshot.js'
import { makeTree, OPEN_WEEK, PRESENT, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()
const PART = onlyPart('BTCUSDT')
const SERIES = dirname(PART)

const OPTIONS = ['--layout', 'hive']
const exportTo = (output: string) => {
  return ['export', 'BTCUSDT', 'ETHUSDT', '-i', '15m', '--mirror', 'm', ...OPTIONS, '-o', output]
}

/** A mirror, and a lake that lacks its newest candles. */
let stock: CliSandbox
beforeAll(async () => {
  stock = newSandbox()
  stock.now = PRESENT
  makeTree(stock.path('m'))
  expect(await stock.call(exportTo('lake'))).toMatchObject({ code: 0, stderr: '' })
  for (const symbol of ['BTCUSDT', 'ETHUSDT'])
    putFile(stock.path('m'), weekPath(symbol, OPEN_WEEK), weekRows(OPEN_WEEK))
})

/** A lake that was cloned into the working folder, and the user's files elsewhere, which are like those of the lake. */
function clonedLake() {
  const sandbox = newSandbox()
  sandbox.now = PRESENT
  const [lake, victim] = [sandbox.path('lake'), tempFolder()]
  cpSync(stock.path('m'), sandbox.path('m'), { recursive: true, preserveTimestamps: true })
  cpSync(stock.path('lake'), lake, { recursive: true, preserveTimestamps: true })
  cpSync(lake, victim, { recursive: true, preserveTimestamps: true })
  return { sandbox, lake, victim }
}

function putLink(folder: string, path: string, target: string): void {
  rmSync(join(folder, path), { recursive: true, force: true })
  symlinkSync(target, join(folder, path))
}

describe('F70 a lake with a link that leads out of it', () => {
  it.each([
    ['nothing is written', '_klines.json', ['--numbers', 'decimal']],
    ['nothing is renamed', PART, ['--force']],
    ['nothing is written in a folder', SERIES, ['--force']],
  ])('%s through %s: exit code 2 with its name', async (_, path, more) => {
    const { sandbox, lake, victim } = clonedLake()
    putLink(lake, path, join(victim, path))
    const before = snapshot(victim)
    const run = await sandbox.call([...exportTo('lake'), ...more])
    expect(run.stderr).toContain(
      `klines: lake/${path} is a link. Below lake, nothing is written, replaced or removed through a link.\n`,
    )
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expectPlainText(run.stderr)
    expect(snapshot(victim)).toEqual(before)
  })

  it('nothing is removed through it', async () => {
    const { sandbox, lake, victim } = clonedLake()
    putLink(lake, 'symbol=ETHUSDT', join(victim, 'symbol=ETHUSDT'))
    const before = snapshot(victim)
    const only = exportTo('lake').filter(name => name !== 'ETHUSDT')
    expect(await sandbox.call([...only, '--prune'])).toMatchObject({ code: 0 })
    expect(snapshot(victim)).toEqual(before)
  })
})

describe('F70 what is not linked by the lake', () => {
  it('a lake that is a link, or lies below one, is followed', async () => {
    for (const name of ['lake', 'disk/lake']) {
      const { sandbox, lake } = clonedLake()
      const real = join(tempFolder(), 'lake')
      renameSync(lake, real)
      symlinkSync(name === 'lake' ? real : dirname(real), sandbox.path(name.split('/')[0]))
      expect(await sandbox.call(exportTo(name))).toMatchObject({ code: 0 })
      expect(filesBelow(real)).toEqual(filesBelow(stock.path('lake')))
      expect(readFileSync(join(real, PART)).equals(readFileSync(join(stock.path('lake'), PART)))).toBe(false)
    }
  })

  it("somebody else's link in the root of a lake stays as it is", async () => {
    const { sandbox, lake, victim } = clonedLake()
    symlinkSync(victim, join(lake, 'notes'))
    const before = snapshot(victim)
    expect(await sandbox.call(exportTo('lake'))).toMatchObject({ code: 0 })
    expect(snapshot(victim)).toEqual(before)
  })
})

it('F70 leftovers of killed runs are removed one by one: no link, and nothing that one names', async () => {
  const { sandbox, lake, victim } = clonedLake()
  const maker = '4194305~0011223344556677.tmp'
  const before = snapshot(victim)
  symlinkSync(victim, join(lake, `._README.md.${maker}`))
  putFile(lake, `._views.sql.${maker}`, 'half')
  expect(await sandbox.call(exportTo('lake'))).toMatchObject({ code: 0 })
  const hidden = readdirSync(lake).filter(name => name.startsWith('.'))
  expect(hidden).toEqual(expect.not.arrayContaining([`._views.sql.${maker}`]))
  expect(hidden).toHaveLength(1)
  expect(snapshot(victim)).toEqual(before)
})

it('F70 a Parquet file that no run of klines names stays in a lake of plain files, and is named in a note', async () => {
  const foreign = `${SERIES}/part-1.parquet`
  const { sandbox, lake } = clonedLake()
  putFile(lake, foreign, 'PAR1')
  const note = `Note: lake/${foreign} is not of this lake, but a query over **/*.parquet reads it. Remove it, or put it elsewhere.`
  for (const more of [['--dry-run'], [], ['--prune']]) {
    const run = await sandbox.call([...exportTo('lake'), ...more])
    expect(run.code, run.stderr).toBe(0)
    expect(run.stderr.split(note)).toHaveLength(2)
  }
  expect(readFileSync(join(lake, foreign), 'utf8')).toBe('PAR1')
})
