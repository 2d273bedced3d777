import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JobFlags } from '../../src/cli/flags.js'
import { resolveFlags } from '../../src/cli/resolve-flags.js'
import { thrownBy } from '../support/thrown-by.js'

const flags = (given: Partial<JobFlags>): JobFlags => ({
  interval: ['1h'],
  force: false,
  'dry-run': false,
  json: false,
  quiet: false,
  verbose: false,
  ...given,
})

describe('the command line wins over the environment', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('--last over KLINES_FROM, and --from over KLINES_LAST', () => {
    vi.stubEnv('KLINES_FROM', '2024')
    expect(resolveFlags(flags({ from: '2024', last: '7d' }), false)).toMatchObject({ from: undefined, last: '7d' })
    vi.stubEnv('KLINES_FROM', undefined)
    vi.stubEnv('KLINES_LAST', '7d')
    expect(resolveFlags(flags({ from: '2024', last: '7d' }), false)).toMatchObject({ from: '2024', last: undefined })
  })

  it('both on the command line stay, and are rejected later', () => {
    expect(resolveFlags(flags({ from: '2024', last: '7d' }), false)).toMatchObject({ from: '2024', last: '7d' })
  })

  it('a default that does not apply to the format is ignored', () => {
    vi.stubEnv('KLINES_NUMBERS', 'decimal')
    vi.stubEnv('KLINES_TIME_FORMAT', 'iso')
    const given = { numbers: 'decimal', 'time-format': 'iso' } as const
    expect(resolveFlags(flags({ ...given, output: 'a.csv' }), false)).toMatchObject({
      numbers: undefined,
      'time-format': 'iso',
    })
    expect(resolveFlags(flags({ ...given, output: 'a.parquet' }), false)).toMatchObject({
      numbers: 'decimal',
      'time-format': undefined,
    })
  })

  it('KLINES_FORMAT is a default, -f also requests an export', () => {
    expect(resolveFlags(flags({ format: 'csv' }), false).output).toBe('-')
    vi.stubEnv('KLINES_FORMAT', 'csv')
    expect(resolveFlags(flags({ format: 'csv' }), false).output).toBeUndefined()
    expect(resolveFlags(flags({ format: 'csv' }), true).output).toBe('-')
  })
})

it.each([{ columns: ['close'] }, { numbers: 'text' }, { 'time-format': 's' }] as const)(
  'a flag that shapes an output is rejected without one: %j',
  given => {
    expect(thrownBy(() => resolveFlags(flags(given as Partial<JobFlags>), false)).code).toBe('bad_option')
  },
)
