import { expect, it } from 'vitest'
import { limiter } from '../../src/sources/limiter.js'
import { deferred, turns } from '../support/deferred.js'
import { catchError } from '../support/errors.js'

it('calls wait in their order, and one that is aborted while it waits takes no place', async () => {
  const [limit, gate, abort] = [limiter(1), deferred(), new AbortController()]
  const begun: number[] = []
  const begin = (call: number) => () => void begun.push(call)
  void limit(() => gate.promise)
  const aborted = catchError(limit(begin(1), abort.signal))
  for (const call of [2, 3]) void limit(begin(call))
  abort.abort(new Error('enough'))
  expect(await aborted).toMatchObject({ message: 'enough' })
  gate.resolve()
  await turns()
  void limit(begin(4))
  await turns()
  expect(begun).toEqual([2, 3, 4])
})
