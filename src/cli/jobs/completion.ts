import { readFileSync } from 'node:fs'
import { CODE_URL } from '../../version.js'
import type { Shell } from '../completion/shells.js'
import type { Report } from '../reports/report.js'

/** `completion`: the script that a shell runs to complete the commands of klines. */
export function runCompletion(shell: Shell): Report {
  const script = readFileSync(new URL(`cli/completion/scripts/klines.${shell}`, CODE_URL), 'utf8').trimEnd()
  return { json: { shell, script }, text: () => script }
}
