import { createInterface } from 'node:readline/promises'
import { openMirror, openMirrorSource } from '../download/open-source.js'
import { type Repair, repairMirror } from '../download/repair-mirror.js'
import { KlinesError } from '../klines/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { clearMirror, mirrorContents, pruneMirror, type Removal } from '../mirror/prune-mirror.js'
import { type MirrorVerdict, verifyMirror } from '../mirror/verify-mirror.js'
import type { ListReport } from './catalogue-report.js'
import { ExitCode } from './exit-codes.js'
import type { RunContext } from './klines-command.js'
import { showCount } from './progress.js'
import { namedEndpoint, startEndpoint } from './sample.js'
import { formatBytes, formatCount, plural } from './text.js'

interface PlaceFlags {
  'base-url'?: string | undefined
  mirror?: string | undefined
}

/** Paths that are listed one by one. */
const LISTED = 20

/** The mirror that flags mean. Throws `window_missing` where there is none. */
function heldMirror(flags: PlaceFlags): Mirror {
  const options = { baseUrl: namedEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror }
  openMirrorSource(options)
  return openMirror(options)
}

/** `mirror verify`: reads every file, and with `repair` fetches unsound ones again. */
export async function verifyJob(
  flags: PlaceFlags & { repair: boolean },
  context: RunContext,
): Promise<ListReport & { exitCode: ExitCode }> {
  const mirror = heldMirror(flags)
  const display = await showCount(context.progressStyle, 'files')
  try {
    const verdict = await verifyMirror(mirror, { signal: context.signal, progress: display.count })
    const { unsound, ...rest } = verdict
    const repair = flags.repair && unsound.length > 0 ? await repairJob(mirror, verdict, flags, context) : undefined
    const files = unsound.map(({ path, why }) => ({ path, why }))
    return {
      json: { ...rest, unsound: files, repaired: repair?.repaired ?? [], failed: repair?.failed ?? [] },
      text: () => verdictText(verdict, repair),
      exitCode: exitCodeOf(verdict, repair),
    }
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
): Promise<Repair> {
  const endpoint = await startEndpoint(flags['base-url'] ?? mirror.readMeta()?.baseUrl)
  try {
    return await repairMirror({ baseUrl: endpoint.baseUrl, mirror: mirror.root, signal, warn }, unsound)
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
  const lines = unsound.map(({ path, why }) => `${path}: ${why}`)
  if (lines.length > 0) lines.push('')
  const read = `${plural(files, 'file')} read: ${plural(windows, 'window')}, ${plural(candles, 'candle')}, ${formatBytes(bytes)}`
  lines.push(`${read}; ${unsound.length === 0 ? 'all sound.' : `${formatCount(unsound.length)} unsound.`}`)
  if (repair) {
    lines.push(`${formatCount(repair.repaired.length)} of ${formatCount(unsound.length)} repaired.`)
    lines.push(...repair.failed.map(({ path, reason }) => `${path} could not be had: ${reason}.`))
  } else if (unsound.length > 0) lines.push('--repair fetches them again; klines download does it as it comes by.')
  if (strays.length > 0) {
    lines.push(
      `${plural(strays.length, 'file')} that no list names, and nobody reads: klines mirror prune removes them.`,
    )
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
}

/** `mirror prune`. */
export function pruneJob(flags: PlaceFlags & { 'dry-run': boolean }): ListReport {
  const removal = pruneMirror(heldMirror(flags), { dryRun: flags['dry-run'] })
  return removalReport(removal, flags['dry-run'] ? 'would be removed' : 'removed')
}

/** `mirror clear`: asks first, unless forced. Throws `bad_option` when there is nobody to ask. */
export async function clearJob(flags: PlaceFlags & { force: boolean }, { signal }: RunContext): Promise<ListReport> {
  const mirror = heldMirror(flags)
  const isMeant = flags.force || (await confirmed(mirrorContents(mirror), signal))
  return isMeant
    ? removalReport(clearMirror(mirror), 'removed')
    : { json: { removed: [] }, text: () => 'Nothing removed.' }
}

async function confirmed({ mirror, paths, bytes }: Removal, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    const message = `mirror clear asks before it removes ${plural(paths.length, 'file')} of ${mirror}, and there is no terminal.`
    throw new KlinesError('bad_option', message, { suggestions: ['--force removes them without asking.'] })
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const question = `Remove ${plural(paths.length, 'file')} (${formatBytes(bytes)}) of the mirror ${mirror}? [y/N] `
    return /^y(es)?$/i.test((await prompt.question(question, { signal })).trim())
  } finally {
    prompt.close()
  }
}

function removalReport({ mirror, paths, bytes, outside }: Removal, verb: string): ListReport {
  return {
    json: { mirror, removed: paths, bytes, outside },
    text: () => {
      const more = paths.length > LISTED ? [`and ${formatCount(paths.length - LISTED)} more`] : []
      const lines = [...paths.slice(0, LISTED), ...more]
      if (lines.length > 0) lines.push('')
      lines.push(`${plural(paths.length, 'file')}, ${formatBytes(bytes)}, ${verb}.`)
      if (outside.length > 0)
        lines.push(`${plural(outside.length, 'file')} left: outside of the mirror, through a link.`)
      return [...lines, `Mirror: ${mirror}`].join('\n')
    },
  }
}
