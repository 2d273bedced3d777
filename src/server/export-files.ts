import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { type Interval, noMinutes } from '../candles/intervals.js'
import { seriesPath, windowPath } from '../candles/paths.js'
import { exportIn, type FileRequest, planExport } from '../engine/export.js'
import { digest } from '../engine/output-file.js'
import { mirrorRun, type Plan } from '../engine/run.js'
import { ThreadPool } from '../engine/threads.js'
import { shortSentences } from '../rows/coverage.js'
import { limiter } from '../sources/limiter.js'
import { HttpError } from './errors.js'
import { ServedMirror } from './served-mirror.js'
import type { Tree } from './tree.js'

/** Each takes up to some 50 MB of memory. */
const AT_ONCE = 4
/** Readers of Parquet ask for one part of a file after the other. */
const KEPT = { max: 4, ttl: 60_000 }

export interface WantedExport {
  /** The target of the request: of the same windows it is the same file. */
  readonly address: string
  readonly interval: Interval
  readonly extension: string
  readonly request: Omit<FileRequest, 'signal' | 'onEvent'>
  /** Whether the service behind the server may be asked. */
  readonly mayAsk: boolean
}

export interface ExportFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
  /** Of its candles, which may be resampled. */
  readonly interval: string
  /** What the series lacks at an end of the range that was named: sentences. */
  readonly short: readonly string[]
}

/** `state`: that of its windows. */
interface KeptFile {
  readonly file: ExportFile
  readonly plan: Plan
  readonly state: string
}

/** Plain data. `now`: ms UTC. */
interface ExportTask {
  readonly request: FileRequest
  readonly plan: Plan
  readonly now: number
}

export function exportInWorker({ root, source }: { root: string; source: string | undefined }) {
  const mirror = new ServedMirror(root, source, () => {})
  return (task: ExportTask) => writeExport(mirror, task, new AbortController().signal)
}

async function writeExport(mirror: ServedMirror, task: ExportTask, signal: AbortSignal): Promise<ExportFile> {
  const { request, plan, now } = task
  const run = mirrorRun(mirror, { now: () => now, signal, warn: () => {} })
  const { series, range, files } = await exportIn(run, request, { plan: async () => plan })
  const path = request.output
  const { interval } = series[0].coverage
  return { path, size: files[0].bytes, sha256: await digest(path), interval, short: shortSentences(series, range) }
}

/** The exports of a server: files in a temp folder, which worker threads write, and of which the last ones are kept for a minute. */
export class ExportFiles {
  private readonly inTurn = limiter(AT_ONCE)
  /** With more threads than cores, other requests would wait. */
  private readonly onCore = limiter(Math.min(AT_ONCE, availableParallelism()))
  private readonly threads: ThreadPool<ExportTask, ExportFile>
  private readonly closing = new AbortController()
  /** Files that are being sent stay open: removing them only takes their names. */
  private readonly kept = new LRUCache<string, KeptFile>({
    ...KEPT,
    ttlAutopurge: true,
    dispose: ({ file: { path } }) => void rm(path, { force: true }).catch(() => {}),
  })
  private folder: string | undefined
  private count = 0

  /** `waitMs`: how long an export waits for its turn. */
  constructor(
    private readonly tree: Tree,
    private readonly waitMs: number,
    private readonly warn: (warning: string) => void,
  ) {
    const { root, baseUrl } = tree.mirror
    this.threads = new ThreadPool('export', { root, source: baseUrl })
  }

  /**
   * The file of an export, when every window is there. Throws `HttpError` (503 when it waited too long for its turn), `KlinesError`, and
   * the reason of the signal when the client leaves.
   */
  async get(wanted: WantedExport, signal: AbortSignal): Promise<ExportFile> {
    const { mirror, upstream, now } = this.tree
    const asked = wanted.mayAsk ? upstream : undefined
    const kept = asked ? undefined : this.find(wanted)
    if (kept) return kept
    if (!asked && !mirror.intervals.includes(wanted.interval))
      throw new HttpError(404, noMinutes(wanted.interval, 'This server').message)
    const client = { signal, warn: this.warn }
    return this.waitFor(signal, async () => {
      const plan = asked
        ? await asked.use(run => planExport(wanted.request, { ...run, ...client }))
        : await planExport(wanted.request, mirrorRun(mirror, { now, ...client }))
      // Another client may have asked for the same one meanwhile.
      return this.find(wanted, plan) ?? this.onCore(() => this.make(wanted, plan))
    })
  }

  /** Ends what is being written, and removes all files. */
  async close(): Promise<void> {
    this.closing.abort()
    await this.threads.close()
    this.kept.clear()
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }

  private async waitFor(signal: AbortSignal, task: () => Promise<ExportFile>): Promise<ExportFile> {
    const late = new AbortController()
    const message = `This server makes ${AT_ONCE} exports at once. Try again in a few seconds.`
    const error = new HttpError(503, message, { headers: { 'retry-after': '3' } })
    const timer = setTimeout(() => late.abort(error), this.waitMs)
    return this.inTurn(task, AbortSignal.any([signal, late.signal])).finally(() => clearTimeout(timer))
  }

  /** A kept file whose windows are still as they were, or are those of a new plan. */
  private find({ address }: WantedExport, plan?: Plan): ExportFile | undefined {
    const kept = this.kept.get(address)
    return kept && this.stateOf(plan ?? kept.plan) === kept.state ? kept.file : undefined
  }

  private async make(wanted: WantedExport, plan: Plan): Promise<ExportFile> {
    const { mirror, now } = this.tree
    // Before they are read: windows that are replaced meanwhile have other versions afterwards.
    const state = this.stateOf(plan)
    this.closing.signal.throwIfAborted()
    this.folder ??= mkdtempSync(join(tmpdir(), 'klines-export-'))
    const output = join(this.folder, `${++this.count}.${wanted.extension}`)
    const task = { request: { ...wanted.request, output }, plan, now: now() }
    // Other threads see only what the disk took.
    const file = mirror.isOnDisk ? await this.threads.run(task) : await writeExport(mirror, task, this.closing.signal)
    this.kept.set(wanted.address, { file, plan, state })
    return file
  }

  /** The versions of the windows of a plan, and of the folders, which tell of new ones. */
  private stateOf({ series }: Plan): string {
    const paths = series.flatMap(one => [seriesPath(one.series), ...one.windows.map(windowPath)])
    const versions = paths.map(path => {
      const { ino, size, mtimeMs, ctimeMs } = this.tree.mirror.version(path) ?? {}
      return `${path} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
    })
    return versions.join('\n')
  }
}
