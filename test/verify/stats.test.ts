import { expect, it } from 'vitest'
import { readStats } from '../../src/verify/stats.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

it('an interruption ends stats while windows are read', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const run = readStats({ symbols: 'all', intervals: 'all', mirror: SAMPLE_TREE, signal })
  setImmediate(() => controller.abort(new Error('enough')))
  await expect(run).rejects.toThrow('enough')
})
