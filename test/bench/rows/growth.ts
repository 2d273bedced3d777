import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startNginx } from '../nginx.js'
import { measureCost } from '../peak.js'
import type { Contender, Measured, Row } from '../row.js'
import { SYMBOLS } from '../window-lists.js'
import type { Workspace } from '../workspace.js'

const COPIES = 4
/** Synthetic symbols: each of the slice under four names. */
const NAMES = Array.from({ length: COPIES }, (_, copy) => SYMBOLS.map(symbol => `${symbol}${copy}`))
const [BTC, ADA, DOT] = NAMES[0]

/** What is selected: 2,438,648, 609,662, 209,031 and 59,391 candles. */
const SIZES: Record<string, readonly string[]> = {
  '4 times the slice': [...NAMES.flat(), '-i', 'all'],
  'the slice': [BTC, ADA, DOT, '-i', 'all'],
  'a third': [ADA, '-i', 'all'],
  'a tenth': [ADA, '-i', '15m,8h,1d,3d'],
}

/** Time and peak memory of four commands, of a tenth of the slice to four times as much. */
export async function growthRows(workspace: Workspace): Promise<Row[]> {
  const tree = makeCopies(workspace)
  const { url } = await startNginx(workspace, { root: tree, log: false })
  const output = (extension: string) => ['-o', join(workspace.fresh('out'), `{symbol}-{interval}.${extension}`)]
  const commands: Record<string, () => readonly string[]> = {
    download: () => ['download', '--base-url', url, '--mirror', workspace.fresh('mirror')],
    'export to CSV': () => ['export', '--mirror', tree, ...output('csv')],
    'export to Parquet': () => ['export', '--mirror', tree, ...output('parquet')],
    verify: () => ['verify', '--mirror', tree],
  }
  return Object.entries(commands).flatMap(([title, command]) => measureGrowth(workspace, title, command))
}

/** Two rows of the same runs: the second one returns the memory that the first one has measured. */
function measureGrowth(workspace: Workspace, title: string, command: () => readonly string[]): Row[] {
  const peaks = new Map<string, Measured[]>()
  const contenders = (measure: (size: string, selection: readonly string[]) => Promise<Measured>) =>
    Object.entries(SIZES).map(([name, selection]) => ({ name, measure: () => measure(name, selection) }))
  const times = contenders(async (size, selection) => {
    const [name, ...flags] = command()
    const { ms, peakMb } = await measureCost(workspace, [name, ...selection, ...flags, '-q'])
    peaks.set(size, [...(peaks.get(size) ?? []), { value: peakMb }])
    return { value: ms }
  })
  const memory = contenders(async size => peaks.get(size)?.shift() as Measured)
  return [
    row(`${title}: 4 times the slice`, 'ms', times, { peer: 'the slice', most: 1.1 * COPIES }),
    row('its memory', 'MB', memory, { peer: 'the slice', most: 1.15 }),
  ]
}

function row(title: string, unit: 'ms' | 'MB', contenders: readonly Contender[], target: Row['targets'][number]): Row {
  return { title, unit, contenders: contenders as [Contender, ...Contender[]], targets: [target] }
}

/** A tree of the slice's windows under the names of synthetic symbols, as links. */
function makeCopies(workspace: Workspace): string {
  const { slice } = workspace
  const tree = workspace.path('copies')
  const klinesFolder = join(slice, 'api/klines')
  for (const folder of readdirSync(klinesFolder)) {
    for (const [index, symbol] of SYMBOLS.entries()) {
      const from = join(klinesFolder, folder, symbol)
      if (!existsSync(from)) continue
      for (const names of NAMES) {
        const to = join(tree, 'api/klines', folder, names[index])
        mkdirSync(to, { recursive: true })
        for (const name of readdirSync(from)) linkOrCopy(join(from, name), join(to, name))
      }
    }
  }
  const lists = join('api/klines', 'start-dates')
  cpSync(join(slice, lists), join(tree, lists), { recursive: true })
  const listed = JSON.parse(readFileSync(join(klinesFolder, 'symbols.json'), 'utf8'))
  writeFileSync(join(tree, 'api/klines/symbols.json'), JSON.stringify([...listed, ...NAMES.flat()]))
  return tree
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // The slice may be on another disk.
    cpSync(from, to)
  }
}
