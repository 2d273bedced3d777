import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findUserConfig } from '../../../src/cli/config/file.js'
import { checkFolderKeys, checkFolderValue } from '../../../src/cli/config/folder-file.js'
import { FOLDER_KEYS } from '../../../src/cli/config/key-groups.js'
import { isShared, parseKey } from '../../../src/cli/config/keys.js'
import { readSettings } from '../../../src/cli/config/settings.js'
import { ALL } from '../../support/cli/command-flags.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'
import { thrownBy } from '../../support/thrown-by.js'

const check = (...keys: string[]) => checkFolderKeys(ALL, keys.map(parseKey))

/** Every key that there is: each flag in the section of its command, and those that commands share. */
const KEYS = ALL.flatMap(({ name: command, flags }) =>
  Object.entries(flags).flatMap(([name, flag]) => [`${command}.${name}`, ...(isShared(name, flag) ? [name] : [])]),
)
const GREETING = ['users update.base-url', 'streams tokens.base-url', 'openapi.base-url']

describe('keys', () => {
  it('on the list are accepted, alone and in the section of any command', () => {
    const accepted = KEYS.filter(key => FOLDER_KEYS.includes(parseKey(key).name) && !GREETING.includes(key))
    expect(accepted.length).toBeGreaterThan(200)
    expect(() => check(...accepted)).not.toThrow()
  })

  it('all others are refused by name', () => {
    const refused = KEYS.filter(key => !FOLDER_KEYS.includes(parseKey(key).name) || GREETING.includes(key))
    expect(refused.length).toBeGreaterThan(80)
    for (const key of refused) {
      const { code, message } = thrownBy(() => check('interval', key))
      expect(code, key).toBe('bad_config')
      expect(message, key).toMatch(/^A folder's file cannot set |" cannot be set: it /)
      expect(message).toContain(key)
    }
  })

  it('are named together, by subject, with the file of the user as advice', () => {
    const { message, suggestions } = thrownBy(() =>
      check('interval', 'users update.age', 'host', 'audit', 'serve.port'),
    )
    expect(message).toBe(
      "A folder's file cannot set users update.age (what is sent to the greeting API, and where that is); " +
        'host, serve.port (what the server does and who can reach it); audit (what passes a check).',
    )
    expect(suggestions[0]).toBe(
      `Give it on the command line, or in your own file, ${findUserConfig()}: klines config set "users update.age" VALUE.`,
    )
  })

  it('an unknown one is unknown', () => {
    expect(thrownBy(() => check('hosd')).message).toBe('Unknown key "hosd".')
  })

  it('of the file of the user are not concerned', async () => {
    const object = { host: '::1', threads: 2, mirror: '/elsewhere', openapi: { 'base-url': 'sample' } }
    expect(await readSettings(ALL, [{ origin: 'user', path: '/file', object }])).toHaveLength(4)
    const error = await catchError(readSettings(ALL, [{ origin: 'folder', path: '/file', object }]))
    expect(error.message).toMatch(/^\/file: A folder's file cannot set host /)
  })
})

describe('the mirror', () => {
  const checkMirror = (value: string, folder: string) => checkFolderValue(parseKey('mirror'), value, folder)

  it('may be the folder of the file, or any below it', () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'a'))
    writeFileSync(join(folder, 'file'), '')
    const names = [
      '.',
      './',
      'a',
      './a/b',
      'new/deep',
      '..a',
      'a..',
      '...',
      '~',
      'file/x',
      join(folder, 'a'),
      'x'.repeat(5000),
    ]
    for (const name of names) expect(() => checkMirror(name, folder), name).not.toThrow()
  })

  it.each(['..', '../victim', 'a/../../victim', 'a/..', './..', '..\\victim', '/', '/etc', '/tmp/../etc'])(
    '%s is not inside',
    value => {
      const folder = tempFolder()
      const { code, message } = thrownBy(() => checkMirror(value, folder))
      expect(code).toBe('bad_config')
      expect(message).toBe(
        `A folder's file cannot name a mirror elsewhere. Expected a folder inside ${folder}, with no ".." and no link on the way.`,
      )
    },
  )

  it('the folder beside it with a longer name is not inside', () => {
    const folder = tempFolder()
    expect(thrownBy(() => checkMirror(`${folder}-other`, folder)).code).toBe('bad_config')
  })

  it.each([
    ['link', '/'],
    ['link', 'a'],
    ['link', 'nothing'],
    ['link', '.'],
    ['link/below', '..'],
    ['a/link/below', '../..'],
    ['./a//link', '/etc'],
  ])('%s, a link to %s, is refused by name', (value, target) => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'a'))
    const link = join(folder, value.includes('a/') ? 'a/link' : 'link')
    symlinkSync(target, link)
    expect(thrownBy(() => checkMirror(value, folder)).message).toMatch(`${link} is a symbolic link. Expected a folder`)
  })

  it('links above the folder are followed', () => {
    const real = tempFolder()
    mkdirSync(join(real, 'a'))
    const link = join(tempFolder(), 'link')
    symlinkSync(real, link)
    expect(() => checkMirror('a', link)).not.toThrow()
  })

  it.each(['a\0b', 'a\nb', '\u001b[2Ja', 'a\u202eb', 'a\u009bb'])('%j has a control character', value => {
    expect(thrownBy(() => checkMirror(value, '/folder')).message).toMatch(/^It has a control character\. /)
  })
})
