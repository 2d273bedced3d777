import { describe, expect, it } from 'vitest'
import { FetchError } from '../../src/sources/fetch-error.js'
import { KlinesError } from '../../src/klines/errors.js'
import { findNoMemory, throwNoMemory } from '../../src/klines/no-memory.js'
import { catchError } from '../support/errors.js'

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code })
/** What V8 throws, by its text. */
const rangeError = (message: string) => new RangeError(message)

describe('no memory is recognized', () => {
  it.each([
    'Array buffer allocation failed',
    'WebAssembly.Memory(): could not allocate memory',
    'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance',
    'WebAssembly.Memory.grow(): Unable to grow instance memory',
  ])('by the text %s', message => {
    const cause = rangeError(message)
    expect(findNoMemory(cause)).toMatchObject({ code: 'no_memory', cause, message: expect.stringContaining(message) })
  })

  // The last one is not provoked: on Node 24, a thread that reaches its limit may end the whole process.
  it.each(['ENOMEM', 'EAI_MEMORY', 'Z_MEM_ERROR', 'ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_OUT_OF_MEMORY'])(
    'by the code %s',
    code => {
      const cause = withCode(code, 'not enough memory.')
      const error = findNoMemory(cause)
      expect(error).toMatchObject({
        code: 'no_memory',
        message: 'There is not enough memory: not enough memory.',
        cause,
      })
      expect(error?.suggestions).toEqual([expect.stringMatching(/--threads 1, --concurrency 1.*container.*ulimit/)])
    },
  )

  it('as V8 throws it for a buffer of 2 PB', async () => {
    const error = await catchError(() => new ArrayBuffer(2 ** 51))
    expect(findNoMemory(error)).toMatchObject({ code: 'no_memory' })
  })

  it('as the cause of another error, also of several', () => {
    const fault = new FetchError('invalid', 'the body is not valid gzip', { cause: withCode('Z_MEM_ERROR') })
    expect(findNoMemory(fault)).toMatchObject({ code: 'no_memory', cause: { code: 'Z_MEM_ERROR' } })
    const window = new KlinesError('bad_window', 'not JSON', { cause: fault })
    expect(findNoMemory(window)).toMatchObject({ code: 'no_memory', cause: { code: 'Z_MEM_ERROR' } })
  })

  it('once: the error stays the same one', () => {
    const error = findNoMemory(rangeError('Array buffer allocation failed')) as KlinesError
    expect(findNoMemory(error)).toBe(error)
    expect(findNoMemory(new FetchError('transient', 'x', { cause: error }))).toBe(error)
    expect(() => throwNoMemory(error)).toThrow(error)
  })

  it.each(['WebAssembly.Memory(): could not allocate memory', 'WebAssembly.Instance(): Out of memory: x'])(
    'with advice about addresses: %s',
    message => {
      expect(findNoMemory(rangeError(message))).toMatchObject({
        message: `There is no room for the memory of compiled code, 10 GB of addresses: ${message}.`,
        suggestions: [expect.stringContaining('ulimit -v'), expect.stringContaining('--threads 1')],
      })
    },
  )
})

describe('a fault of a program is no lack of memory', () => {
  const overflow = (depth: number): number => overflow(depth + 1) + 1
  it.each<[string, () => unknown]>([
    ['the length of an array', () => new Array(-1)],
    ['the length of a typed array', () => new Uint8Array(-1)],
    ['the size of a buffer', () => Buffer.alloc(-1)],
    ['the size of a buffer, far too large', () => Buffer.alloc(2 ** 60)],
    ['an offset', () => new DataView(new ArrayBuffer(1)).getInt32(0)],
    ['the length of a text', () => 'x'.repeat(2 ** 30)],
    ['digits', () => (1).toFixed(200)],
    ['a date', () => new Date(Number.NaN).toISOString()],
    ['recursion without end', () => overflow(0)],
    ['more than a memory may have', () => new WebAssembly.Memory({ initial: 1, maximum: 2 }).grow(2)],
  ])('%s', async (_, fail) => {
    const error = await catchError(fail)
    expect(error).toBeInstanceOf(RangeError)
    expect(findNoMemory(error)).toBeUndefined()
    expect(() => throwNoMemory(error)).not.toThrow()
  })

  it.each([
    ['another error with that text', new Error('Array buffer allocation failed')],
    ['another code', Object.assign(rangeError('Array buffer allocation failed'), { code: 'ERR_OUT_OF_RANGE' })],
    ['an error of ours', new KlinesError('unreachable', 'Array buffer allocation failed')],
    ['a text', 'ENOMEM'],
    ['nothing', undefined],
  ])('%s', (_, value) => {
    expect(findNoMemory(value)).toBeUndefined()
  })
})
