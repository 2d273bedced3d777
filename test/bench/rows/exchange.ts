import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contender, Row } from '../row.js'
import { startServed } from '../served-tree.js'
import { timeRun } from '../timed-run.js'
import { SYMBOLS, seriesFiles } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

const MAIN = fileURLToPath(new URL('../exchange-main.ts', import.meta.url))
const MONTH = /(\d{4})-(\d{2})-01\.json$/

/** A download of all 1h windows from an exchange on the loopback, 4 at once, beside a plain loop for the same windows. */
export async function exchangeRows(workspace: Workspace): Promise<Row[]> {
  const { slice } = workspace
  const args = ['--import', import.meta.resolve('tsx'), MAIN, slice]
  const { url, end } = await startServed({ program: process.execPath, args })
  workspace.defer(end)
  const windows = seriesFiles(slice, ['1h']).flatMap(({ symbol, files }) =>
    files.map(file => ({ path: file.slice(slice.length + 1), query: windowQuery(symbol, file) })),
  )
  const list = workspace.path('windows.json')
  writeFileSync(list, JSON.stringify(windows))
  const contender = (name: string, measure: (folder: string) => Contender['measure']): Contender => {
    let folder = ''
    return {
      name,
      measure: () => {
        folder = workspace.fresh(name.replaceAll(' ', '-'))
        return measure(folder)()
      },
      check: () => {
        const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8')
        const wrong = windows.filter(({ path }) => read(folder, path) !== read(slice, path))
        if (wrong.length > 0) throw new Error(`${name}: ${wrong.length} of ${windows.length} windows differ`)
      },
    }
  }
  // The slice of 1h begins in 2022: both download the same windows.
  const download = ['download', ...SYMBOLS, '-i', '1h', '--from', '2022', '--base-url', `binance:${url}`, '-q']
  return [
    {
      title: 'cold download of 1h from the exchange',
      unit: 'ms',
      contenders: [
        contender('klines', folder => () => timeRun(klines([...download, '--mirror', folder]))),
        contender('fetch and JSON', folder => () => timeRun(peer('fetch-windows.mjs', url, list, folder))),
      ],
      targets: [{ peer: 'fetch and JSON', most: 1 }],
    },
  ]
}

/** The call for a month of candles. */
function windowQuery(symbol: string, file: string): string {
  const [, year, month] = MONTH.exec(file) ?? []
  const startTime = Date.UTC(Number(year), Number(month) - 1)
  const endTime = Date.UTC(Number(year), Number(month)) - 1
  return `/api/v3/klines?symbol=${symbol}&interval=1h&startTime=${startTime}&endTime=${endTime}&limit=1000`
}
