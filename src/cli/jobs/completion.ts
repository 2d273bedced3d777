import { readFileSync } from 'node:fs'
import { CODE_URL } from '../../version.js'
import type { Report } from '../reports/report.js'

/** `completion`: the script that bash, zsh or fish runs to complete the commands of klines. */
export function runCompletion(shell: string): Report {
  const script = readFileSync(new URL(`cli/completion/scripts/klines.${shell}`, CODE_URL), 'utf8').trimEnd()
  return { json: { shell, script }, text: () => script }
}
