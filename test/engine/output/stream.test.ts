import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { StreamOutput } from '../../../src/engine/output/stream.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'

/** More than a pipe holds. */
const MUCH = Buffer.alloc(1024 * 1024)

let path: string
beforeEach(() => {
  path = join(tempFolder(), 'fifo')
  execFileSync('mkfifo', [path])
})

/** A reader that reads nothing. */
const openReader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)

describe('an interruption before the end', () => {
  test('ends waiting for a reader that takes nothing', async () => {
    const reader = openReader()
    const interruption = new AbortController()
    const output = await StreamOutput.toFifo(path, interruption.signal)
    const writing = catchError(output.write(MUCH))
    interruption.abort(new Error('stop'))
    expect((await catchError(output.finish())).message).toBe('stop')
    expect((await writing).message).toBe('stop')
    closeSync(reader)
  })
})

describe('F56 the reader of a FIFO that leaves', () => {
  test('while it is written to ends the write, and every later one', async () => {
    const reader = openReader()
    const output = await StreamOutput.toFifo(path)
    const writing = catchError(output.write(MUCH))
    closeSync(reader)
    const expected = { code: 'output_closed', message: `The reader of ${path} left before the end.` }
    expect(await writing).toMatchObject(expected)
    expect(await catchError(output.write(MUCH))).toMatchObject(expected)
    expect(await catchError(output.finish())).toMatchObject(expected)
  })

  test('before a write ends a later one', async () => {
    const reader = openReader()
    const output = await StreamOutput.toFifo(path)
    closeSync(reader)
    // A write that needs no wait succeeds; the system reports the reader only after it.
    const closed = new Promise(resolve => Reflect.get(output, 'stream').once('close', resolve))
    await output.write(Buffer.from('x')).catch(() => {})
    await closed
    expect((await catchError(output.write(Buffer.from('x')))).code).toBe('output_closed')
    expect((await catchError(output.finish())).code).toBe('output_closed')
  })
})
