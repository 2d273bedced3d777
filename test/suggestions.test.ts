import fc from 'fast-check'
import { distance } from 'fastest-levenshtein'
import { afterAll, expect, it } from 'vitest'
import { parseBaseUrl, toSourceName } from '../src/candles/base-url.js'
import { EXCHANGE_INTERVALS, parseInterval } from '../src/candles/intervals.js'
import { parseSelection } from '../src/candles/selection.js'
import { isSymbol, parseSymbol, SYMBOLS, toSymbolName, unknownSymbols } from '../src/candles/symbols.js'
import { parseInstant, timeBefore } from '../src/candles/time-range.js'
import { parseSetting } from '../src/cli/config.js'
import { unknownCommand } from '../src/cli/error-report.js'
import { hintFlag, spellOut } from '../src/cli/habits.js'
import { COMMANDS } from '../src/commands.js'
import { parseColumns } from '../src/formats/row-format.js'
import { OUTPUT_COLUMNS, resolveFormat } from '../src/options.js'

// What is suggested would be accepted by what refused the text, is another text, and is near. Each kind has its own reader: the
// function that the command line, the config file or a request gives the text to.

const NOW = Date.UTC(2025, 1, 20, 12)
const commands = Object.entries(COMMANDS).map(([id, command]) => ({ ...command, id, load: async () => command }))
const config = { commands } as never
const ids = commands.map(({ id }) => id.replaceAll(':', ' '))

const setting = (key: string) => (text: string) => parseSetting(config, key, text)
const addresses = ['binance', 'sample', 'https://example.com/klines', 'http://localhost:8787', 'binance:https://h']
const sites = ['binance.com', 'https://api.binance.com', 'data.binance.vision', 'binanceus', 'fapi.binance.com']
const times = ['2024', '2024-01', '2024-12-31', '2024-01-31T12:00', '2024-01-31 12:00:30Z', '-7d', '1738368000']
const otherTimes = ['31.12.2024', '2024/12/31', '20250131', '20250131T1200', '7 days ago', '7d', '2024-13']
const outputs = ['x.csv', 'data/', 'a/x.parquet', '{symbol}.jsonl.gz', 'x.arrow', '.', '{base}/{quote}-{interval}.csv']

/** Values that a reader takes, or that people type from habit; and the reader, which throws an error with suggestions. */
const READERS: Record<string, [values: readonly string[], read: (text: string) => unknown]> = {
  'a symbol': [['BTCUSDT', 'eth/usdt', 'BNB-USDT', 'SOL/USDT:USDT', 'BINANCE:ADAUSDT'], parseSymbol],
  'a symbol of a source': [SYMBOLS, readKnownSymbol],
  'an interval': [[...EXCHANGE_INTERVALS, '60m', '60', 'hourly', '1month', '24h', '0h'], parseInterval],
  'a time': [[...times, ...otherTimes], text => parseInstant(text, NOW)],
  'a length': [['7d', '30m', '36h', '2w', '6M', '1y', '0d', '3mo', '30days'], text => timeBefore(NOW, text)],
  'a base address': [[...addresses, ...sites, 'example.com'], toSourceName],
  'a greeting address': [[...addresses.slice(2, 4), 'example.com'], text => parseBaseUrl(text)],
  'a column': [OUTPUT_COLUMNS, text => parseColumns([text])],
  'an output': [outputs, text => resolveFormat(text, undefined)],
  'an interval in the config file': [['1h', '1h,1d', '1H', '1D,1w'], setting('interval')],
  'a time in the config file': [[...times, ...otherTimes], setting('from')],
  'an address in the config file': [[...addresses, ...sites], setting('base-url')],
  'a command': [[...ids, 'get', 'download-data', 'list-pairs'], readCommand],
}

function readKnownSymbol(text: string): void {
  const name = toSymbolName(text)
  if (isSymbol(name) && !(SYMBOLS as readonly string[]).includes(name)) throw unknownSymbols([name], SYMBOLS, 'it')
}

function readCommand(text: string): void {
  if (!ids.includes(text) && !/^klines download /.test(text)) throw unknownCommand(config, text.split(' '))
}

