import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  commitFiles,
  type FilePlace,
  openFile,
  prepareFile,
  withPlaces,
  writeFiles,
} from '../../src/engine/output-file.js'
import { catchError } from '../support/errors.js'
import { tempFolder } from '../support/temp-folder.js'

let folder: string
let paths: string[]
beforeEach(() => {
  folder = tempFolder()
  paths = ['a.csv', 'b.csv', 'c.csv'].map(name => join(folder, name))
})

/** The places of finished files with the text `new`. */
async function finishAll(names: readonly string[], force: boolean): Promise<FilePlace[]> {
  const places: FilePlace[] = []
  for (const name of names) {
    const place = await prepareFile(name, { force })
    const output = await openFile(place)
    await output.write(new TextEncoder().encode('new'))
    await output.finish()
    places.push(place)
  }
  return places
}

/** Commits as an export does. */
function commit(places: readonly FilePlace[]): Promise<string[]> {
  return withPlaces(places, () => commitFiles(places))
}

/** The files of the folder with their texts. */
function contents(): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}

describe('several files', () => {
  test('are all left out when one is there without force, with other bytes', async () => {
    const outputs = await finishAll(paths, false)
    writeFileSync(paths[1], 'theirs')
    const error = await catchError(commit(outputs))
    expect(error.code).toBe('output_exists')
    expect(error.message).toBe(`${paths[1]} exists already, with other content.`)
    expect(contents()).toEqual({ 'b.csv': 'theirs' })
  })

  test('are all as before when a folder appears in the place of one', async () => {
    writeFileSync(paths[0], 'old')
    const outputs = await finishAll(paths, true)
    mkdirSync(paths[2])
    expect((await catchError(commit(outputs))).code).toBe('bad_output')
    expect(readdirSync(folder)).toEqual(['a.csv', 'c.csv'])
    expect(readFileSync(paths[0], 'utf8')).toBe('old')
    expect(readdirSync(paths[2])).toEqual([])
  })

  test('are named where they are new already when a later one cannot be put in its place', async () => {
    const outputs = await finishAll(paths, true)
    unlinkSync(outputs[1].temp)
    const error = await catchError(commit(outputs))
    expect(error).toMatchObject({ code: 'output_unwritable', data: { output: paths[1], placed: [paths[0]] } })
    expect(error.message).toContain(`These files are new already: ${paths[0]}.`)
    expect(contents()).toEqual({ 'a.csv': 'new' })
  })
})

test('a file with the same bytes stays, time and all, beside one that is replaced', async () => {
  const time = new Date('2026-01-02T03:04:05Z')
  writeFileSync(paths[0], 'new')
  writeFileSync(paths[1], 'old')
  for (const path of paths.slice(0, 2)) utimesSync(path, time, time)
  const before = statSync(paths[0])
  await commit(await finishAll(paths, true))
  expect(contents()).toEqual({ 'a.csv': 'new', 'b.csv': 'new', 'c.csv': 'new' })
  const { ino, mtime } = statSync(paths[0])
  expect([ino, mtime]).toEqual([before.ino, time])
  expect(statSync(paths[1]).mtime).not.toEqual(time)
})

test('files that have the same bytes need no force', async () => {
  writeFileSync(paths[0], 'new')
  const { ino } = statSync(paths[0])
  expect(await commit(await finishAll([paths[0], paths[2]], false))).toEqual([paths[2]])
  expect(contents()).toEqual({ 'a.csv': 'new', 'c.csv': 'new' })
  expect(statSync(paths[0]).ino).toBe(ino)
})

describe('one file', () => {
  test('that the disk cuts short leaves the old one, and no temp file', async () => {
    writeFileSync(paths[0], 'old')
    const handle = await open(paths[0])
    const write = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'write')
    onTestFinished(() => write.mockRestore())
    write.mockImplementation(async function (this: FileHandle, buffer: unknown) {
      const bytes = buffer as Uint8Array
      writeSync(this.fd, bytes, 0, bytes.length / 2)
      return { bytesWritten: bytes.length, buffer: bytes } as never
    })
    await handle.close()
    const error = await catchError(writeFiles([{ path: paths[0], bytes: Buffer.alloc(20, 'n') }], { force: true }))
    expect(error).toMatchObject({ code: 'output_unwritable' })
    expect(error.message).toBe(`Cannot write ${paths[0]}: the disk took 10 of 20 bytes.`)
    expect(contents()).toEqual({ 'a.csv': 'old' })
  })

  test('that is a hard link is replaced alone', async () => {
    const other = join(folder, 'other.csv')
    writeFileSync(other, 'old')
    linkSync(other, paths[0])
    await commit(await finishAll([paths[0]], true))
    expect(contents()).toEqual({ 'a.csv': 'new', 'other.csv': 'old' })
  })
})
