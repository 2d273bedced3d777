import { describe, expect, it } from 'vitest'
import { WORDS } from '../src/cli/completion/complete.js'
import * as COMMANDS from '../src/commands/index.js'
import { parseRowFormat } from '../src/formats/row-format.js'
import { CANDLE_ENTRIES, FORMATS, OUTPUT_ENTRIES, unusableFlags } from '../src/options.js'
import { useTestServer } from './support/servers/test-server.js'
import { thrownBy } from './support/thrown-by.js'

/** What people write, by the name in the library: flag, variable, a value that is refused, and the formats that use the option. */
const EXPECTED: Record<string, [string, string, unknown, string]> = {
  columns: ['columns', 'KLINES_COLUMNS', ['price'], 'csv json jsonl parquet arrow'],
  timeFormat: ['time-format', 'KLINES_TIME_FORMAT', 'ns', 'csv json jsonl'],
  numbers: ['numbers', 'KLINES_NUMBERS', 'float', 'parquet arrow'],
  compression: ['compression', 'KLINES_COMPRESSION', 'lz4', 'parquet'],
}

/** The same for which candles a file has, in all formats. */
const CANDLES: Record<string, [string, string, string]> = {
  from: ['from', 'KLINES_FROM', 'wrong'],
  to: ['to', 'KLINES_TO', 'wrong'],
  last: ['last', 'KLINES_LAST', 'wrong'],
  resample: ['resample', 'KLINES_RESAMPLE', 'wrong'],
  partial: ['partial', 'KLINES_PARTIAL', 'wrong'],
  limit: ['limit', 'KLINES_LIMIT', '0'],
  tail: ['tail', 'KLINES_TAIL', 'wrong'],
}

const server = useTestServer()
/** The parameter of /export with a name, as its OpenAPI document describes it. */
async function findParameter(flag: string) {
  const { body } = await server.request('/export/openapi.json')
  const { parameters } = JSON.parse(String(body)).paths['/export/{interval}/{symbol}.{extension}'].get
  return parameters.find((parameter: { name: string }) => parameter.name === flag)
}

it('the tables have these options', () => {
  expect(OUTPUT_ENTRIES.map(({ name }) => name)).toEqual(Object.keys(EXPECTED))
  expect(CANDLE_ENTRIES.map(({ name }) => name)).toEqual(Object.keys(CANDLES))
})

describe.each(CANDLE_ENTRIES)('$name', ({ name, option }) => {
  const [flag, variable, wrong] = CANDLES[name]

  it('is a flag of export, with help and a variable, and completed with its values', () => {
    const { helpGroup = 'output', summary, values = [] } = option
    expect(COMMANDS.export.flags[flag as 'from']).toMatchObject({ summary, env: variable, helpGroup })
    expect(WORDS.get(flag)).toEqual(values)
  })

  it('is a parameter of /export, which refuses a wrong value', async () => {
    const found = await findParameter(flag)
    expect(found).toMatchObject({ in: 'query', required: false, description: option.summary })
    expect((await server.request(`/export/15m/BTCUSDT.csv?${flag}=${wrong}`)).status).toBe(400)
  })
})

describe.each(OUTPUT_ENTRIES)('$name', ({ name, option }) => {
  const [flag, variable, wrong, formats] = EXPECTED[name]

  it.each([
    ['export', COMMANDS.export],
    ['download', COMMANDS.download],
  ] as const)('is a flag of %s, with help and a variable', (_, command) => {
    const flags: Record<string, unknown> = command.flags
    const found = flags[flag]
    expect(found).toMatchObject({ summary: option.summary, env: variable, helpGroup: 'output' })
    if (option.takes === 'choice') expect(found).toMatchObject({ options: option.values })
  })

  it('is completed with its values', () => {
    expect(WORDS.get(flag)).toEqual(option.values ?? [])
  })

  it('is a parameter of /export, and its OpenAPI document says so', async () => {
    const found = await findParameter(flag)
    expect(found).toMatchObject({ in: 'query', required: false, description: option.summary })
    if (option.takes === 'choice') expect(found.schema.enum).toEqual(option.values)
    const format = formats.split(' ')[0]
    const { status } = await server.request(`/export/15m/BTCUSDT.${format}?${flag}=wrong`)
    expect(status).toBe(400)
  })

  it('is for some formats, and any other refuses it or does the same anyway', () => {
    expect(FORMATS.filter(format => !(unusableFlags(format) as string[]).includes(flag)).join(' ')).toBe(formats)
  })

  it('has values that the library refuses, and the message has the name of the flag', () => {
    const error = thrownBy(() => parseRowFormat({ [name]: wrong } as never, formats.split(' ')[0] as 'csv'))
    expect(error.code).toBe('bad_option')
    if (name === 'columns') return
    expect(error.message.startsWith(`--${flag} is `)).toBe(true)
  })
})
