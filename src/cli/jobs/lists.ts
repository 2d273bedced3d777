import { type Catalogue, readCatalogue } from '../../download/catalogue.js'
import { openMirror } from '../../download/sources/open-source.js'
import { systemClock } from '../../http/system-clock.js'
import { type Interval, parseInterval } from '../../klines/intervals.js'
import { formatDate } from '../../klines/windows.js'
import type { RunContext } from '../base-command.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../flags/service.js'
import { intervalsReport, startDatesReport, symbolsReport } from '../reports/catalogue.js'
import type { Report } from '../reports/report.js'
import type { IntervalsObject, StartDatesObject, SymbolsObject } from '../reports/schema.js'
import { NO_PROGRESS, ProgressDisplay } from '../terminal/progress.js'

const FETCHING = { start: 'Fetching lists', verb: '', noun: 'list' }

type ListFlags = LocationFlags & NetworkFlags

/** `symbols`. */
export async function runSymbols(flags: ListFlags, context: RunContext): Promise<Report<SymbolsObject>> {
  return symbolsReport(await readLists(flags, context, []))
}

/** `intervals`. */
export async function runIntervals(flags: ListFlags, context: RunContext): Promise<Report<IntervalsObject>> {
  return intervalsReport(upToToday(await readLists(flags, context)))
}

/** `start-dates`. Throws `unknown_interval`. */
export async function runStartDates(
  text: string,
  flags: ListFlags,
  context: RunContext,
): Promise<Report<StartDatesObject>> {
  const interval = parseInterval(text)
  return startDatesReport(upToToday(await readLists(flags, context, [interval])), interval)
}

/** Lists without what has not begun. */
function upToToday(catalogue: Catalogue): Catalogue {
  const today = formatDate(systemClock.now())
  const begun = ([interval, dates]: [Interval, readonly string[]]) =>
    [interval, dates.filter(date => date <= today)] as const
  return { ...catalogue, startDates: new Map([...catalogue.startDates].map(begun)) }
}

/** Lists of the service that the flags name; with `--mirror` alone, of the service that the mirror was made from. */
async function readLists(
  flags: ListFlags,
  { signal, warn, progressStyle }: RunContext,
  intervals?: readonly Interval[],
): Promise<Catalogue> {
  const { mirror } = flags
  const findBaseUrl = () => (mirror === undefined ? undefined : openMirror({ mirror }).upkeep.readMeta()?.baseUrl)
  // Lists take a moment, so only a person who waits sees something.
  const style = progressStyle.kind === 'bar' ? progressStyle : NO_PROGRESS
  const options = { baseUrl: flags['base-url'] ?? findBaseUrl(), mirror, ...toLimits(flags), signal }
  return ProgressDisplay.during(style, FETCHING, ({ events }) =>
    readCatalogue({ ...options, onEvent: events(warn) }, intervals),
  )
}
