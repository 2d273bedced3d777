import { expect, it } from 'vitest'
import { statsKlines } from '../../src/verify/stats.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

it('an interruption ends stats while windows are read', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const run = statsKlines({ symbols: 'all', intervals: 'all', mirror: SAMPLE_TREE, signal })
  setImmediate(() => controller.abort(new Error('enough')))
  await expect(run).rejects.toThrow('enough')
})
