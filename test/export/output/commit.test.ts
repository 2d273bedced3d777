import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { commitOutputs } from '../../../src/export/output/commit.js'
import { OutputFile } from '../../../src/export/output/file.js'
import { openOutput } from '../../../src/export/output/open.js'
import type { Output } from '../../../src/export/output/output.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'

let folder: string
let paths: string[]
beforeEach(() => {
  folder = tempFolder()
  paths = ['a.csv', 'b.csv', 'c.csv'].map(name => join(folder, name))
})

/** Finished outputs with the text `new`. */
async function finishAll(names: readonly string[], force: boolean): Promise<Output[]> {
  const outputs: Output[] = []
  for (const name of names) {
    const output = await openOutput(name, false, { force })
    await output.write(new TextEncoder().encode('new'))
    await output.finish()
    outputs.push(output)
  }
  return outputs
}

/** A commit that fails, and what an export does after it. */
async function failCommit(outputs: readonly Output[]): Promise<Error & Record<string, unknown>> {
  const error = await catchError(commitOutputs(outputs))
  for (const output of outputs) await output.discard()
  return error
}

/** The files of the folder with their texts. */
function contents(): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}

describe('several files', () => {
  test('are all put in place, and no other file is left', async () => {
    writeFileSync(paths[1], 'old')
    await commitOutputs(await finishAll(paths, true))
    expect(contents()).toEqual({ 'a.csv': 'new', 'b.csv': 'new', 'c.csv': 'new' })
  })

  test('are all left out when one appears meanwhile without force', async () => {
    const outputs = await finishAll(paths, false)
    writeFileSync(paths[1], 'theirs')
    const error = await failCommit(outputs)
    expect(error).toMatchObject({ code: 'output_exists', data: { notRestored: [] } })
    expect(error.message).toBe(`${paths[1]} was created by another program meanwhile. All files are as they were.`)
    expect(contents()).toEqual({ 'b.csv': 'theirs' })
  })

  test('are all as before when a folder appears in the place of one', async () => {
    writeFileSync(paths[0], 'old')
    const outputs = await finishAll(paths, true)
    mkdirSync(paths[2])
    expect(await failCommit(outputs)).toMatchObject({ code: 'bad_output', data: { notRestored: [] } })
    expect(readdirSync(folder)).toEqual(['a.csv', 'c.csv'])
    expect(readFileSync(paths[0], 'utf8')).toBe('old')
    expect(readdirSync(paths[2])).toEqual([])
  })

  test('replaces a file that appears meanwhile with force, and puts it back when a later one fails', async () => {
    const outputs = await finishAll(paths, true)
    writeFileSync(paths[0], 'theirs')
    mkdirSync(paths[2])
    await failCommit(outputs)
    expect(readdirSync(folder)).toEqual(['a.csv', 'c.csv'])
    expect(readFileSync(paths[0], 'utf8')).toBe('theirs')
  })

  test('a link stays, and the file that it names is the old one again', async () => {
    const real = join(folder, 'real.csv')
    writeFileSync(real, 'old')
    symlinkSync('real.csv', paths[0])
    const outputs = await finishAll(paths, true)
    mkdirSync(paths[2])
    await failCommit(outputs)
    expect([readlinkSync(paths[0]), readFileSync(real, 'utf8')]).toEqual(['real.csv', 'old'])
  })

  test('a file that another program has replaced meanwhile stays, and is named', async () => {
    const [a, b, c] = await finishAll(paths, true)
    const last = {
      path: c.path,
      get finished() {
        // The third file comes after the first two.
        const { temp = '', target = '', ...rest } = c.finished ?? {}
        return {
          ...rest,
          target,
          get temp() {
            writeFileSync(join(folder, 'theirs'), 'theirs')
            renameSync(join(folder, 'theirs'), paths[0])
            mkdirSync(target, { recursive: true })
            return temp
          },
        } as typeof c.finished
      },
    }
    const error = await catchError(commitOutputs([a, b, last]))
    for (const output of [a, b, c]) await output.discard()
    expect(error).toMatchObject({ data: { notRestored: [{ path: paths[0] }] } })
    expect(error.message).toContain(`except ${paths[0]} (another program replaced it meanwhile)`)
    expect(readFileSync(paths[0], 'utf8')).toBe('theirs')
    expect(readdirSync(folder)).toEqual(['a.csv', 'c.csv'])
  })

  test('a FIFO has its bytes whatever happens to the files, which the error says', async () => {
    execFileSync('mkfifo', [paths[0]])
    const reader = readFile(paths[0], 'utf8')
    const outputs = await finishAll(paths, true)
    mkdirSync(paths[2])
    const error = await failCommit(outputs)
    expect(await reader).toBe('new')
    expect(error).toMatchObject({ data: { notRestored: [{ path: paths[0] }] } })
    expect(error.message).toContain(`except ${paths[0]} (a pipe or a device has its rows already).`)
  })
})

describe('one file', () => {
  test('never replaces one that appears at the last moment without force', async () => {
    const file = await OutputFile.create(paths[0], { force: false })
    await file.finish()
    const { finished } = file
    // Whatever is looked at before, the file appears after it.
    const late = {
      path: file.path,
      finished: finished && {
        ...finished,
        get temp() {
          if (!readdirSync(folder).includes('a.csv')) writeFileSync(paths[0], 'theirs')
          return finished.temp
        },
      },
    }
    expect((await catchError(commitOutputs([late]))).code).toBe('output_exists')
    await file.discard()
    expect(contents()).toEqual({ 'a.csv': 'theirs' })
  })

  test('that is a hard link is replaced alone', async () => {
    const other = join(folder, 'other.csv')
    writeFileSync(other, 'old')
    linkSync(other, paths[0])
    await commitOutputs(await finishAll([paths[0]], true))
    expect(contents()).toEqual({ 'a.csv': 'new', 'other.csv': 'old' })
  })
})
