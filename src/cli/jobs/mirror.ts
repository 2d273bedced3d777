import { openMirror, openMirrorSource, sourceName } from '../../download/open-source.js'
import { type Repair, repairMirror } from '../../download/repair.js'
import { KlinesError } from '../../klines/errors.js'
import { checkMirror, type MirrorCheckReport } from '../../mirror/check.js'
import type { Mirror } from '../../mirror/mirror.js'
import { clearMirror, mirrorContents, pruneMirror, type Removal } from '../../mirror/prune.js'
import type { RunContext } from '../base-command.js'
import { offlineEndpoint, startEndpoint } from '../endpoint.js'
import { ExitCode } from '../exit-codes.js'
import type { ClearObject, PruneObject, VerifyObject } from '../reports/schema.js'
import { confirm, isInteractive } from '../terminal/confirm.js'
import { showCount } from '../terminal/progress.js'
import { formatBytes, formatCount, plural, printable } from '../terminal/text.js'

type Count = (done: number, total: number) => void

interface PlaceFlags {
  'base-url'?: string | undefined
  mirror?: string | undefined
}

/** What a job has to show. */
interface Report<Shown extends object> {
  readonly json: Shown
  readonly text: () => string
}

/** Paths that are listed one by one. */
const LISTED = 20

/** The mirror that flags mean, also one that holds nothing yet. Throws `window_missing` where there is none. */
function requireMirror(flags: PlaceFlags): Mirror {
  const options = { baseUrl: offlineEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror }
  const mirror = openMirror(options)
  if (mirror.readMeta() === undefined) openMirrorSource(options)
  if (options.baseUrl !== undefined) mirror.checkBase(sourceName(options))
  return mirror
}

/** `mirror verify`: reads every file, and with `repair` fetches corrupt ones again. */
export async function checkJob(
  flags: PlaceFlags & { repair: boolean },
  context: RunContext,
): Promise<Report<VerifyObject> & { exitCode: ExitCode }> {
  const mirror = requireMirror(flags)
  const verdict = await watched(context, count => checkMirror(mirror, { signal: context.signal, progress: count }))
  const { corrupt, strays, ...rest } = verdict
  const repair =
    flags.repair && corrupt.length > 0
      ? await watched(context, count => repairJob(mirror, verdict, flags, context, count))
      : undefined
  const { repaired = [], failed = [] } = repair ?? {}
  const files = corrupt.map(({ path, reason }) => ({ path, reason }))
  return {
    json: { ...rest, corrupt: files, strays: [...strays], repaired: [...repaired], failed: [...failed] },
    text: () => verdictText(verdict, repair),
    exitCode: checkExitCode(verdict, repair),
  }
}

/** Work on many files, shown as it goes on. */
async function watched<T>({ progressStyle }: RunContext, work: (count: Count) => Promise<T>): Promise<T> {
  const display = await showCount(progressStyle, 'files')
  try {
    return await work(display.count)
  } finally {
    display.done()
  }
}

/** From where the mirror itself says it comes, unless the flags say it. */
async function repairJob(
  mirror: Mirror,
  { corrupt }: MirrorCheckReport,
  flags: PlaceFlags,
  { signal, warn }: RunContext,
  count: Count,
): Promise<Repair> {
  const endpoint = await startEndpoint(flags['base-url'] ?? mirror.readMeta()?.baseUrl)
  try {
    return await repairMirror({ baseUrl: endpoint.baseUrl, mirror: mirror.root, signal, warn }, corrupt, count)
  } finally {
    await endpoint.close()
  }
}

function checkExitCode({ corrupt }: MirrorCheckReport, repair: Repair | undefined): ExitCode {
  if (corrupt.length === 0) return ExitCode.Done
  if (repair === undefined) return ExitCode.VerificationFailed
  return repair.failed.length > 0 ? ExitCode.Incomplete : ExitCode.Done
}

function verdictText(verdict: MirrorCheckReport, repair: Repair | undefined): string {
  const { mirror, files, windows, candles, bytes, corrupt, strays } = verdict
  const lines = corrupt.map(({ path, reason }) => `${printable(path)}: ${reason}`)
  if (lines.length > 0) lines.push('')
  const read = `${plural(files, 'file')} read: ${plural(windows, 'window')}, ${plural(candles, 'candle')}, ${formatBytes(bytes)}`
  lines.push(`${read}; ${corrupt.length === 0 ? 'all sound.' : `${formatCount(corrupt.length)} corrupt.`}`)
  if (repair) {
    lines.push(`${formatCount(repair.repaired.length)} of ${formatCount(corrupt.length)} repaired.`)
    lines.push(...repair.failed.map(({ path, reason }) => `${path} could not be had: ${reason}.`))
  } else if (corrupt.length > 0) lines.push('--repair mends what is corrupt; klines download does it as it comes by.')
  if (strays.length > 0) {
    const [have, them] = strays.length === 1 ? ['has', 'it'] : ['have', 'them']
    lines.push(`${plural(strays.length, 'file')} ${have} no place in the tree: klines mirror prune removes ${them}.`)
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
}

/** `mirror prune`. */
export function pruneJob(flags: PlaceFlags & { 'dry-run'?: boolean }): Report<PruneObject> {
  const { 'dry-run': dryRun = false } = flags
  const removal = pruneMirror(requireMirror(flags), { dryRun })
  return { json: { dryRun, ...removalObject(removal) }, text: () => removalText(removal, dryRun) }
}

/** `mirror clear`: asks first, unless forced. Throws `bad_option` when there is nobody to ask. */
export async function clearJob(
  flags: PlaceFlags & { force: boolean },
  { signal }: RunContext,
): Promise<Report<ClearObject>> {
  const mirror = requireMirror(flags)
  if (flags.force || (await isMeant(mirrorContents(mirror), signal))) {
    const removal = clearMirror(mirror)
    return { json: removalObject(removal), text: () => removalText(removal, false) }
  }
  return { json: { mirror: mirror.root, removed: [], bytes: 0, outside: [] }, text: () => 'Nothing removed.' }
}

async function isMeant({ mirror, paths, bytes }: Removal, signal: AbortSignal): Promise<boolean> {
  if (!isInteractive()) {
    const message = `mirror clear asks before it removes ${plural(paths.length, 'file')} of ${mirror}, and there is no terminal.`
    throw new KlinesError('bad_option', message, { suggestions: ['--force removes them without asking.'] })
  }
  return confirm(`Remove ${plural(paths.length, 'file')} (${formatBytes(bytes)}) of the mirror ${mirror}?`, signal)
}

function removalObject({ mirror, paths, bytes, outside }: Removal): ClearObject {
  return { mirror, removed: [...paths], bytes, outside: [...outside] }
}

function removalText({ mirror, paths, bytes, outside }: Removal, dryRun: boolean): string {
  const more = paths.length > LISTED ? [`and ${formatCount(paths.length - LISTED)} more`] : []
  const lines = [...paths.slice(0, LISTED).map(printable), ...more]
  if (lines.length > 0) lines.push('')
  lines.push(`${plural(paths.length, 'file')}, ${formatBytes(bytes)}, ${dryRun ? 'would be removed' : 'removed'}.`)
  if (outside.length > 0)
    lines.push(`${plural(outside.length, 'file')} reached through a link ${dryRun ? 'would stay' : 'left'}.`)
  return [...lines, `Mirror: ${mirror}`].join('\n')
}
