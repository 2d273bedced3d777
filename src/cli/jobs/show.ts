import { incomplete } from '../../download/errors.js'
import { warningsTo } from '../../download/events.js'
import { parseSelectionText } from '../../download/selection.js'
import { openSource } from '../../download/sources/open-source.js'
import { withoutName } from '../../download/sources/service-source.js'
import { FetchError } from '../../http/fetch-error.js'
import { systemClock } from '../../http/system-clock.js'
import { diffBatches } from '../../klines/batch/diff.js'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import { type Interval, parseInterval } from '../../klines/intervals.js'
import { CandleGrid } from '../../klines/resample/candle-grid.js'
import { isMultiple, parseTargetInterval } from '../../klines/resample/target-interval.js'
import { seriesName, type WindowRef, windowName } from '../../klines/series.js'
import { parseSymbol, type SymbolName } from '../../klines/symbols.js'
import { trimPeriod } from '../../klines/text.js'
import { parseInstant } from '../../klines/time-range.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CachedWindow } from '../../mirror/mirror-windows.js'
import { type CandleFacts, findCandle, isReadable, type ReadableFacts } from '../../verify/candle-facts.js'
import type { RunContext } from '../base-command.js'
import { ExitCode } from '../error-report.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../flags/service.js'
import { describeLocation, downloadCommand, namedMirror, openNamedSource } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import type { ShowObject } from '../reports/schema.js'
import { showReport } from '../reports/show.js'
import { differs, type WindowCheck } from '../reports/show-object.js'
import { withAddress } from '../service-address.js'

type ShowFlags = LocationFlags & NetworkFlags & { readonly check: boolean }

/**
 * `show`: exit code 4 when there is no candle, 6 when one of its finer intervals or the service has another one. Throws `window_missing`
 * for a window that is not cached, `incomplete` for a corrupt one, and what `openSource` throws with `check`.
 */
export async function runShow(
  args: { readonly symbol: string; readonly interval: string; readonly time: string },
  flags: ShowFlags,
  context: RunContext,
): Promise<Report<ShowObject> & { exitCode: ExitCode }> {
  const now = systemClock.now()
  const symbol = parseSymbol(args.symbol)
  const time = parseInstant(args.time, now)
  const interval = parseShownInterval(args.interval, symbol, time)
  const source = openNamedSource(flags, context.warn)
  // Throws for names that the source does not have.
  await source.contents.series(parseSelectionText([symbol], [interval]))
  const mirror = namedMirror(flags)
  const facts = await findCandle(mirror, source.contents, { symbol, interval }, time)
  const location = describeLocation(mirror, flags)
  const cached = facts.window && mirror.windows.read(facts.window)
  if (!isReadable(facts)) throw notReadable(facts, mirror, location)
  const window = cached?.state === 'cached' ? cached : undefined
  // Windows of the future are never requested.
  const hasBegun = facts.window !== undefined && windowSpan(facts.window).startTime <= now
  const check =
    flags.check && facts.window && hasBegun
      ? await checkWindow(facts.window, window, mirror, flags, context)
      : undefined
  return { ...showReport(facts, { mirror, window, check, location }), exitCode: findExitCode(facts, check) }
}

/** Throws `unknown_interval`, for a length that can be made with the command that makes such candles. */
function parseShownInterval(text: string, symbol: SymbolName, time: number): Interval {
  try {
    return parseInterval(text)
  } catch (error) {
    if (!isKlinesError(error, 'unknown_interval') || !error.suggestions.some(text => text.startsWith('`resample')))
      throw error
    const target = parseTargetInterval(text)
    const source = (['1h', '1d', '15m', '1m', '1M'] as const).find(interval => isMultiple(target, interval)) ?? '1m'
    const grid = new CandleGrid({ anchor: 0, ...target }, symbol)
    const [from, to] = [grid.start(time), grid.end(grid.start(time))].map(at => new Date(at).toISOString().slice(0, 16))
    throw new KlinesError('unknown_interval', error.message, {
      cause: error,
      suggestions: [
        `Such candles are made of shorter ones: klines export ${symbol} -i ${source} --resample ${target.name} --from ${from} --to ${to}`,
      ],
      data: error.data,
    })
  }
}

/** The error for a window that is not cached or corrupt, with the command that downloads it. */
function notReadable(
  { series, state, window, reason = '' }: CandleFacts,
  { root }: Mirror,
  location: string,
): KlinesError {
  if (window === undefined) throw new Error(`No window of ${seriesName(series)}`)
  const suggestions = [`Download it: ${downloadCommand(window, location)}`]
  if (state === 'missing') {
    return new KlinesError('window_missing', `The window ${windowName(window)} is not in the mirror ${root}.`, {
      suggestions,
    })
  }
  const fault = trimPeriod(withoutName(reason, window))
  const message = `The window ${windowName(window)} is corrupt in the mirror ${root}: ${fault}.`
  return new KlinesError('incomplete', message, { suggestions, data: { failures: [{ ...window, reason: fault }] } })
}

/** Downloads a window and stores nothing. */
async function checkWindow(
  window: WindowRef,
  cached: CachedWindow | undefined,
  mirror: Mirror,
  flags: ShowFlags,
  { signal, warn }: RunContext,
): Promise<WindowCheck | undefined> {
  const named = flags['base-url'] ?? mirror.baseUrl
  if (named === undefined) {
    throw new KlinesError(
      'bad_option',
      `${mirror.root} does not say where its candles come from, so nothing can be checked.`,
      {
        suggestions: ['Name the service with --base-url URL.'],
      },
    )
  }
  const options = { mirror: mirror.root, ...toLimits(flags), signal, onEvent: warningsTo(warn) }
  return withAddress(named, async baseUrl => {
    const source = await openSource({ baseUrl, ...options }, { readOnly: true })
    try {
      const { batch } = await source.fetchWindow(window, undefined)
      const change = cached ? diffBatches(cached.batch, batch) : { lost: [], added: openTimes(batch), changed: [] }
      return { baseUrl: source.info.baseUrl ?? named, change }
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      throw incomplete([{ window, status: 'failed', reason: withoutName(error.message, window) }], 1, {
        advice: 'Nothing was stored; without --check, the mirror alone is shown.',
        offline: false,
      })
    } finally {
      await source.close()
    }
  })
}

function openTimes(batch: { readonly length: number; openTime(row: number): number }): number[] {
  return Array.from({ length: batch.length }, (_, row) => batch.openTime(row))
}

function findExitCode(facts: ReadableFacts, check: WindowCheck | undefined): ExitCode {
  if (differs(facts, check)) return ExitCode.VerificationFailed
  if (facts.state === 'unsettled') return ExitCode.Incomplete
  return facts.state === 'candle' ? ExitCode.Done : ExitCode.NoCandles
}
