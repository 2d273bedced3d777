import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, MINUTE_MS } from '../../src/candles/intervals.js'
import { formatDate } from '../../src/candles/windows.js'
import { Random } from '../support/random.js'
import { type Command, klines, peer, run, THIS_BUILD, type Usage } from './programs.js'
import { medians } from './row.js'
import { fresh, path } from './slice.js'
import { table } from './table.js'

const SYMBOLS = ['BTCUSDT', 'ETHUSDT', 'BNBUSDT', 'ADAUSDT', 'XRPUSDT']
const FIRST = Date.UTC(2022, 0, 1)
/** Three years, one of them a leap year; every window is a day of 1m. */
const DAYS = 1096
const MINUTES = 1440
/** The most that twice as many candles may take. */
const MOST = 2.2

/** Work on all candles of a mirror; `out`: where it may write. */
const TASKS: Readonly<Record<string, (mirror: string, out: string, candles: number) => Command>> = {
  CSV: (mirror, out) => exported(mirror, `${out}.csv`),
  Parquet: (mirror, out) => exported(mirror, `${out}.parquet`),
  'CSV of 1h': (mirror, out) => exported(mirror, `${out}.csv`, '--resample', '1h'),
  'a lake': (mirror, out) => exported(mirror, out, '--layout', 'hive'),
  verify: mirror => klines(THIS_BUILD, 'verify', 'all', '-i', '1m', '--mirror', mirror, '-q'),
  'DuckDB, count and sum': (mirror, _, candles) => {
    return peer('duckdb-sum.mjs', `${mirror}/api/klines/1min/*/*.json`, String(candles))
  },
}

function exported(mirror: string, out: string, ...flags: string[]): Command {
  return klines(THIS_BUILD, 'export', 'all', '-i', '1m', '--mirror', mirror, '-q', ...flags, '-o', out)
}

/** Makes three years of 1m candles of five symbols, and measures work on all of them and on the first half. Returns a table. */
export async function measureScale(rounds: number): Promise<string> {
  const [whole, half] = [path('whole'), path('half')]
  const bytes = makeMirrors(whole, half)
  const windows = DAYS * SYMBOLS.length
  const candles = windows * MINUTES
  console.error(`${candles.toLocaleString('en')} candles in ${windows} windows, ${(bytes / 1e6).toFixed(0)} MB`)
  const lines: string[][] = []
  for (const [title, task] of Object.entries(TASKS)) {
    console.error(title)
    const runs: Usage[] = []
    const runsOfHalf: Usage[] = []
    for (let round = 0; round < rounds; round++) {
      runs.push(await run(task(whole, join(makeFolder('out'), 'whole'), candles)))
      runsOfHalf.push(await run(task(half, join(makeFolder('out'), 'half'), candles / 2)))
    }
    const all = medians(runs)
    const some = medians(runsOfHalf)
    const ratio = all.ms / some.ms
    lines.push([
      title,
      ...[all, some].flatMap(({ ms, mb }) => [`${(ms / 1000).toFixed(1)} s`, `${mb.toFixed(0)} MB`]),
      ratio.toFixed(2),
      title.startsWith('DuckDB') ? '' : ratio <= MOST ? `≤ ${MOST} met` : `≤ ${MOST} not met`,
      Math.round((candles / all.ms) * 1000).toLocaleString('en'),
      `${Math.round((all.ms * 1000) / windows).toLocaleString('en')} µs`,
    ])
  }
  const head = ['', 'all', 'memory', 'half', 'memory', 'ratio', 'goal', 'candles/s', 'a window']
  return table(head, lines, [0, 6])
}

/** An empty folder. */
function makeFolder(name: string): string {
  mkdirSync(fresh(name))
  return path(name)
}

/**
 * Writes window files in the form of the service, and links the first half of them. Every symbol gets the same candles, to save time: no
 * program sees that. Returns their size, bytes.
 */
function makeMirrors(whole: string, half: string): number {
  for (const symbol of SYMBOLS) {
    mkdirSync(seriesFolder(whole, symbol), { recursive: true })
    mkdirSync(seriesFolder(half, symbol), { recursive: true })
  }
  const random = new Random(1)
  let price = 3_000_000
  let bytes = 0
  for (let day = 0; day < DAYS; day++) {
    const start = FIRST + day * DAY_MS
    const rows: string[] = []
    for (let minute = 0; minute < MINUTES; minute++) {
      const close = Math.max(1_000, price + random.below(2_001) - 1_000)
      rows.push(makeRow(start + minute * MINUTE_MS, price, close, random))
      price = close
    }
    const text = `[${rows}]`
    for (const symbol of SYMBOLS) {
      const name = `${formatDate(start)}.json`
      const file = join(seriesFolder(whole, symbol), name)
      writeFileSync(file, text)
      if (day < DAYS / 2) linkSync(file, join(seriesFolder(half, symbol), name))
      bytes += text.length
    }
  }
  return bytes
}

function seriesFolder(root: string, symbol: string): string {
  return join(root, 'api/klines/1min', symbol)
}

/** A candle from one price to another, in units of 0.01, at about their middle. */
function makeRow(openTime: number, open: number, close: number, random: Random): string {
  const high = Math.max(open, close) + 1 + random.below(200)
  const low = Math.min(open, close) - 1 - random.below(200)
  // Units of 0.00001, of which takers buy a share.
  const volume = 1 + random.below(5_000_000)
  const taken = random.below(volume + 1)
  const middle = (high + low) / 2
  const price = (units: number) => `"${decimal(units, 100)}"`
  const amount = (units: number) => `"${decimal(units, 100_000)}"`
  const quote = (units: number) => `"${decimal(Math.round(units * middle * 10), 100_000_000)}"`
  const prices = `${price(open)},${price(high)},${price(low)},${price(close)}`
  const end = openTime + MINUTE_MS - 1
  return `[${openTime},${prices},${amount(volume)},${end},${quote(volume)},${1 + (volume % 977)},${amount(taken)},${quote(taken)},"0"]`
}

/** So many units of `1 / scale`, with eight digits after the point. */
function decimal(units: number, scale: number): string {
  const whole = Math.floor(units / scale)
  const fraction = String(scale + units - whole * scale).slice(1)
  return `${whole}.${fraction.padEnd(8, '0')}`
}
