import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seededRandom } from '../faults/support/fault-proxy.js'
import { CliSandbox } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { onlyPart } from '../support/lake.js'
import { letAnHourPass } from '../support/let-an-hour-pass.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { killLoop } from './support/kill-loop.js'
import { SOAK_SYMBOLS, soakTree } from './support/soak-tree.js'

/** Kills between two runs that may finish. */
const KILLS_PER_REPAIR = 5
const KILLS = Math.max(15, times(200))
const LAKE_FILES = ['_README.md', '_klines.json', '_views.sql', ...SOAK_SYMBOLS.map(symbol => onlyPart(symbol)).sort()]

it('kill -9 during a refresh leaves every part of a lake as it was or new, and the next run completes it', async () => {
  const tree = tempFolder()
  const windows = [...soakTree(tree)].map(([path, bytes]) => ({ path, rows: JSON.parse(bytes.toString()) }))
  const sandbox = new CliSandbox(tempFolder())
  const lake = sandbox.path('lake')
  const refresh = () => {
    letAnHourPass(lake)
    return sandbox.start(['export', 'all', '-i', 'all', '--mirror', tree, '--layout', 'hive', '-o', 'lake', '-q'])
  }
  const random = seededRandom(30)

  /** The trades of each symbol: every change of a window gives them another sum. */
  const expected = () =>
    new Map(
      SOAK_SYMBOLS.map(symbol => {
        const rows = windows.filter(({ path }) => path.includes(`/${symbol}/`)).flatMap(window => window.rows)
        return [symbol as string, rows.reduce((sum, row) => sum + row[8], 0) as number]
      }),
    )
  const present = async () => {
    const { rows } = await duckdb(`
      select symbol, sum(count)::double as trades
      from read_parquet('${join(lake, '*/*/*.parquet')}', hive_partitioning = true) group by symbol`)
    return new Map(rows.map(({ symbol, trades }) => [symbol as string, trades as number]))
  }
  const change = (value: number) => {
    for (let count = 0; count < 3; count++) {
      const window = windows[Math.floor(random() * windows.length)]
      for (const row of window.rows) row[8] = 1000 + value
      putFile(tree, window.path, window.rows)
    }
  }
  const expectComplete = async () => {
    expect(await present()).toEqual(expected())
    expect(filesBelow(lake)).toEqual(LAKE_FILES)
  }

  expect(await refresh().ended).toMatchObject({ code: 0, stderr: '' })
  await expectComplete()
  let before = await present()
  const figures = { kills: 0, runs: 0, temps: 0, locks: 0, oldParts: 0, newParts: 0, repairs: 0 }
  figures.runs = await killLoop({
    kills: KILLS,
    random,
    start: round => {
      change(round)
      return refresh()
    },
    hasBegun: () => filesBelow(lake).some(name => name.endsWith('.tmp')),
    inspect: async (killed, run) => {
      const files = filesBelow(lake)
      if (killed) {
        figures.kills++
        if (files.some(name => name.endsWith('.tmp'))) figures.temps++
        if (existsSync(join(lake, '_klines.lock'))) figures.locks++
      } else expect(run).toMatchObject({ code: 0, stderr: '' })
      const [after, complete] = [await present(), expected()]
      for (const symbol of SOAK_SYMBOLS) {
        const trades = after.get(symbol)
        expect([before.get(symbol), complete.get(symbol)], symbol).toContain(trades)
        if (before.get(symbol) !== complete.get(symbol))
          figures[trades === complete.get(symbol) ? 'newParts' : 'oldParts']++
      }
      if (!killed) await expectComplete()
      else if (figures.kills % KILLS_PER_REPAIR === 0) {
        figures.repairs++
        expect(await refresh().ended).toMatchObject({ code: 0, stderr: '' })
        await expectComplete()
      }
      before = await present()
    },
  })
  expect(await refresh().ended).toMatchObject({ code: 0, stderr: '' })
  await expectComplete()
  printFigures('kill -9 in refreshes', { lake: figures })
  // The kills hit while parts were written.
  expect(Math.min(figures.temps, figures.locks, figures.oldParts, figures.newParts)).toBeGreaterThan(0)
})
