import { isKlinesError, KlinesError } from '../../klines/errors.js'
import type { Report } from '../reports/report.js'
import { confirm, isInteractive } from '../terminal/confirm.js'

/**
 * Runs a job that may be refused because of very many requests, before any candle is downloaded: asks at a terminal, and runs
 * it again `withYes`. Throws the refusal without a terminal to ask at, and `bad_option` when the answer is no: what was requested
 * is not there, and a command after `&&` must not run.
 */
export async function confirmRequests(
  run: () => Promise<Report | undefined>,
  withYes: () => Promise<Report | undefined>,
  signal: AbortSignal,
): Promise<Report | undefined> {
  try {
    return await run()
  } catch (error) {
    const isAskable = isKlinesError(error, 'bad_option') && error.data.requests !== undefined
    if (!isAskable || !isInteractive()) throw error
    const reason = error.message.replace(/ Expected at most [^.]*\.$/, '')
    if (await confirm(`${reason} Download them?`, signal)) return await withYes()
    const { suggestions, data } = error
    throw new KlinesError('bad_option', 'Nothing was downloaded, because the answer was no.', { suggestions, data })
  }
}
