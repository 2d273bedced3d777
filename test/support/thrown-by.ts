import { KlinesError } from '../../src/candles/errors.js'

/** The KlinesError that `run` throws; anything else fails the test. */
export function thrownBy(run: () => unknown): KlinesError {
  try {
    run()
  } catch (error) {
    if (error instanceof KlinesError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}
