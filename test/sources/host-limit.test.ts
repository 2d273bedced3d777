import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { platform } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HostLimitFile } from '../../src/sources/bans.js'
import { tempFolder } from '../support/temp-folder.js'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const NOW = Date.UTC(2025, 1, 12, 12)
const iso = (time: number) => new Date(time).toISOString()

/** A limit file in a folder that is not there yet, and another process that uses the same one. */
function setup({ now = NOW } = {}) {
  const clock = { now }
  const path = join(tempFolder(), 'cache', '.limits', 'host.json')
  const open = () => new HostLimitFile(path, () => clock.now)
  const put = (text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return { clock, path, put, file: open(), other: open(), open }
}

describe('a limit', () => {
  it.each([418, 429] as const)('of status %d is found by another process until its end, and not after', status => {
    const { clock, file, other, path } = setup()
    const limit = { status, untilTime: NOW + 10 * MINUTE + 7 }
    expect(other.find()).toBeUndefined()
    file.remember(limit)
    expect(other.find()).toEqual(limit)
    clock.now = limit.untilTime - 1
    expect([file.find(), other.find()]).toEqual([limit, limit])
    clock.now = limit.untilTime
    expect([file.find(), other.find()]).toEqual([undefined, undefined])
    expect(readdirSync(dirname(path))).toEqual(['host.json'])
  })

  it.each([
    [418, 72 * HOUR],
    [429, HOUR],
  ] as const)('of status %d is remembered for %d ms at most', (status, longest) => {
    const { file, other } = setup()
    file.remember({ status, untilTime: NOW + 10 * 72 * HOUR })
    expect(other.find()).toEqual({ status, untilTime: NOW + longest })
  })

  it('is replaced by a longer one, not by a shorter one', () => {
    const { file, other } = setup()
    file.remember({ status: 429, untilTime: NOW + MINUTE })
    other.remember({ status: 418, untilTime: NOW + HOUR })
    file.remember({ status: 429, untilTime: NOW + 2 * MINUTE })
    expect(file.find()).toEqual({ status: 418, untilTime: NOW + HOUR })
  })

  it('that has ended is replaced by any other', () => {
    const { clock, file, other } = setup()
    file.remember({ status: 418, untilTime: NOW + HOUR })
    clock.now = NOW + HOUR
    other.remember({ status: 429, untilTime: clock.now + MINUTE })
    expect(file.find()).toEqual({ status: 429, untilTime: clock.now + MINUTE })
  })
})

describe('what the file says is not believed blindly:', () => {
  it.each([
    ['no file', undefined],
    ['nothing', ''],
    ['no JSON', '{"status":418'],
    ['null', 'null'],
    ['an array', '[]'],
    ['another status', JSON.stringify({ status: 403, until: iso(NOW + HOUR) })],
    ['a status that is a text', JSON.stringify({ status: '418', until: iso(NOW + HOUR) })],
    ['a status of every object', JSON.stringify({ status: 'toString', until: iso(NOW + HOUR) })],
    ['no time', JSON.stringify({ status: 418 })],
    ['a time that is none', JSON.stringify({ status: 418, until: 'tomorrow' })],
    ['a number', JSON.stringify({ status: 418, until: NOW + HOUR })],
    ['a time that has passed', JSON.stringify({ status: 418, until: iso(NOW) })],
    ['1 MB', JSON.stringify({ status: 418, until: iso(NOW + HOUR), x: 'x'.repeat(1_000_000) })],
  ])('%s', (_, text) => {
    const { file, put } = setup()
    if (text !== undefined) put(text)
    expect(file.find()).toBeUndefined()
  })

  it.each([
    [418, 72 * HOUR],
    [429, HOUR],
  ] as const)('a time too far ahead of status %d is cut once, to %d ms', (status, longest) => {
    const { clock, file, other, open, put } = setup()
    put(JSON.stringify({ status, until: '9999-01-01T00:00:00.000Z' }))
    const limit = { status, untilTime: NOW + longest }
    expect(file.find()).toEqual(limit)
    // Not from each run's present on.
    clock.now += longest / 2
    expect([file.find(), other.find()]).toEqual([limit, limit])
    clock.now = limit.untilTime
    expect(open().find()).toBeUndefined()
  })

  it('a clock that is set back lengthens a limit to the longest time at most', () => {
    const { clock, file, open } = setup()
    file.remember({ status: 418, untilTime: NOW + 2 * MINUTE })
    clock.now = NOW - 365 * 24 * HOUR
    expect(open().find()).toEqual({ status: 418, untilTime: clock.now + 72 * HOUR })
    clock.now += 72 * HOUR
    expect([open().find(), file.find()]).toEqual([undefined, undefined])
  })

  it.skipIf(platform() === 'win32')('a FIFO does not block', () => {
    const { file, put, path } = setup()
    put('')
    execFileSync('mkfifo', [`${path}.fifo`])
    execFileSync('mv', [`${path}.fifo`, path])
    expect(file.find()).toBeUndefined()
  })
})

describe('a link is never followed:', () => {
  const BAN = JSON.stringify({ status: 418, until: iso(NOW + HOUR) })

  it('in the place of the file', () => {
    const { file, put, path } = setup()
    const target = join(tempFolder(), 'target')
    writeFileSync(target, BAN)
    put('')
    execFileSync('ln', ['-sf', target, path])
    expect(file.find()).toBeUndefined()
    const limit = { status: 429, untilTime: NOW + MINUTE } as const
    file.remember(limit)
    expect(readFileSync(target, 'utf8')).toBe(BAN)
    expect(lstatSync(path).isSymbolicLink()).toBe(false)
    expect(file.find()).toEqual(limit)
  })

  it('in the place of the folder', () => {
    const { file, path } = setup()
    const target = tempFolder()
    writeFileSync(join(target, 'host.json'), BAN)
    mkdirSync(dirname(dirname(path)), { recursive: true })
    symlinkSync(target, dirname(path))
    expect(file.find()).toBeUndefined()
    file.remember({ status: 418, untilTime: NOW + 2 * HOUR })
    expect(readdirSync(target)).toEqual(['host.json'])
    expect(readFileSync(join(target, 'host.json'), 'utf8')).toBe(BAN)
  })
})

describe('where it cannot be written', () => {
  it.each([
    ['a file is in the place of the cache folder', (path: string) => writeFileSync(dirname(dirname(path)), '')],
    ['a folder is in the place of the file', (path: string) => mkdirSync(join(path, 'x'), { recursive: true })],
  ])('because %s, nothing is thrown and nothing is left', (_, spoil) => {
    const { file, other, path } = setup()
    spoil(path)
    file.remember({ status: 418, untilTime: NOW + HOUR })
    expect([file.find(), other.find()]).toEqual([undefined, undefined])
    if (lstatSync(dirname(dirname(path))).isDirectory()) expect(readdirSync(dirname(path))).toEqual(['host.json'])
  })

  it('a time too far ahead counts for nothing: each run would cut it anew', () => {
    const { file, path, put } = setup()
    put(JSON.stringify({ status: 418, until: '9999-01-01T00:00:00.000Z' }))
    const folder = dirname(path)
    chmodSync(folder, 0o555)
    onTestFinished(() => chmodSync(folder, 0o755))
    // Root may write everywhere: then it is cut.
    const found = file.find()
    const text = readFileSync(path, 'utf8')
    expect(found === undefined).toBe(text.includes('9999'))
    expect(found?.untilTime ?? 0).toBeLessThanOrEqual(NOW + 72 * HOUR)
  })
})

describe('the file of a host', () => {
  const nameOf = (url: string) =>
    HostLimitFile.find(url, () => NOW)
      ?.path.split('/')
      .slice(-3)

  it.each([
    ['https://data-api.binance.vision', 'https%3A%2F%2Fdata-api.binance.vision.json'],
    ['https://finom.github.io/static-klines', 'https%3A%2F%2Ffinom.github.io.json'],
    ['http://127.0.0.1:8080', 'http%3A%2F%2F127.0.0.1%3A8080.json'],
    ['http://[::1]:8080/x', 'http%3A%2F%2F%5B%3A%3A1%5D%3A8080.json'],
    ['http://../../x', 'http%3A%2F%2F...json'],
  ])('%s lies in the cache folder, by host and port', (url, name) => {
    expect(nameOf(url)).toEqual(['klines', '.limits', name])
  })

  it('is missing for a user without a cache folder', () => {
    const { XDG_CACHE_HOME, HOME } = process.env
    onTestFinished(() => void Object.assign(process.env, { XDG_CACHE_HOME, HOME }))
    Object.assign(process.env, { XDG_CACHE_HOME: '', HOME: '/nonexistent' })
    expect(HostLimitFile.find('http://127.0.0.1:8080', () => NOW)).toBeUndefined()
    expect(existsSync('/nonexistent')).toBe(false)
  })
})
