import { describe, expect, it } from 'vitest'
import { type CommandTable, complete, type Parameter } from '../../../src/cli/completion/complete.js'

const flag = (name: string, rest: Partial<Parameter> = {}): Record<string, Parameter> => ({
  [name]: { name, type: 'option', ...rest },
})
const quiet = flag('quiet', { type: 'boolean', char: 'q', summary: 'Print data and errors only.' })
const interval = flag('interval', { char: 'i', multiple: true, summary: 'Candle lengths. Repeatable.' })
const symbol = { symbol: { name: 'symbol', multiple: true } }

const TABLE: CommandTable = {
  config: { summary: 'Show the configuration.', args: {}, flags: quiet },
  'config:set': { summary: 'Set a value.', args: { key: { name: 'key' } }, flags: quiet },
  download: {
    summary: 'Download candles.',
    args: symbol,
    flags: {
      ...quiet,
      ...interval,
      ...flag('format', { char: 'f', options: ['csv', 'json', 'jsonl', 'parquet'] }),
      ...flag('columns', { multiple: true }),
      ...flag('output', { char: 'o', helpValue: 'FILE' }),
      ...flag('mirror', { helpValue: 'DIR' }),
      ...flag('concurrency', { helpValue: 'N' }),
    },
  },
  help: { summary: 'Show help for a command.', args: { command: { name: 'command' } }, flags: {} },
  'mirror:status': { summary: 'Show the mirror.', args: {}, flags: quiet },
  'mirror:verify': { summary: 'Read every file.', args: {}, flags: quiet },
  openapi: {
    description: 'Print a document.',
    args: { api: { name: 'api', options: ['greeting', 'klines'] } },
    flags: {},
  },
  'start-dates': { summary: 'List windows.', args: { interval: { name: 'interval' } }, flags: quiet },
  'users:update': { summary: 'Update a user.', args: { id: { name: 'id' } }, flags: quiet },
  verify: {
    summary: 'Verify candles.',
    args: symbol,
    flags: { ...interval, ...flag('json', { type: 'boolean' }) },
  },
}

/** Splits a line at spaces, as a shell does; a space at its end starts a new word. */
const completeLine = (line: string) => complete(line.split(' ').slice(1), TABLE)
const valuesOf = (line: string) => completeLine(line).candidates.map(({ value }) => value)

describe('words', () => {
  it.each<[line: string, expected: string]>([
    // commands and topics
    ['klines ', 'config download help mirror openapi start-dates users verify'],
    ['klines mi', 'mirror'],
    ['klines mirror ', 'status verify'],
    ['klines mirror nothing ', ''],
    ['klines help ', 'config download help mirror openapi start-dates users verify'],
    ['klines config s', 'set'],
    ['klines config set conc', 'concurrency'],
    ['klines -', '--help --version'],
    ['klines __proto__ ', ''],
    // flags
    ['klines download --', '--quiet --interval --format --columns --output --mirror --concurrency --help'],
    ['klines download --format=csv -o x --c', '--columns --concurrency'],
    ['klines mirror status ', '--quiet --help'],
    ['klines download -- --f', ''],
    ['klines download -i -- --f', '--format'],
    // values of flags
    ['klines download --format=p', '--format=parquet'],
    ['klines download --format=', '--format=csv --format=json --format=jsonl --format=parquet'],
    ['klines download --unknown=', ''],
    ['klines download -i 1', '1m 15m 1h 12h 1d 1w 1M'],
    ['klines download -i ', '1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M all'],
    // lists
    ['klines download -i 1h,4', '1h,4h'],
    ['klines download --interval=1h,4', '--interval=1h,4h'],
    ['klines download -i 1h,a', '1h,all'],
    ['klines download --columns open_time,cl', 'open_time,close open_time,close_time'],
    ['klines download --format csv,p', ''],
    // arguments
    ['klines download btc', 'BTCUSDT'],
    ['klines download a', 'ADAUSDT AVAXUSDT all'],
    ['klines download btcusdt -i 1h a', 'ADAUSDT AVAXUSDT all'],
    ['klines download btcusdt,e', 'btcusdt,ETHUSDT'],
    ['klines download BTCUSDT,ETHUSDT s', 'SOLUSDT'],
    ['klines download -- eth', 'ETHUSDT'],
    ['klines start-dates 3', '3m 30m 3d'],
    ['klines start-dates 1h ', '--quiet --help'],
    ['klines openapi ', 'greeting klines'],
  ])('%s -> %s', (line, expected) => {
    const { kind } = completeLine(line)
    expect({ kind, values: valuesOf(line).join(' ') }).toEqual({ kind: 'words', values: expected })
  })
})

it.each([
  ['klines download -o ', 'files'],
  ['klines download --output=x', 'files'],
  ['klines download --mirror ', 'folders'],
])('%s -> %s', (line, kind) => {
  expect(completeLine(line)).toEqual({ kind, candidates: [] })
})

it('candidates have the first sentence of their description', () => {
  const described = (line: string) =>
    completeLine(line).candidates.map(({ value, description }) => `${value}: ${description}`)
  expect(described('klines users u')).toEqual(['update: Update a user'])
  expect(described('klines config ')).toEqual([
    'set: Set a value',
    '--quiet: Print data and errors only',
    '--help: undefined',
  ])
  expect(described('klines download -i 1h --i')).toEqual(['--interval: Candle lengths'])
  expect(described('klines ope')).toEqual(['openapi: Print a document'])
})
