import { isObject, parseObject } from '../candles/json.js'
import { intervalSegment } from '../candles/paths.js'
import type { Series } from '../candles/series.js'
import { isStartDate } from '../candles/windows.js'
import { type FileVersion, isSameVersion } from '../fs/files.js'
import type { WindowFacts } from './window-state.js'

/** What is known of the windows of a series, by startDate. */
export type IndexEntries = ReadonlyMap<string, WindowFacts>

/** The file of an index. It is replaced whole. */
export interface IndexFile {
  /** Undefined without a file. */
  version(): FileVersion | undefined
  read(): IndexEntries
  write(text: string): void
}

/** How often it is written while its windows come in, ms. */
const WRITE_EVERY_MS = 1_000

/**
 * What is known of the windows of a series: a memory that only grows. Any number of processes may write its file; entries
 * that this one did not make stay as found.
 */
export class SeriesIndex {
  private known: Map<string, WindowFacts> | undefined
  /** The least `since` of later windows, by startDate, once it is needed. */
  private sinces: ReadonlyMap<string, number> | undefined
  private version: FileVersion | undefined
  /** Entries that this process has made and not written yet. */
  private readonly made = new Map<string, WindowFacts>()
  private writtenMs = Date.now()

  constructor(private readonly file: IndexFile) {}

  /** All entries, also those that other processes have written since the last look. */
  get entries(): IndexEntries {
    const version = this.file.version()
    return this.known && isSameVersion(this.version, version) ? this.known : this.read(version)
  }

  /** The least `since` of later windows than a known one, ms UTC; Infinity when none was ever seen with candles. */
  laterSince(startDate: string): number {
    this.sinces ??= laterSinces(this.entries)
    return this.sinces.get(startDate) ?? Infinity
  }

  /** Keeps what is known of a window until `flush`. */
  note(startDate: string, facts: WindowFacts): void {
    const known = this.entries.get(startDate)
    const merged = mergeFacts(known, facts)
    this.known?.set(startDate, merged)
    this.made.set(startDate, merged)
    if (known === undefined || known.since !== merged.since) this.sinces = undefined
  }

  /** Whether it is time to write what was noted, though more is to come. */
  get isDue(): boolean {
    return this.made.size > 0 && Date.now() - this.writtenMs > WRITE_EVERY_MS
  }

  /** Writes what this process has learned. */
  flush(): void {
    if (this.made.size === 0) return
    this.writtenMs = Date.now()
    this.file.write(formatIndex(this.read(this.file.version())))
    this.made.clear()
    this.version = this.file.version()
  }

  private read(version: FileVersion | undefined): Map<string, WindowFacts> {
    const known = new Map(this.file.read())
    for (const [date, facts] of this.made) known.set(date, mergeFacts(known.get(date), facts))
    this.known = known
    this.sinces = undefined
    this.version = version
    return known
  }
}

/** New facts of a window beside the known ones: the least `since` ever noted stays, so that what is final stays final. */
function mergeFacts(known: WindowFacts | undefined, facts: WindowFacts): WindowFacts {
  const seen = facts.last === undefined ? undefined : facts.rendered
  const times = [known?.since, facts.since, seen].filter(time => time !== undefined)
  return { ...facts, since: times.length === 0 ? undefined : Math.min(...times) }
}

/** The least `since` of later windows of each window of a series, ms UTC; Infinity where none was ever seen with candles. */
export function laterSinces(entries: IndexEntries): Map<string, number> {
  const sinces = new Map<string, number>()
  let least = Infinity
  for (const date of [...entries.keys()].sort().reverse()) {
    sinces.set(date, least)
    least = Math.min(least, entries.get(date)?.since ?? Infinity)
  }
  return sinces
}

/** The file of the index of a series, relative to the root of a mirror: outside of `api`, so that no web host serves it. */
export function indexPath({ symbol, interval }: Series): string {
  return `.klines/${intervalSegment(interval)}/${symbol}.json`
}

/** The text of an index: a line for each window, in order of time. */
export function formatIndex(entries: IndexEntries): string {
  const lines = [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, facts]) => `"${date}":${JSON.stringify(facts)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

/** Parses an index. Entries of another form are left out; undefined for what is no index at all. */
export function parseIndex(text: string, { interval }: Series): Map<string, WindowFacts> | undefined {
  const value = parseObject(text)
  if (value === undefined) return undefined
  const entries = new Map<string, WindowFacts>()
  for (const [date, entry] of Object.entries(value)) {
    const facts = isStartDate(interval, date) ? parseFacts(entry) : undefined
    if (facts) entries.set(date, facts)
  }
  return entries
}

function parseFacts(entry: unknown): WindowFacts | undefined {
  if (!isObject(entry)) return undefined
  const { size, sha256, rendered, asked, since, first, last, candles, gaps, missing, ctime } = entry
  const optional = [rendered, since, first, last, candles, gaps, missing].filter(number => number !== undefined)
  const isValid = typeof sha256 === 'string' && [size, asked, ...optional].every(Number.isSafeInteger)
  if (!isValid) return undefined
  return { size, sha256, rendered, asked, since, first, last, candles, gaps, missing, ctime } as WindowFacts
}
