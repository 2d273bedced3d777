import { describe, expect, it } from 'vitest'
import { type CandleFlags, resolveFlags } from '../../src/cli/resolve-flags.js'
import { thrownBy } from '../support/thrown-by.js'

const DEFAULTS = {
  interval: ['1h' as const],
  force: false,
  'dry-run': false,
  json: false,
  quiet: false,
  verbose: false,
}

/** Resolves the values of flags, of which `given` are on the command line and the others are defaults. */
function resolve(values: Partial<CandleFlags>, given: (keyof CandleFlags)[], offline = false): CandleFlags {
  return resolveFlags({ ...DEFAULTS, ...values }, offline, new Set(given))
}

describe('the command line wins over defaults of the environment and of the config file', () => {
  it('a default that does not apply to the format is ignored', () => {
    const values = { numbers: 'decimal', 'time-format': 'iso' } as const
    const csv = resolve({ ...values, output: 'a.csv' }, ['output'])
    expect(csv).toMatchObject({ numbers: undefined, 'time-format': 'iso' })
    const parquet = resolve({ ...values, output: 'a.parquet' }, ['output'])
    expect(parquet).toMatchObject({ numbers: 'decimal', 'time-format': undefined })
    expect(resolve({ ...values, output: 'a.csv' }, ['output', 'numbers'])).toMatchObject({ numbers: 'decimal' })
    for (const output of ['a.csv', 'a.arrow']) {
      expect(resolve({ compression: 'snappy', output }, ['output']).compression).toBeUndefined()
      expect(resolve({ compression: 'snappy', output }, ['output', 'compression']).compression).toBe('snappy')
    }
    expect(resolve({ compression: 'snappy', output: 'a.parquet' }, ['output']).compression).toBe('snappy')
    expect(
      resolve({ compression: 'snappy', layout: 'hive', output: 'a', tail: 3 }, ['output', 'layout']),
    ).toMatchObject({
      ...{ compression: 'snappy', tail: undefined },
    })
  })

  it('partial is a default, ignored without candles to make', () => {
    const values = { partial: true, output: 'a.csv' }
    expect(resolve(values, ['output']).partial).toBeUndefined()
    expect(resolve({ ...values, resample: '1w' }, ['output', 'resample']).partial).toBe(true)
    expect(resolve({ partial: true }, []).output).toBeUndefined()
    expect(resolve({ partial: false }, ['partial']).output).toBeUndefined()
    expect(() => resolve(values, ['output', 'partial'])).toThrow('keeps incomplete candles of another length')
  })

  it('a default of --layout does not turn the name of a file into a folder', () => {
    const values = { layout: 'hive', prune: true } as const
    for (const output of ['a.csv', '{symbol}.parquet', 'a.json.gz'])
      expect(resolve({ ...values, output }, ['output'])).toMatchObject({ layout: undefined, prune: undefined, output })
    expect(resolve({ ...values, output: 'lake/v1.2' }, ['output'])).toMatchObject(values)
    expect(resolve({ ...values, output: 'lake.parquet' }, ['output', 'layout'])).toMatchObject(values)
  })

  it('a format is a default, and -f also requests an export', () => {
    expect(resolve({ format: 'csv' }, ['format']).output).toBe('-')
    expect(resolve({ format: 'csv' }, []).output).toBeUndefined()
    expect(resolve({ format: 'csv' }, [], true).output).toBe('-')
  })
})

describe.each([
  { columns: ['close'] },
  { numbers: 'text' },
  { compression: 'none' },
  { 'time-format': 's' },
  { partial: true },
  { resample: '3h' },
  { limit: 3 },
  { tail: 3 },
  { threads: 2 },
])('without an output, %j', values => {
  const [name] = Object.keys(values) as (keyof CandleFlags)[]

  it('is rejected on the command line', () => {
    expect(thrownBy(() => resolve(values as Partial<CandleFlags>, [name])).code).toBe('bad_option')
  })

  it('is ignored as a default', () => {
    expect(resolve(values as Partial<CandleFlags>, []).output).toBeUndefined()
  })
})
