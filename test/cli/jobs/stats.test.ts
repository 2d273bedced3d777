import { expect, it } from 'vitest'
import { runStats } from '../../../src/cli/jobs/stats.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'

it('an interruption ends stats while windows are read', async () => {
  const controller = new AbortController()
  const context = { signal: controller.signal, warn: () => {}, given: new Set<string>() }
  const flags = { interval: ['all'], mirror: SAMPLE_TREE }
  const run = runStats(['all'], flags as never, context as never)
  setImmediate(() => controller.abort(new Error('enough')))
  await expect(run).rejects.toThrow('enough')
})
