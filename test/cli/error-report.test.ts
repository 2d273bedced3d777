import { Errors } from '@oclif/core'
import { describe, expect, it, vi } from 'vitest'
import { KlinesError } from '../../src/candles/errors.js'
import { reportError } from '../../src/cli/error-report.js'

describe('the report of an error', () => {
  it('of this project has its message, a line for each suggestion, and its code and exit code', () => {
    const error = new KlinesError('no_candles', 'None.', {
      suggestions: ['Do this.', 'Or that.'],
      data: { symbol: 'X' },
    })
    const rest = { code: 'no_candles', message: 'None.', exitCode: 4, suggestions: ['Do this.', 'Or that.'] }
    expect(reportError(error)).toEqual({
      exitCode: 4,
      text: 'klines: None.\n  Do this.\n  Or that.',
      json: { error: { ...rest, data: { symbol: 'X' } } },
    })
  })

  it('that is unexpected has exit code 1, its message, and a hint at KLINES_DEBUG', () => {
    const { exitCode, text, json } = reportError(new TypeError('x is undefined'))
    expect({ exitCode, code: json.error.code }).toEqual({ exitCode: 1, code: 'unexpected' })
    expect(text).toMatch(/^klines: x is undefined\n {2}.*KLINES_DEBUG=1.*$/)
  })

  it('of the parser has exit code 2 and no colours', () => {
    const { exitCode, text } = reportError(new Errors.CLIError('\u001B[31mMissing\u001B[39m flag'), { id: 'symbols' })
    expect({ exitCode, text }).toEqual({
      exitCode: 2,
      text: 'klines: Missing flag\n  Run klines symbols --help for more.',
    })
  })

  it('has the stacks of an error and of its causes with KLINES_DEBUG=1', () => {
    const cause = new Error('the disk', { cause: new Error('the cable') })
    const error = new KlinesError('mirror_unusable', 'No.', { cause })
    vi.stubEnv('KLINES_DEBUG', '1')
    const { text } = reportError(error)
    vi.unstubAllEnvs()
    expect(text).toMatch(
      /^klines: No\.\n[\s\S]*\n\s+at [\s\S]*\[cause\]: Error: the disk\n[\s\S]*\[cause\]: Error: the cable\n/,
    )
    expect(reportError(error).text).toBe('klines: No.')
  })
})
