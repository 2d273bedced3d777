import { reportError } from '../../../src/cli/error-report.js'
import { type ExportRequest, exportKlines } from '../../../src/engine/export.js'
import { downloadPlan } from '../../../src/engine/klines.js'
import { planRequest } from '../../../src/engine/plan.js'
import { openRun, withRun } from '../../../src/engine/run.js'
import { RETRY_POLICY, type RetryPolicy } from '../../../src/sources/retry.js'
import type { Run } from '../../support/cli/cli-sandbox.js'
import { onWarning } from '../../support/events.js'

/**
 * Downloads and exports through the library, in this process, and reports errors as the program does, in a tenth of the time.
 * With a `policy` it first downloads and then exports, since `exportKlines` always uses the default policy.
 */
export async function runInProcess(request: ExportRequest, policy?: Partial<RetryPolicy>): Promise<Run> {
  const started = performance.now()
  const notes: string[] = []
  const result = { code: 0, text: '' }
  const withNotes = { ...request, onEvent: onWarning(text => notes.push(`Note: ${text}\n`)) }
  try {
    if (policy) await downloadWithPolicy(withNotes, { ...RETRY_POLICY, ...policy })
    await exportKlines({ ...withNotes, offline: policy !== undefined })
  } catch (error) {
    const { exitCode, text } = reportError(error)
    Object.assign(result, { code: exitCode, text: `${text}\n` })
  }
  const stderr = notes.join('') + result.text
  const tookMs = performance.now() - started
  return { bytes: Buffer.alloc(0), stdout: '', stderr, code: result.code, signal: null, tookMs }
}

function downloadWithPolicy({ offline: _, ...request }: ExportRequest, policy: RetryPolicy) {
  return withRun(openRun(request, { policy }), async run =>
    downloadPlan(await planRequest(request, run), run, request, true),
  )
}
