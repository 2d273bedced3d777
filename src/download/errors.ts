import { KlinesError } from '../klines/errors.js'
import { seriesName, windowName } from '../klines/series.js'
import type { Plan } from './plan.js'
import type { WindowFailure } from './window-source.js'

/** Names an error lists before it only counts. */
const NAMED = 3
/** Causes an error shows; bodies that each say something else would fill the screen. */
const SHOWN_CAUSES = 5

/** The error for windows that could not be had: one line a distinct cause, with a count and the first names. */
export function incomplete(failures: readonly WindowFailure[], total: number, advice: string): KlinesError {
  const causes = new Map<string, WindowFailure[]>()
  for (const failure of failures) causes.set(failure.reason, [...(causes.get(failure.reason) ?? []), failure])
  const sorted = [...causes].sort(([, a], [, b]) => b.length - a.length)
  const lines = sorted.slice(0, SHOWN_CAUSES).map(([reason, of]) => {
    const names = of.slice(0, NAMED).map(({ window }) => windowName(window))
    const more = of.length > NAMED ? ` and ${of.length - NAMED} more` : ''
    return `${of.length} x ${reason} (${names.join(', ')}${more})`
  })
  if (sorted.length > SHOWN_CAUSES)
    lines.push(`and ${sorted.length - SHOWN_CAUSES} other causes; \`error.data\` names every window`)
  const head = `${failures.length} of ${total} windows could not be had, so nothing is exported:`
  return new KlinesError('incomplete', [head, ...lines].join('\n'), {
    data: { failures: failures.map(({ window, reason }) => ({ ...window, reason })) },
    suggestions: [advice],
  })
}

/** The error for a range without a candle. */
export function noCandles({ series, range }: Plan): KlinesError {
  const names = series.slice(0, NAMED).map(one => seriesName(one.series))
  const more = series.length > NAMED ? ` and ${series.length - NAMED} more` : ''
  const side = (time: number | undefined, open: string) => (time === undefined ? open : new Date(time).toISOString())
  const span = `from ${side(range.fromTime, 'the beginning')} to ${side(range.toTime, 'the present')}`
  return new KlinesError('no_candles', `No candle of ${names.join(', ')}${more} opens ${span}; nothing is written.`, {
    suggestions: ['klines start-dates INTERVAL shows which windows there are.'],
  })
}

/** A reason as part of a sentence: what the disk says ends with a full stop, what the codec says does not. */
export function withoutStop(reason: string): string {
  return reason.replace(/\.$/, '')
}
