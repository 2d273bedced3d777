import { baseNameOf, openMirror, openMirrorSource } from '../download/open-source.js'
import { type Repair, repairMirror } from '../download/repair-mirror.js'
import { KlinesError } from '../klines/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { clearMirror, mirrorContents, pruneMirror, type Removal } from '../mirror/prune-mirror.js'
import { type MirrorVerdict, verifyMirror } from '../mirror/verify-mirror.js'
import { confirm, isAnybodyThere } from './confirm.js'
import { ExitCode } from './exit-codes.js'
import type { RunContext } from './klines-command.js'
import { showCount } from './progress.js'
import type { ClearObject, PruneObject, VerifyObject } from './report-schema.js'
import { namedEndpoint, startEndpoint } from './sample.js'
import { formatBytes, formatCount, plural, printable } from './text.js'

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
function heldMirror(flags: PlaceFlags): Mirror {
  const options = { baseUrl: namedEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror }
  const mirror = openMirror(options)
  if (mirror.readMeta() === undefined) openMirrorSource(options)
  if (options.baseUrl !== undefined) mirror.checkBase(baseNameOf(options))
  return mirror
}

/** `mirror verify`: reads every file, and with `repair` fetches unsound ones again. */
export async function verifyJob(
  flags: PlaceFlags & { repair: boolean },
  context: RunContext,
): Promise<Report<VerifyObject> & { exitCode: ExitCode }> {
  const mirror = heldMirror(flags)
  const verdict = await watched(context, count => verifyMirror(mirror, { signal: context.signal, progress: count }))
  const { unsound, strays, ...rest } = verdict
  const repair =
    flags.repair && unsound.length > 0
      ? await watched(context, count => repairJob(mirror, verdict, flags, context, count))
      : undefined
  const { repaired = [], failed = [] } = repair ?? {}
  const files = unsound.map(({ path, why }) => ({ path, why }))
  return {
    json: { ...rest, unsound: files, strays: [...strays], repaired: [...repaired], failed: [...failed] },
    text: () => verdictText(verdict, repair),
    exitCode: exitCodeOf(verdict, repair),
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
  { unsound }: MirrorVerdict,
  flags: PlaceFlags,
  { signal, warn }: RunContext,
  count: Count,
): Promise<Repair> {
  const endpoint = await startEndpoint(flags['base-url'] ?? mirror.readMeta()?.baseUrl)
  try {
    return await repairMirror({ baseUrl: endpoint.baseUrl, mirror: mirror.root, signal, warn }, unsound, count)
  } finally {
    await endpoint.close()
  }
}

function exitCodeOf({ unsound }: MirrorVerdict, repair: Repair | undefined): ExitCode {
  if (unsound.length === 0) return ExitCode.Done
  if (repair === undefined) return ExitCode.VerificationFailed
  return repair.failed.length > 0 ? ExitCode.Incomplete : ExitCode.Done
}

function verdictText(verdict: MirrorVerdict, repair: Repair | undefined): string {
  const { mirror, files, windows, candles, bytes, unsound, strays } = verdict
  const lines = unsound.map(({ path, why }) => `${printable(path)}: ${why}`)
  if (lines.length > 0) lines.push('')
  const read = `${plural(files, 'file')} read: ${plural(windows, 'window')}, ${plural(candles, 'candle')}, ${formatBytes(bytes)}`
  lines.push(`${read}; ${unsound.length === 0 ? 'all sound.' : `${formatCount(unsound.length)} unsound.`}`)
  if (repair) {
    lines.push(`${formatCount(repair.repaired.length)} of ${formatCount(unsound.length)} repaired.`)
    lines.push(...repair.failed.map(({ path, reason }) => `${path} could not be had: ${reason}.`))
  } else if (unsound.length > 0) lines.push('--repair mends what is unsound; klines download does it as it comes by.')
  if (strays.length > 0) {
    const [have, them] = strays.length === 1 ? ['has', 'it'] : ['have', 'them']
    lines.push(`${plural(strays.length, 'file')} ${have} no place in the tree: klines mirror prune removes ${them}.`)
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
}

/** `mirror prune`. */
export function pruneJob(flags: PlaceFlags & { 'dry-run'?: boolean }): Report<PruneObject> {
  const { 'dry-run': dryRun = false } = flags
  const removal = pruneMirror(heldMirror(flags), { dryRun })
  return { json: { dryRun, ...removalObject(removal) }, text: () => removalText(removal, dryRun) }
}

/** `mirror clear`: asks first, unless forced. Throws `bad_option` when there is nobody to ask. */
export async function clearJob(
  flags: PlaceFlags & { force: boolean },
  { signal }: RunContext,
): Promise<Report<ClearObject>> {
  const mirror = heldMirror(flags)
  if (flags.force || (await isMeant(mirrorContents(mirror), signal))) {
    const removal = clearMirror(mirror)
    return { json: removalObject(removal), text: () => removalText(removal, false) }
  }
  return { json: { mirror: mirror.root, removed: [], bytes: 0, outside: [] }, text: () => 'Nothing removed.' }
}

async function isMeant({ mirror, paths, bytes }: Removal, signal: AbortSignal): Promise<boolean> {
  if (!isAnybodyThere()) {
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
