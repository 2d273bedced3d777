import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { StreamOutput } from '../../src/engine/output-stream.js'
import { catchError } from '../support/errors.js'
import { tempFolder } from '../support/temp-folder.js'

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
    const output = StreamOutput.to(path, interruption.signal)
    const writing = catchError(output.write(MUCH))
    interruption.abort(new Error('stop'))
    expect((await catchError(output.finish())).message).toBe('stop')
    expect((await writing).message).toBe('stop')
    closeSync(reader)
  })
})
