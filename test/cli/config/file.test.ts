import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConfigPath } from '../../../src/cli/config/file.js'
import { readConfigFile, writeConfigFile } from '../../../src/cli/config/file.js'
import { tempFolder } from '../../support/temp-folder.js'
import { thrownBy } from '../../support/thrown-by.js'

const newPath = () => join(tempFolder(), 'klines.config.json')
const ofUser = (path: string): ConfigPath => ({ origin: 'user', path })
const ofFolder = (path: string): ConfigPath => ({ origin: 'folder', path })

describe('reading', () => {
  it('a missing file, also below a file, is no file', () => {
    const path = newPath()
    expect(readConfigFile(ofUser(path))).toBeUndefined()
    writeFileSync(path, '{}')
    expect(readConfigFile(ofUser(join(path, 'x')))).toBeUndefined()
  })

  it("follows a link of the user's", () => {
    const path = newPath()
    writeFileSync(`${path}.real`, '{"mirror":"x"}')
    symlinkSync(`${path}.real`, path)
    expect(readConfigFile(ofUser(path))).toEqual({ mirror: 'x' })
  })

  it.each(['klines.config.json.real', 'nothing', '/dev/zero', '/proc/self/status'])(
    "refuses a link in the place of a folder's file, to %s",
    target => {
      const path = newPath()
      writeFileSync(`${path}.real`, '{"mirror":"x"}')
      symlinkSync(target, path)
      expect(thrownBy(() => readConfigFile(ofFolder(path)))).toMatchObject({
        code: 'bad_config',
        message: `${path} is a symbolic link. Expected a regular file in a folder.`,
      })
    },
  )

  it('a fault has its line and column', () => {
    const path = newPath()
    writeFileSync(path, '{\n  "mirror": data\n}\n')
    const { code, message } = thrownBy(() => readConfigFile(ofUser(path)))
    expect(code).toBe('bad_config')
    expect(message).toMatch(/klines\.config\.json is not JSON: Unexpected "data" at line 2, column 13\.$/)
  })

  it.each<[string, (path: string) => void]>([
    ['a folder', path => mkdirSync(path)],
    ['a FIFO', path => execFileSync('mkfifo', [path])],
    ['a device', path => symlinkSync('/dev/zero', path)],
  ])('%s in the place of the file is an error, never a hang', (_, place) => {
    const path = newPath()
    place(path)
    expect(thrownBy(() => readConfigFile(ofUser(path)))).toMatchObject({
      code: 'bad_config',
      message: `${path} is not a regular file. Expected a JSON file.`,
    })
    expect(thrownBy(() => readConfigFile(ofFolder(path)))).toMatchObject({ code: 'bad_config' })
  })

  it('a file of gigabytes is not read', () => {
    const path = newPath()
    writeFileSync(path, '{}')
    truncateSync(path, 5e9)
    expect(thrownBy(() => readConfigFile(ofUser(path))).message).toBe(
      `${path} has 5000000000 bytes. Expected at most 1048576.`,
    )
  })
})

describe('writing', () => {
  it('creates the folders, and leaves no other file', () => {
    const folder = tempFolder()
    const path = join(folder, 'a', 'b', 'klines.config.json')
    writeConfigFile(ofUser(path), { mirror: 'x', download: { quiet: true } })
    expect(readFileSync(path, 'utf8')).toBe('{\n  "mirror": "x",\n  "download": {\n    "quiet": true\n  }\n}\n')
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['klines.config.json'])
  })

  it('replaces a link in a folder, and leaves what it leads to', () => {
    const path = newPath()
    writeFileSync(`${path}.real`, '{}')
    symlinkSync(`${path}.real`, path)
    writeConfigFile(ofFolder(path), { mirror: 'x' })
    expect(lstatSync(path).isSymbolicLink()).toBe(false)
    expect(readFileSync(`${path}.real`, 'utf8')).toBe('{}')
    expect(readFileSync(path, 'utf8')).toBe('{\n  "mirror": "x"\n}\n')
  })

  it('keeps a link of the user and the mode of the file', () => {
    const path = newPath()
    writeFileSync(`${path}.real`, '{}', { mode: 0o600 })
    symlinkSync(`${path}.real`, path)
    writeConfigFile(ofUser(path), { mirror: 'x' })
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readFileSync(`${path}.real`, 'utf8')).toBe('{\n  "mirror": "x"\n}\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('a folder that cannot be made is a clear error', () => {
    const path = newPath()
    writeFileSync(path, '')
    const error = thrownBy(() => writeConfigFile(ofUser(join(path, 'x', 'klines.config.json')), {}))
    expect(error.code).toBe('output_unwritable')
    expect(error.message).toMatch(/^Cannot write .*: part of the path is a file \(ENOTDIR\)\.$/)
  })
})