const at = fc.nat(40)
const FAULTS: ((text: string, at: number) => string)[] = [
  text => text,
  text => text.toUpperCase(),
  text => text.toLowerCase(),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2),
  (text, at) => text.slice(0, at) + (text[at] ?? '') + text.slice(at),
  (text, at) => `${text.slice(0, at)}${'xz0-_/. :,'[at % 10]}${text.slice(at)}`,
  text => `${text}s`,
  (text, at) => `${text}${['min', ' days', 'hr', ' months', ' ago', '/api', '/', '.com'][at % 8]}`,
  (text, at) => text.replaceAll(/[-/_.:]/g, ['', '-', '/', '_', '.', ' '][at % 6]),
]

/** A text with a fault of typing or two, or a free one. */
function mistyped(values: readonly string[]): fc.Arbitrary<string> {
  const typed = fc
    .tuple(fc.constantFrom(...values), fc.constantFrom(...FAULTS), fc.constantFrom(...FAULTS), at, at)
    .map(([value, one, other, here, there]) => {
      const once = one(value, here % (value.length + 1))
      return other(once, there % (once.length + 1))
    })
  return fc.oneof({ weight: 8, arbitrary: typed }, { weight: 1, arbitrary: fc.string({ maxLength: 14 }) })
}

/** A few edits, or a habit: the same numbers in another order or with units spelled out, a site of the exchange, an alias. */
function isNear(typed: string, guess: string): boolean {
  const [one, other] = [typed, guess].map(text => text.toLowerCase().replaceAll(/\W|_/g, ''))
  const digits = (text: string) => [...text.replaceAll(/\D|(?<!\d)0+/g, '')].sort().join('')
  if (Math.min(distance(one, other), distance(one.slice(0, other.length), other)) <= 1 + Math.ceil(other.length / 3))
    return true
  if (other.startsWith(one) || one.includes(other) || /binance|{|klines download/.test(guess)) return true
  if (/^(get|download-?data|list)/i.test(typed) || /^1\w$/.test(guess)) return true
  return digits(guess) !== '' && digits(typed) === digits(guess)
}

/** What an error asks for: `Did you mean 1M (a month)?`, `... a file in it: -o 'x/{symbol}.csv'`. */
function guessesOf(error: unknown): string[] {
  const { message = '', suggestions = [] } = (error ?? {}) as Partial<Error> & { suggestions?: string[] }
  return [message, ...suggestions].flatMap(line => {
    const [, asked] = /Did you mean ([\s\S]*?)(?: \(a \w+\))?\?$/.exec(line) ?? []
    const [, file] = /^Name a file in it: -o '?([\s\S]*?)'?$/.exec(line) ?? []
    return asked ?? file ?? []
  })
}

let suggested = 0
afterAll(() => expect(suggested).toBeGreaterThan(1_000))

it.each(Object.entries(READERS))('%s that is suggested is accepted, another, and near', async (_, [values, read]) => {
  const refusal = async (text: string) => {
    try {
      return void (await read(text))
    } catch (error) {
      return error
    }
  }
  const check = async (typed: string) => {
    for (const guess of guessesOf(await refusal(typed))) {
      suggested++
      expect(guess).not.toBe(typed)
      expect([typed, guess, isNear(typed, guess)]).toEqual([typed, guess, true])
      expect([typed, guess, await refusal(guess)]).toEqual([typed, guess, undefined])
    }
  }
  await fc.assert(fc.asyncProperty(mistyped(values), check), { numRuns: 1_000 })
})

it('a command line that is suggested has symbols and intervals that are accepted', () => {
  const word = fc.constantFrom(...'BTCUSDT eth/usdt sol-usdt,BNBUSDT 1h 1D 60min 7h -i --last x'.split(' '))
  const check = (words: readonly string[]) => {
    for (const line of spellOut('download', words, '1h')) {
      const [, names, intervals] = /^Did you mean klines download (.*) -i (\S+)\?$/.exec(line) ?? []
      parseSelection({ symbols: names.split(' '), intervals: [intervals] })
    }
  }
  fc.assert(fc.property(fc.array(word, { maxLength: 6 }), check), { numRuns: 1_000 })
})

it('a flag that is suggested is one of the command', () => {
  const typed = mistyped(['--formt', '--pairs', '--begin', '-t', '--intervals', '--exchange'])
  const check = ({ flags = {} }: (typeof commands)[number], word: string) => {
    for (const [, name] of hintFlag(word, flags).flatMap(hint => [...hint.matchAll(/mean --?(\S+)\?/g)]))
      expect(Object.entries(flags).flatMap(([name, { char }]) => [name, char])).toContain(name)
  }
  fc.assert(fc.property(fc.constantFrom(...commands), typed, check), { numRuns: 1_000 })
})
