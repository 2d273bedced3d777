import type { Repair } from '../../download/repair.js'
import { formatBytes, formatCount, plural } from '../../klines/text.js'
import type { MirrorCheckReport } from '../../mirror/check.js'
import { printable } from '../terminal/text.js'
import type { Report } from './report.js'
import type { VerifyObject } from './schema.js'

/** `mirror verify`: every file that is corrupt, and what became of it. */
export function mirrorCheckReport(check: MirrorCheckReport, repair: Repair | undefined): Report<VerifyObject> {
  const { corrupt, strays, ...counts } = check
  const { repaired = [], failed = [] } = repair ?? {}
  const files = corrupt.map(({ path, reason }) => ({ path, reason }))
  return {
    json: { ...counts, corrupt: files, strays: [...strays], repaired: [...repaired], failed: [...failed] },
    text: () => checkText(check, repair),
  }
}

function checkText(check: MirrorCheckReport, repair: Repair | undefined): string {
  const { mirror, files, windows, candles, bytes, corrupt, strays } = check
  const lines = corrupt.map(({ path, reason }) => `${printable(path)}: ${reason}`)
  if (lines.length > 0) lines.push('')
  const read = `${plural(files, 'file')} read: ${plural(windows, 'window')}, ${plural(candles, 'candle')}, ${formatBytes(bytes)}.`
  lines.push(`${read} ${corrupt.length === 0 ? 'No problems found.' : `Corrupt: ${plural(corrupt.length, 'file')}.`}`)
  if (repair) {
    lines.push(`${formatCount(repair.repaired.length)} of ${formatCount(corrupt.length)} repaired.`)
    lines.push(...repair.failed.map(({ path, reason }) => `${path} could not be downloaded: ${reason}.`))
  } else if (corrupt.length > 0) lines.push('--repair downloads corrupt files again.')
  if (strays.length > 0) {
    const [have, them] = strays.length === 1 ? ['has', 'it'] : ['have', 'them']
    lines.push(`${plural(strays.length, 'file')} ${have} no place in the mirror: klines mirror prune removes ${them}.`)
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
}
